"""Files that the real tools write in the run, each with the driver's own account of what it did."""

import json
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import FrameLocator, Locator, Page, ViewportSize, sync_playwright

from schemas.chromium import find_chromium

from ..browsergym import browsers_for
from ..loaders import environment
from .site import Step, plan, served

PLAYWRIGHTS = {"1.62.1": "8", "1.64.1": "9"}  # of npm, with the version of their traces; PyPI's is today's
PACKAGES = ("browsergym-experiments==0.14.3", "libwebarena==0.0.5")  # of PyPI, in an environment of their own
RRWEBS = {"1.1.3": "dist/rrweb-all.min.js", "2.2.2": "dist/rrweb.umd.min.cjs"}
_VIEWPORT: ViewportSize = {"width": 900, "height": 600}
_STEP_PAUSE_MS = 60
_NODE_TIMEOUT_S = 300
_PROGRAM_TIMEOUT_S = 1800
_NODE_DRIVER = Path(__file__).with_name("driver.mjs")


@dataclass(frozen=True)
class Done:
    """An action as the driver did it. `begun`, `ended`: wall clock in seconds."""

    intent: str
    target: str
    value: str
    begun: float
    ended: float


@dataclass(frozen=True)
class Made:
    """A file of a tool with the driver's account. `pictures`, `pages`, `times`: whether it has them. `by_name`: targets
    of the account are names, not ids."""

    name: str
    path: Path
    account: list[Done]
    pictures: bool
    pages: bool = True
    times: bool = True
    by_name: bool = False


def install(folder: Path) -> None:
    """Install the tools of npm and of PyPI into a folder."""
    environment(folder / "python", PACKAGES)
    browsers_for(folder / "python" / "bin" / "python", folder / "browsers")
    packages = [f"playwright-{version}@npm:playwright-core@{version}" for version in PLAYWRIGHTS]
    packages += [f"rrweb-{version}@npm:rrweb@{version}" for version in RRWEBS]
    (folder / "package.json").write_text('{"private": true}')
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent", *packages],
                   cwd=folder, check=True)


def playwright_today(folder: Path, seed: int, length: int) -> Made:
    """A trace of the installed Playwright for Python."""
    path, account = folder / "playwright-python.zip", list[Done]()
    with served() as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        context = browser.new_context(viewport=_VIEWPORT)
        context.tracing.start(screenshots=True, snapshots=True)
        page = context.new_page()
        _note(account, "load", "", site, lambda: page.goto(site))
        for kind, name, value in plan(seed, length, keys=True):
            _note(account, _intent(kind), name, value, _by_locators(page, kind, name, value))
        context.tracing.stop(path=path)
        browser.close()
    return Made("playwright (Python)", path, account, True)


def playwright_of_npm(folder: Path, version: str, seed: int, length: int) -> Made:
    """A trace of another version, driven by Node.js."""
    path, steps = folder / f"playwright-{version}.zip", folder / "plan.json"
    steps.write_text(json.dumps(plan(seed, length, keys=True)))
    shutil.copy(_NODE_DRIVER, folder / "driver.mjs")
    with served() as site:
        done = subprocess.run(["node", "driver.mjs", f"playwright-{version}", path.name, site, find_chromium()],
                              cwd=folder, check=True, capture_output=True, text=True, timeout=_NODE_TIMEOUT_S)
    account = [Done(_intent(kind), name, value, begun / 1000, ended / 1000)
               for kind, name, value, begun, ended in json.loads(done.stdout)]
    return Made(f"playwright {version}", path, account, True)


def rrweb_of_npm(folder: Path, version: str, seed: int, length: int) -> Made:
    """Events of rrweb's recorder in a page that is used with mouse and keyboard."""
    path, account, events = folder / f"rrweb-{version}.json", list[Done](), list[Any]()
    script = (folder / "node_modules" / f"rrweb-{version}" / RRWEBS[version]).read_text(encoding="utf-8")
    begin = ("if (window === top) addEventListener('DOMContentLoaded', () => "
             "rrweb.record({emit: event => window.emitted(JSON.stringify(event))}))")
    with served() as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        context = browser.new_context(viewport=_VIEWPORT)
        context.expose_binding("emitted", lambda _, event: events.append(json.loads(event)))
        page = context.new_page()
        page.add_init_script(f"{script};{begin}")
        _note(account, "load", "", site, lambda: page.goto(site))
        page.wait_for_timeout(300)
        for kind, name, value in plan(seed, length, keys=False):
            if name == "i1":
                continue  # rrweb records frames only with an option
            _by_hand(page, account, (kind, name, value))
        page.wait_for_timeout(600)
        browser.close()
    path.write_text(json.dumps([event for event in events]), encoding="utf-8")
    return Made(f"rrweb {version}", path, account, False)


def browsergym_results(folder: Path, seed: int, length: int) -> Made:
    """An experiment of BrowserGym."""
    with served() as site:
        answer = _program(folder, "browsergym_session.py", plan(seed, length, keys=True), site, "browsergym")
    account = [Done(*done) for done in answer["account"]]
    return Made("BrowserGym", Path(answer["folder"]), account, True)


def webarena_results(folder: Path, seed: int, length: int) -> Made:
    """A trajectory of WebArena's environment."""
    with served() as site:
        account = _program(folder, "webarena_session.py", plan(seed, length, keys=True), site, "webarena")
    return Made("WebArena", folder / "webarena" / "render_0.html", [
        Done(intent, target, value, 0, 0) for intent, target, value in account], True,
                pages=False, times=False, by_name=True)


def _program(folder: Path, name: str, steps: list[Step], site: str, output: str) -> Any:
    """What a program in the environment of PyPI's tools prints last."""
    plan_file = folder / "plan.json"
    plan_file.write_text(json.dumps(steps))
    program = Path(__file__).parents[1] / "importing_programs" / name
    done = subprocess.run(
        [folder / "python" / "bin" / "python", program, plan_file, site, folder / output], check=False,
        env=os.environ | {"PLAYWRIGHT_BROWSERS_PATH": str(folder / "browsers")}, capture_output=True, text=True,
        timeout=_PROGRAM_TIMEOUT_S)
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def _by_hand(page: Page, account: list[Done], step: Step) -> None:
    kind, name, value = step
    page.wait_for_timeout(_STEP_PAUSE_MS)
    target = _locate(page, name)
    if kind == "fill":
        _note(account, "click", name, "", target.click)
        page.keyboard.press("Control+a")
        _note(account, "textInput", name, value, lambda: page.keyboard.type(value))
    elif kind == "select":
        _note(account, "change", name, value, lambda: target.select_option(value))
    else:
        _note(account, _intent(kind), name, value, target.click)
        page.wait_for_timeout(600)  # two presses at once are a double press


def _by_locators(page: Page, kind: str, name: str, value: str) -> Any:
    target = _locate(page, name)
    return {"fill": lambda: target.fill(value), "select": lambda: target.select_option(value),
            "check": target.check if value else target.uncheck, "press": lambda: target.press(value),
            "click": target.click}[kind]


def _locate(page: Page, name: str) -> Locator:
    root: Page | FrameLocator = page.frame_locator("iframe") if name == "i1" else page
    return root.locator(f"#{name}")


def _note(account: list[Done], intent: str, target: str, value: str, action: Any) -> None:
    begun = time.time()
    action()
    account.append(Done(intent, target, value, begun, time.time()))


def _intent(kind: str) -> str:
    return {"fill": "textInput", "select": "change", "check": "change", "goto": "load"}.get(kind, kind)
