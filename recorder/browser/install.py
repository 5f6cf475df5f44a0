"""Finds a Chromium that starts; installs one if necessary."""

import asyncio
import os
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import async_playwright

from schemas import DemotapeError
from schemas.chromium import find_chromium

from .install_plan import Command, Plan
from .launching import launch


@dataclass(frozen=True)
class Chromium:
    """A Chromium that starts: its path and version."""

    path: str
    version: str


def find_or_install(plan: Plan, report: Callable[[str], None]) -> Chromium:
    """A Chromium that starts, installed by the plan if there is none; `report` is called with each command that is
    run. Raises DemotapeError with what a person can run, InputError if DEMOTAPE_CHROMIUM names no file."""
    attempts = () if os.environ.get("DEMOTAPE_CHROMIUM") else plan.attempts
    for commands in ((), *attempts):
        for command in commands:
            report(" ".join(command))
            _run(command)
        chromium = asyncio.run(_start())
        if isinstance(chromium, Chromium):
            return chromium
    if os.environ.get("DEMOTAPE_CHROMIUM"):
        raise DemotapeError(f"DEMOTAPE_CHROMIUM: {chromium}")
    raise DemotapeError(f"{chromium}; run: {plan.shown}")


async def _start() -> Chromium | str:
    """The Chromium that the recorder would start, or why there is none. Raises DemotapeError if this machine lacks
    what no other Chromium would need less."""
    async with async_playwright() as playwright:
        own = playwright.chromium.executable_path
        try:
            path = find_chromium(own)
        except DemotapeError as error:
            if os.environ.get("DEMOTAPE_CHROMIUM"):
                raise
            return str(error).split(";")[0]
        try:
            browser = await launch(playwright, headless=True)
        except DemotapeError as error:
            raise DemotapeError(f"{path}: {error}") from None
        except PlaywrightError as error:
            return f"{path} does not start ({error.message.splitlines()[0].removeprefix('BrowserType.launch: ')})"
        version = browser.version
        await browser.close()
    return Chromium(path, version)


def _run(command: Command) -> None:
    """Run a command that may fail: whether a Chromium starts is what counts."""
    with suppress(OSError):  # the program is not there
        subprocess.run(command, env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"}, stdin=subprocess.DEVNULL,
                       capture_output=True, check=False)
