"""Third-party applications, used while they are recorded: does every kept page render as it looked?

    python -m benchmarks.applications [--actions 100] [--seed N] [--only NAME] [--keep DIR]

Wagtail, JupyterLab and Label Studio are installed from PyPI, each into an environment of its own that is kept below
--installed, and started on loopback. A seeded random driver signs in and acts, once in a page that was loaded before
the recorder came (`attached`), once with all of it recorded (`loaded`). Printed: how the kept DOMs, rendered offline
in a fresh browser without network, agree with their screenshots (SSIM; also without the areas of secret fields, which
are black in screenshots), and how many targets are hit where they were.
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, ViewportSize, async_playwright
from playwright.async_api import Error as PlaywrightError

from recorder import Recorder
from recorder.browser import launch

from .driving.driver import WITNESS, Driver
from .driving.offline import compare

_VIEWPORT: ViewportSize = {"width": 1280, "height": 720}
_NAME, _PASSWORD, _MAIL = "ada", "Engine-1843-x", "ada@example.org"
_STARTING = 180  # seconds that an application may take until it answers
_PACES = (0.1, 0.3, 0.6, 1.0)  # seconds between actions
_LOOK = 700  # ms that the driver looks at a page that it has opened


@dataclass(frozen=True)
class Application:
    """`packages` to be installed from PyPI, or with `npm` from npm; `prepare` makes its data; `command` starts it on a
    port; `pages` to be used."""

    packages: tuple[str, ...]
    prepare: Callable[[Path, Path], None]
    command: Callable[[Path, Path, int], list[str]]
    pages: tuple[str, ...] = ()
    npm: bool = False


def _wagtail(programs: Path, data: Path) -> None:
    run_program([str(programs / "wagtail"), "start", "company", str(data)], data)
    manage = [str(programs / "python"), "manage.py"]
    run_program([*manage, "migrate", "--noinput"], data)
    run_program([*manage, "update_index"], data)
    run_program([*manage, "createsuperuser", "--noinput"], data, DJANGO_SUPERUSER_USERNAME=_NAME,
         DJANGO_SUPERUSER_EMAIL=_MAIL, DJANGO_SUPERUSER_PASSWORD=_PASSWORD)


def _jupyter(programs: Path, data: Path) -> None:
    hashed = run_program([str(programs / "python"), "-c", "import sys; from jupyter_server.auth import passwd;"
                   "print(passwd(sys.argv[1]))", _PASSWORD], data)
    (data / "jupyter_server_config.json").write_text(json.dumps({
        "IdentityProvider": {}, "PasswordIdentityProvider": {"hashed_password": hashed.strip()},
        "ServerApp": {"root_dir": str(data), "allow_root": True, "open_browser": False}}))
    (data / "notes.md").write_text("# Notes\n\nA table:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    (data / "numbers.csv").write_text("".join(f"{number},{number ** 2}\n" for number in range(200)))


APPLICATIONS = {
    "wagtail": Application(
        ("wagtail==8.0.1", "setuptools<81"), _wagtail,
        lambda programs, data, port: [str(programs / "python"), "manage.py", "runserver", "--noreload",
                                      f"127.0.0.1:{port}"],
        ("/admin/", "/admin/pages/", "/admin/images/", "/admin/users/", "/admin/reports/site-history/")),
    "jupyterlab": Application(
        ("jupyterlab==4.6.6",), _jupyter,
        lambda programs, data, port: [str(programs / "jupyter"), "lab", f"--ServerApp.port={port}",
                                      f"--config={data / 'jupyter_server_config.json'}"],
        ("/lab", "/lab/tree/notes.md", "/lab/tree/numbers.csv")),
    "label-studio": Application(
        ("label-studio==1.23.2",), lambda programs, data: None,
        lambda programs, data, port: [str(programs / "label-studio"), "start", "--no-browser", "--port", str(port),
                                      "--data-dir", str(data), "--username", _MAIL, "--password", _PASSWORD],
        ("/projects", "/organization", "/user/account")),
}


def run_program(command: list[str], folder: Path, **environment: str) -> str:
    """What a program prints; ends this one with what it said where it fails."""
    done = subprocess.run(command, cwd=folder, env=os.environ | environment, text=True, capture_output=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:3])} … failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def install(application: Application, folder: Path) -> Path:
    """The folder of an application's programs; installed there if it is not yet."""
    done = folder / "done"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        if application.npm:
            folder.mkdir(parents=True)
            run_program(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), *application.packages],
                        folder)
        else:
            run_program([sys.executable, "-m", "venv", str(folder)], Path.cwd())
            run_program([str(folder / "bin" / "pip"), "install", "--quiet", *application.packages], Path.cwd())
        done.touch()
    return folder / "node_modules" / ".bin" if application.npm else folder / "bin"


