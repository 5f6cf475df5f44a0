"""`demotape record`: a person acts in a window, the recorder writes; Stop, Ctrl-C or closing a window ends it."""

import asyncio
import shutil
import signal
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from playwright.async_api import BrowserContext, Page, async_playwright
from playwright.async_api import Error as PlaywrightError

from recorder import Recorder
from recorder.browser import has_display, launch
from recorder.control import ControlPage
from recorder.room.client import RoomClient
from schemas import InputError

from .commands.live_room import LiveRoom

_VIEWPORT = {"width": 1280, "height": 720}


async def record(url: str | None, directory: Path, task: str, *, headless: bool, connect: str | None,
                 say: Callable[[str], None], room: LiveRoom | None = None, **options) -> Recorder:
    """Record until the person ends it; returns the recorder with what it has to report. `room`: the live room that it
    is connected to meanwhile. `options`: the Recorder's.

    Raises InputError when the address cannot be opened (the empty recording is then removed), when there is no
    display for a window, or when nothing listens at `connect`.
    """
    if not connect and not headless and not has_display():
        raise InputError("no display for a browser window; pass --headless or --connect CDP_URL")
    async with AsyncExitStack() as stack:
        playwright = await stack.enter_async_context(async_playwright())
        context = await _context(playwright, headless, connect)
        context.on("dialog", lambda _: None)  # Playwright dismisses a dialog unless somebody listens
        ended = _ended(context)
        page = context.pages[0] if context.pages else await context.new_page()
        refused = None
        async with (Recorder(context, directory, task, cdp=connect, keys=True, **options) as recorder,
                    AsyncExitStack() as cleanup):
            if not headless and not connect and context.browser:
                await cleanup.enter_async_context(ControlPage(context.browser, recorder, ended.set, task=task,
                                                              beside=page, room=room is not None))
                await page.bring_to_front()
            if room:
                await cleanup.enter_async_context(RoomClient(room.url, room.token, recorder, recorder.problems.append))
            refused = await _open(page, url) if url else None
            if not refused:
                say("Recording. Close the window or press Ctrl-C to stop.")
                await _first(ended, recorder.stopped)
        if refused:
            shutil.rmtree(directory, ignore_errors=True)  # it was new, and holds nothing
            raise refused
        if not connect and context.browser:
            await context.browser.close()
        return recorder


async def _context(playwright, headless: bool, connect: str | None) -> BrowserContext:
    if not connect:
        browser = await launch(playwright, headless=headless, signals=False)  # it is closed when all is kept
        return await browser.new_context(**({"viewport": _VIEWPORT} if headless else {"no_viewport": True}))
    try:
        browser = await playwright.chromium.connect_over_cdp(connect)
    except PlaywrightError as error:
        raise InputError(f"{connect}: no Chromium responds; start one with --remote-debugging-port "
                         f"({_reason(error)})") from None
    return browser.contexts[0] if browser.contexts else await browser.new_context()


def _ended(context: BrowserContext) -> asyncio.Event:
    """Set when the person presses Ctrl-C, closes the last page, or the browser goes away."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, ended.set)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(ended.set))
    context.on("close", lambda _: ended.set())
    if context.browser:
        context.browser.on("disconnected", lambda _: ended.set())

    def watch(page: Page) -> None:
        page.on("close", lambda _: None if context.pages else ended.set())

    context.on("page", watch)
    for page in context.pages:
        watch(page)
    return ended


async def _first(*events: asyncio.Event) -> None:
    """Wait until one of the events is set."""
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for waiter in waiting:
        waiter.cancel()


async def _open(page: Page, url: str) -> InputError | None:
    """Go to an address; returns what to tell when that is not possible."""
    try:
        await page.goto(url, wait_until="commit")
    except PlaywrightError as error:
        return InputError(f"{url}: cannot be opened ({_reason(error)})")
    return None


def _reason(error: PlaywrightError) -> str:
    """The first line of a browser's error, without the call that failed."""
    line = error.message.splitlines()[0] if error.message else "no reason given"
    return line.removeprefix("Page.goto: ").removeprefix("BrowserType.connect_over_cdp: ").split(" at http")[0][:200]
