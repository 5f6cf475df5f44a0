"""Finding and launching a Chromium."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from playwright.async_api import Browser, Playwright

from schemas import InputError

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# One process for all frames of a page, so that one CDP session covers them; no chatter of the browser's own.
_ARGUMENTS = (
    "--disable-site-isolation-trials", "--disable-features=IsolateOrigins,site-per-process",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
    "--disable-quic",
)


def find_chromium(playwrights_own: str | None = None) -> str:
    """Path of a Chromium: DEMOTAPE_CHROMIUM, Playwright's own, then PATH. Raises InputError when there is none."""
    named = os.environ.get("DEMOTAPE_CHROMIUM")
    if named:
        if not Path(named).is_file():
            raise InputError(f"DEMOTAPE_CHROMIUM: {named}: no such file")
        return named
    if playwrights_own and Path(playwrights_own).is_file():
        return playwrights_own
    for name in _NAMES:
        if found := shutil.which(name):
            return found
    raise InputError("no Chromium found; install one (apt-get install chromium, or playwright install chromium) "
                     "or set DEMOTAPE_CHROMIUM to its path")


def has_display() -> bool:
    """Whether a window can be shown."""
    return os.name == "nt" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def sandbox_arguments() -> list[str]:
    """Root cannot have Chromium's sandbox; other users keep it."""
    return ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


async def launch(playwright: Playwright, *, headless: bool, arguments: Sequence[str] = ()) -> Browser:
    """Start a Chromium whose pages can be recorded whole."""
    return await playwright.chromium.launch(
        executable_path=find_chromium(playwright.chromium.executable_path), headless=headless,
        args=[*_ARGUMENTS, *sandbox_arguments(), *arguments])