@contextmanager
def started(application: Application, programs: Path) -> Iterator[str]:
    """Run an application with data of its own; yields its address."""
    with tempfile.TemporaryDirectory(prefix="demotape-application-", ignore_cleanup_errors=True) as data:
        application.prepare(programs, Path(data))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = subprocess.Popen(application.command(programs, Path(data), port), cwd=data,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for(f"http://127.0.0.1:{port}/", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def wait_for(address: str, process: subprocess.Popen) -> None:
    end = time.monotonic() + _STARTING
    while process.poll() is None and time.monotonic() < end:
        try:
            urllib.request.urlopen(address, timeout=10).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.3)
    command: Any = process.args
    raise SystemExit(f"{command[0]}: does not respond")


async def _open(page: Page, address: str) -> None:
    """Open a page, signing in by mouse and keyboard where it asks for that."""
    await page.goto(address)
    await page.wait_for_timeout(_LOOK)
    secret = page.locator("input[type=password]").first
    if not await secret.is_visible():
        return
    name = page.locator("form:has(input[type=password]) input:is([type=text], [type=email], :not([type]))").first
    if await name.is_visible():
        await name.click()
        await page.keyboard.type(_MAIL if "mail" in (await name.get_attribute("name") or "") else _NAME, delay=30)
    await secret.click()
    await page.keyboard.type(_PASSWORD, delay=30)
    await page.keyboard.press("Enter")
    await page.wait_for_load_state()
    await page.wait_for_timeout(_LOOK)
    if not page.url.startswith(address):
        await page.goto(address)
        await page.wait_for_timeout(_LOOK)


async def use(browser: Browser, application: Application, origin: str, directory: Path, attached: bool, actions: int,
              chance: random.Random) -> None:
    """Record a driver that signs in and acts; `attached`: the page was loaded before the recorder came."""
    context = await browser.new_context(viewport=_VIEWPORT)
    await context.add_init_script(WITNESS)
    page = await context.new_page()
    if attached:
        await _open(page, origin + application.pages[0])
    async with Recorder(context, directory):
        share = -(-actions // len(application.pages))
        for number in range(actions):
            if number % share == 0 and (number or not attached):
                await _open(page, origin + application.pages[number // share])
            await _act(page, chance, origin + application.pages[number // share])
            await asyncio.sleep(chance.choice(_PACES))
    await context.close()


async def _act(page: Page, chance: random.Random, address: str) -> None:
    """Do one thing; the application may take the page away meanwhile."""
    driver = Driver(page, chance)
    try:
        if chance.random() < 0.15:
            await driver.wheel(chance.choice((-300, 400, 700)))
        elif not await driver.act():
            await _open(page, address)
    except PlaywrightError:
        await page.wait_for_load_state()
    if not page.url.startswith(address[:address.index("/", 8)]) or "log" in page.url.rsplit("/", 2)[-2:]:
        await _open(page, address)


async def run(options: argparse.Namespace, folder: Path) -> dict:
    """Figures of each application and of all."""
    found: dict[str, dict] = {}
    async with async_playwright() as playwright:
        for number, (name, application) in enumerate(APPLICATIONS.items()):
            if options.only not in name:
                continue
            with started(application, install(application, options.installed / name)) as origin:
                for kind in ("attached", "loaded"):
                    browser = await launch(playwright, headless=True)
                    directory = folder / f"{name}-{kind}"
                    await use(browser, application, origin, directory, kind == "attached", options.actions,
                              random.Random(options.seed + number))
                    found[f"{name} {kind}"] = await compare(browser, [directory], _VIEWPORT, apart=False)
                    print(f"  {name} {kind}: {json.dumps(found[f'{name} {kind}'])}", flush=True)
                    await browser.close()
    return {"benchmark": "applications", "seed": options.seed, "actions": options.actions,
            **{f"worst_{figure}": min(one[figure] for one in found.values() if one[figure] is not None)
               for figure in ("ssim_median", "ssim_at_least_0.9", "ssim_at_least_0.9_beside_secrets", "target_hit")}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--actions", type=int, default=100, help="actions in each application, twice")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="only applications with this in their name")
    parser.add_argument("--installed", type=Path, default=Path.home() / ".cache" / "demotape-applications",
                        help="folder of the installed applications")
    parser.add_argument("--keep", type=Path, help="keep the recordings in this folder")
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="demotape-applications-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        figures = asyncio.run(run(options, folder))
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
