"""Is every action of a driver a turn, whichever framework drives?

    python -m benchmarks.drivers [--only NAME] [--attach early|late|both] [--by recorder|command]
        [--announce] [--compare] [--packages DIR] [--verbose]

A scripted model performs the same actions on a local application of two origins (form, list, date, range, radio,
upload, frame, shadow root, dialog, drag, back) by each driver, in a browser to which the recorder is connected before
the first page (early) or after it has loaded (late). The model of browser-use and of Stagehand is an endpoint on
loopback. Packages are installed in `--packages`, by default in a temporary folder. Prints, for each driver, actions,
recall, the shares of turns in order and of right values, and precision; missing actions are listed beside checks of
the kind `unexplained-change`. With --compare, the recall of Playwright's trace and code generator in a session each.
Exit code 1 where a figure of ours is below 0.99.
"""

import argparse
import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, Page, async_playwright

from benchmarks.loaders import environment
from pipeline import process
from recorder import Recorder
from recorder.adapters.http import serve_actions
from recorder.browser.launching import launch_context

from .announcing import ANNOUNCEMENTS, announcing
from .comparison import PlaywrightRecorders, recall
from .mcp_client import McpServer, chrome_devtools_mcp, playwright_mcp
from .playwright_driver import drive
from .scoring import Score, score
from .script import SCRIPT, Action
from .scripted_model import BrowserUseAnswers, StagehandAnswers, serve_model
from .site import application

_PACKAGES = ("puppeteer-core@24.43.1", "@playwright/mcp@0.0.83", "chrome-devtools-mcp@1.11.0",
             "@browserbasehq/stagehand@3.7.3")
_SELENIUM = ("selenium==4.51.0",)
_BROWSER_USE = ("browser-use==0.13.14",)
_PROGRAMS = Path(__file__).parents[1] / "driver_programs"
_MCP_SERVERS = {"playwright-mcp": "node_modules/@playwright/mcp/cli.js",
                "chrome-devtools-mcp": "node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"}
_GOAL = 0.99
Driver = Callable[[str, str, Path, Page], Awaitable[list[Action]]]


def _actions(site: str, files: Path) -> list[dict[str, Any]]:
    return [action.as_json(str(files)) for action in SCRIPT]


async def _by_playwright(address: str, site: str, folder: Path, page: Page) -> list[Action]:
    """Perform the script by Playwright's own locators."""
    return await drive(page, site, SCRIPT, folder)


def _by_program(command: str, program: str, packages: Path, *more: str) -> Driver:
    async def perform(address: str, site: str, folder: Path, page: Page) -> list[Action]:
        script = folder / "script.json"
        script.write_text(json.dumps(_actions(site, folder)))
        process_ = await asyncio.create_subprocess_exec(command, str(_PROGRAMS / program), address, site, str(script),
                                                        *more, cwd=packages, stdout=subprocess.PIPE)
        output, _ = await process_.communicate()
        return _done([json.loads(line) for line in output.splitlines() if line.startswith(b"{")])
    return perform


def _by_agent(command: str, program: str, packages: Path) -> Driver:
    """A program that asks a model for each action."""
    async def perform(address: str, site: str, folder: Path, page: Page) -> list[Action]:
        values = [action["value"] for action in _actions(site, folder)]
        answers = StagehandAnswers() if program.endswith(".mjs") else BrowserUseAnswers(values)
        with serve_model(answers) as model:
            return await _by_program(command, program, packages, model)(address, site, folder, page)
    return perform


def _by_mcp(name: str, packages: Path) -> Driver:
    act = playwright_mcp if name == "playwright-mcp" else chrome_devtools_mcp

    async def perform(address: str, site: str, folder: Path, page: Page) -> list[Action]:
        option = ["--cdp-endpoint", address] if name == "playwright-mcp" else ["--browserUrl", address]
        reports: list[dict[str, Any]] = []
        async with McpServer(["node", str(packages / _MCP_SERVERS[name]), *option], str(folder)) as server:
            await act(server, Action("open", "", "", site, "load", None), site)
            for index, action in enumerate(SCRIPT):
                try:
                    async with announcing():
                        await act(server, action, _actions(site, folder)[index]["value"])
                    reports.append({"done": index})
                except (RuntimeError, TimeoutError) as error:
                    reports.append({"failed": index, "error": str(error)})
        return _done(reports)
    return perform


def _done(reports: Sequence[dict[str, Any]]) -> list[Action]:
    """The actions that a driver performed; prints those that it could not."""
    for report in reports:
        if "failed" in report:
            action = SCRIPT[report["failed"]]
            print(f"    the driver could not {action.kind} {action.id}: {report['error'][:160]}")
    return [SCRIPT[report["done"]] for report in reports if "done" in report]


async def record(driver: Driver, folder: Path, late: bool, announced: bool = False) -> list[Action]:
    """Record a driver's session in `folder`/rec; returns what it did. `announced`: it announces its actions, if it is
    Puppeteer or an MCP server."""
    async with (browser_with_site(folder, late) as (context, address, site, page),
                Recorder(context, folder / "rec", "Order") as recorder, serve_actions(recorder) as announcements):
        if announced:
            os.environ[ANNOUNCEMENTS] = announcements
        try:
            return await driver(address, site + "/", folder, page)
        finally:
            os.environ.pop(ANNOUNCEMENTS, None)


