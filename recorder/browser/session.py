"""The recorder: attaches to a browser context and writes everything that happens in it to a recording."""

import asyncio
import time
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path

from playwright.async_api import BrowserContext, Dialog, Page
from playwright.async_api import Error as PlaywrightError

from recorder.building.builder import Keeper
from recorder.building.pending_screenshots import FRAME_DELAY
from recorder.building.recording_clock import SleepWatch
from recorder.privacy.har import Exchange
from recorder.privacy.har_file import HOLD
from schemas import InputError

from .tab import Extras, Tab

_SETTLE = 5.0  # seconds that a page's last requests may take after the recording's end


class Recorder(Keeper):
    """Records a Playwright context of a Chromium from `async with` to its end.

    `context`: any BrowserContext; its pages, present and future, are recorded. `directory`: the new recording's
    folder. Raises InputError for another browser or a folder that holds a recording; DemotapeError at the end when
    the disk failed on the way (what was written stays readable). Options: `har` keeps the network with bodies, `mhtml`
    each page as one file, `axtree` lets processing make the accessibility tree of each state. While it records, the
    threads of Python take turns more often (`sys.setswitchinterval`), so that its writing does not hold up who acts.
    """

    def __init__(self, context: BrowserContext, directory: Path | str, task: str = "", **options):
        super().__init__(directory, task, options)
        self._extras = Extras(bool(options.get("har")), bool(options.get("mhtml")))
        self.stopped = asyncio.Event()  # set when the recording fails on the way, as on a full disk
        self._context = context
        self._by_page: dict[Page, Tab] = {}
        self._arming: set[asyncio.Task] = set()
        self.cached: set[tuple[str, str]] = set()

    async def __aenter__(self) -> "Recorder":
        browser = self._context.browser
        if browser and browser.browser_type.name != "chromium":
            raise InputError(f"only a Chromium can be recorded, not {browser.browser_type.name}")
        self._loop = asyncio.get_running_loop()
        self.begin(f"Chromium {browser.version}" if browser else "Chromium")
        self._context.on("page", self._on_page)
        self._context.on("dialog", _leave_to_the_person)
        for page in self._context.pages:
            await self._attach(page, None)
        self._sleep_watch = asyncio.ensure_future(self._watch_sleep())
        return self

    async def __aexit__(self, kind, error, trace) -> None:
        await self._settle()
        self._running = False
        self._sleep_watch.cancel()
        self._context.remove_listener("page", self._on_page)
        for tab in self.tabs:
            await tab.disarm()
        self._context.remove_listener("dialog", _leave_to_the_person)
        await asyncio.to_thread(self.finish, self.now)
        if self.failed and not error:
            raise self.failed

    def resume(self) -> None:
        """Go on after a pause. What the pages show by now is where the recording goes on from."""
        super().resume()
        self._later(self._take_up_resources())

    async def _take_up_resources(self) -> None:
        self.take_up(set().union(*[await tab.resources_in_use() for tab in list(self.tabs)]))

    def on_exchange(self, tab: Tab, exchange: Exchange) -> None:
        """A request that has ended, for the HAR."""
        super().on_exchange(tab, exchange)
        self._loop.call_later(HOLD, self.release_exchanges)

    def _on_page(self, page: Page) -> None:
        self._later(self._attach_later(page))

    def _later(self, work: Coroutine) -> None:
        """Work that the end of the recording waits for."""
        task = asyncio.ensure_future(work)
        self._arming.add(task)
        task.add_done_callback(self._arming.discard)

    async def _attach_later(self, page: Page) -> None:
        with suppress(PlaywrightError):  # closed before it could be armed
            await self._attach(page, await page.opener())

    async def _attach(self, page: Page, opener: Page | None) -> None:
        tab = Tab(len(self.tabs) + 1, page, self, self._extras)
        self._by_page[page] = tab
        self.add_tab(tab, self._by_page.get(opener))
        page.on("close", lambda _: self.remove_tab(tab))
        try:
            await tab.arm()
        except PlaywrightError as error:
            if "CDP" in str(error):
                raise InputError("only a Chromium can be recorded") from None
            raise
        if tab.number == 1:
            await self._ask_browser(page)

    async def _ask_browser(self, page: Page) -> None:
        session = await self._context.new_cdp_session(page)
        version = await session.send("Browser.getVersion")
        await session.detach()
        self.note_browser(version["userAgent"], version["product"].replace("/", " "), page.viewport_size)

    async def _watch_sleep(self) -> None:
        watch = SleepWatch()
        while True:
            await asyncio.sleep(1)
            if (seconds := watch.slept()) > 1:
                self.slept(seconds)

    def _on_failure(self, error: Exception) -> None:
        super()._on_failure(error)
        self._loop.call_soon_threadsafe(self.stopped.set)

    async def _settle(self) -> None:
        """Wait for tabs being armed, for what they have begun, and for the frames that belong to the last events."""
        await asyncio.gather(*self._arming, return_exceptions=True)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*(tab.settle() for tab in self.tabs)), _SETTLE)
        until = time.monotonic() + FRAME_DELAY
        while not self.settled and time.monotonic() < until:
            await asyncio.sleep(0.02)
        self.settle()


def _leave_to_the_person(dialog: Dialog) -> None:
    """Playwright dismisses a dialog unless somebody listens; the recorder answers none."""
