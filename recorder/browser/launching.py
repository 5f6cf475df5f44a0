"""Launching a Chromium."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, Playwright
from playwright.async_api import Error as PlaywrightError

from schemas import DemotapeError
from schemas.chromium import ADDRESS_BAR_PAGES, NO_SANDBOX, find_chromium, sandbox_arguments

# One process for all frames of a page, so that one CDP session covers them; no chatter of the browser's own.
# The port is for the recorder's own connection: a random one, for programs of this machine, while the browser runs.
_ARGUMENTS = (
    "--remote-debugging-port=0",
    "--disable-site-isolation-trials", f"--disable-features=IsolateOrigins,site-per-process,{ADDRESS_BAR_PAGES}",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
    "--disable-quic",
)


def has_display() -> bool:
    """Whether a window can be shown."""
    return os.name == "nt" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


async def launch(playwright: Playwright, *, headless: bool, arguments: Sequence[str] = (),
                 signals: bool = True) -> Browser:
    """Start a Chromium whose pages can be recorded whole, in its sandbox unless we are root. `signals`: Ctrl-C and the
    like end it, as with Playwright. Raises DemotapeError where there can be no sandbox."""
    with _hide_sandbox_warning():
        return await playwright.chromium.launch(headless=headless, **_options(playwright, arguments, signals))


async def launch_context(playwright: Playwright, profile: Path, *, headless: bool, arguments: Sequence[str] = (),
                         signals: bool = True, **options: Any) -> BrowserContext:
    """As `launch`, with a profile in a folder: the browser has one context, which is returned. `options`: Playwright's,
    of the context."""
    with _hide_sandbox_warning():
        return await playwright.chromium.launch_persistent_context(
            profile, headless=headless, **_options(playwright, arguments, signals), **options)


def _options(playwright: Playwright, arguments: Sequence[str], signals: bool) -> dict[str, Any]:
    return {"executable_path": find_chromium(playwright.chromium.executable_path), "handle_sigint": signals,
            "handle_sigterm": signals, "handle_sighup": signals,
            "args": [*_ARGUMENTS, *sandbox_arguments(), *arguments],
            "chromium_sandbox": not sandbox_arguments()}  # which Playwright leaves off


@contextmanager
def _hide_sandbox_warning() -> Iterator[None]:
    try:
        yield
    except PlaywrightError as error:
        if "sandbox" in str(error).lower() and not sandbox_arguments():
            raise DemotapeError(NO_SANDBOX) from None
        raise