async def record_by_command(driver: Driver, folder: Path, late: bool) -> list[Action]:
    """The same by `demotape record --connect`, whose last lines are printed."""
    async with browser_with_site(folder, late) as (_, address, site, page):
        command = await asyncio.create_subprocess_exec(
            Path(sys.executable).with_name("demotape"), "record", "--connect", address, "--out", str(folder / "rec"),
            "--task", "Order", stdout=subprocess.PIPE)
        assert command.stdout
        while not (said := await command.stdout.readline()).startswith(b"Recording."):
            if not said:
                sys.exit("demotape record has ended")
        done = await driver(address, site + "/", folder, page)
        command.send_signal(signal.SIGINT)
        output, _ = await command.communicate()
        print(f"    demotape record: {' '.join(output.decode().split())}")
        return done


async def compare(driver: Driver, folder: Path) -> str:
    """What Playwright's trace and its code generator record of a driver's session."""
    async with browser_with_site(folder, late=False) as (context, address, site, page):
        recorders = PlaywrightRecorders(context)
        await recorders.begin()
        done = await driver(address, site + "/", folder, page)
        traced, generated = await recorders.end(folder)
    return f"Playwright's trace: recall {recall(traced, done):.3f}; codegen: recall {recall(generated, done):.3f}"


@asynccontextmanager
async def browser_with_site(folder: Path, late: bool) -> AsyncIterator[tuple[BrowserContext, str, str, Page]]:
    """A browser with a port for drivers: its context, its address, that of the application, and its page, which shows
    the application if `late`."""
    site = application()
    (folder / "lamp.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    async with async_playwright() as playwright:
        browser = await launch_context(playwright, folder / "profile", headless=True, viewport=None,
                                       arguments=[f"--remote-debugging-port={port}"])
        browser.on("dialog", lambda dialog: None)  # it is the driver's to answer
        address = f"http://127.0.0.1:{port}"
        connected = await playwright.chromium.connect_over_cdp(address)
        context = connected.contexts[0]
        context.on("dialog", lambda dialog: None)
        page = context.pages[0] if context.pages else await context.new_page()
        if late:
            await page.goto(site.origin)
        yield context, address, site.origin, page
        await browser.close()
    site.close()


def report(name: str, result: Score, verbose: bool) -> bool:
    """Print a driver's figures; returns whether they reach the goal."""
    share, values = result.matched / max(result.done, 1), result.right / max(result.matched, 1)
    precision = result.matched / max(result.matched + len(result.wrong), 1)
    order = result.matched / max(result.unordered, 1)
    print(f"{name:32} {result.done:3} actions  recall {share:.3f}  order {order:.3f}  values {values:.3f}  "
          f"precision {precision:.3f}  "
          f"unexplained {len(result.unexplained)}", flush=True)
    if verbose or result.missing or result.wrong or result.unexplained:
        print(f"    missing: {', '.join(result.missing) or 'none'}; nobody's: {', '.join(result.wrong) or 'none'}; "
              f"unexplained: {', '.join(result.unexplained) or 'none'}")
    return min(share, order, values, precision) >= _GOAL and result.done > 0


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drivers")
    parser.add_argument("--only", help="name of one driver")
    parser.add_argument("--attach", choices=("early", "late", "both"), default="both")
    parser.add_argument("--by", choices=("recorder", "command"), default="recorder",
                        help="record by the Recorder, or by `demotape record --connect`")
    parser.add_argument("--announce", action="store_true", help="Puppeteer and MCP servers announce their actions")
    parser.add_argument("--compare", action="store_true", help="the same by Playwright's trace and code generator")
    parser.add_argument("--packages", type=Path, help="folder in which the npm packages are installed, or are to be")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        packages = (options.packages or Path(temporary) / "packages").absolute()
        packages.mkdir(parents=True, exist_ok=True)
        if not (packages / "node_modules/@browserbasehq/stagehand").exists():
            subprocess.run(["npm", "install", "--silent", "--no-save", *_PACKAGES], cwd=packages, check=True)
        drivers: dict[str, Driver] = {
            "playwright": _by_playwright, "puppeteer": _by_program("node", "puppeteer.mjs", packages),
            **{name: _by_mcp(name, packages) for name in _MCP_SERVERS}}
        if shutil.which("chromedriver"):
            python = environment(packages / "selenium", _SELENIUM)
            drivers["selenium"] = _by_program(str(python), "selenium_driver.py", packages)
        else:
            print("selenium is left out: there is no chromedriver, as of the Debian package chromium-driver")
        drivers["stagehand"] = _by_agent("node", "stagehand.mjs", packages)
        python = environment(packages / "browser_use", _BROWSER_USE)
        drivers["browser-use"] = _by_agent(str(python), "browser_use_driver.py", packages)
        reached = True
        for name, driver in drivers.items():
            for attach in ("early", "late") if options.attach == "both" else (options.attach,):
                if options.only in (None, name):
                    folder = Path(tempfile.mkdtemp(dir=temporary))
                    by = record_by_command if options.by == "command" else partial(record, announced=options.announce)
                    done = asyncio.run(by(driver, folder, attach == "late"))
                    turns: Any = process(folder / "rec")["turns"]
                    reached &= report(f"{name}, {attach}", score(turns, done), options.verbose)
            if options.compare and options.only in (None, name):
                print(f"    {asyncio.run(compare(driver, Path(tempfile.mkdtemp(dir=temporary))))}", flush=True)
    sys.exit(not reached)
