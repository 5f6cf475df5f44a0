"""A Chromium that renders stored pages, without network and without the scripts of pages."""

import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from playwright.sync_api import Browser, Frame, Page, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from pipeline.workers import without_limits
from schemas import DemotapeError
from schemas.chromium import ADDRESS_BAR_PAGES, NO_DATAGRAMS, NO_SANDBOX, find_chromium, sandbox_arguments

from .restoring import PAGE_READY, SCRIPT

_LARGEST = 16_384  # CSS pixels of a viewport's side
_REACHES_NOTHING = ("--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking", "--disable-sync",
                    "--disable-component-update", "--disable-quic", "--no-first-run", "--disable-webgl",
                    *NO_DATAGRAMS,
                    f"--disable-features={ADDRESS_BAR_PAGES}")


@contextmanager
def offline_browser() -> Iterator[Browser]:
    """A fresh Chromium that reaches nothing, in its sandbox where that can be had: root's cannot."""
    with ExitStack() as stack:
        with without_limits():
            playwright = stack.enter_context(sync_playwright())
        try:
            browser = playwright.chromium.launch(
                executable_path=find_chromium(playwright.chromium.executable_path),
                args=[*sandbox_arguments(), *_REACHES_NOTHING], chromium_sandbox=not sandbox_arguments())
        except PlaywrightError as error:
            sandbox = "sandbox" in str(error).lower() and not sandbox_arguments()
            raise DemotapeError(NO_SANDBOX if sandbox else str(error).partition("\n")[0]) from None
        try:
            yield browser
        finally:
            with suppress(PlaywrightError):  # it was ended
                browser.close()


@contextmanager
def limit_memory(browser: Browser, seconds: float) -> Iterator[threading.Event]:
    """Ends the browser after so many seconds, as a page may keep it from answering anything; the event tells so."""
    late = threading.Event()
    session = browser.new_browser_cdp_session()
    pid = next(process["id"] for process in session.send("SystemInfo.getProcessInfo")["processInfo"]
               if process["type"] == "browser")
    session.detach()

    def end() -> None:
        late.set()
        with suppress(OSError):
            os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
    alarm = threading.Timer(seconds, end)
    alarm.start()
    try:
        yield late
    finally:
        alarm.cancel()


def set_size(page: Page, state: Mapping[str, Any]) -> None:
    """Give a page the size that a state was seen in."""
    width, height = (min(max(1, int(state["viewport"][name])), _LARGEST) for name in ("width", "height"))
    page.set_viewport_size({"width": width, "height": height})


def restore(page: Page) -> None:
    """Run the one script of a rendered page, which does not run here by itself: none does."""
    _run(page.main_frame)
    page.evaluate(PAGE_READY)


def _run(frame: Frame) -> None:
    """As `restore`; the script may write frames."""
    frame.evaluate(SCRIPT)
    for inner in frame.child_frames:
        _run(inner)
