"""The recorder: attaches to a browser context and writes everything that happens in it to a recording."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, Dialog, Page
from playwright.async_api import Error as PlaywrightError

from recorder.building.builder import RecordingBuilder
from recorder.building.pending_screenshots import FRAME_DELAY
from recorder.building.recording_clock import SleepWatch
from schemas import InputError

from .tab import Extras, Tab

_SETTLE = 5.0  # seconds that a page's last requests may take after the recording's end
_TICK = 1.0  # seconds between looks whether the machine slept and which exchanges can be written


class Recorder:
    """Records a Playwright context of a Chromium from `async with` to its end.

    `context`: any BrowserContext; its pages, present and future, are recorded. `directory`: the new recording's
    folder. Raises InputError for another browser or a folder that holds a recording; DemotapeError at the end when
    the disk failed on the way (what was written stays readable). Options: `har` keeps the network with bodies, `mhtml`
    each page as one file, `axtree` lets processing make the accessibility tree of each state. While it records, the
    threads of Python take turns more often (`sys.setswitchinterval`), so that its writing does not hold up who acts.
    """

    def __init__(self, context: BrowserContext, directory: Path | str, task: str = "", **options: bool):
        self._builder = RecordingBuilder(directory, task, options, on_failure=self._on_failure)
        self._extras = Extras(bool(options.get("har")), bool(options.get("mhtml")))
        self.stopped = asyncio.Event()  # set when the recording fails on the way, as on a full disk
        self._context = context
        self._by_page: dict[Page, Tab] = {}
        self._arming: set[asyncio.Task] = set()

    @property
    def directory(self) -> Path:
        """The recording's folder."""
        return self._builder.directory

    @property
    def problems(self) -> list[str]:
        """What went wrong without ending the recording, a sentence each."""
        return self._builder.problems

    @property
    def failed(self) -> Exception | None:
        """Why nothing more can be written; None while all is well."""
        return self._builder.failed

    @property
    def pages(self) -> list[Page]:
        """The pages that are recorded, or were, in order of appearance."""
        return list(self._by_page)

    @property
    def listeners(self) -> list[Callable[[dict[str, Any]], None]]:
        """Functions that are called with what the control page shows: lines of actions, chat, the state."""
        return self._builder.listeners

    @property
    def paused(self) -> bool:
        """Whether nothing is being kept at the moment."""
        return self._builder.paused

    @property
    def elapsed(self) -> float:
        """Seconds of the recording so far."""
        return self._builder.elapsed

    def pause(self) -> None:
        """Keep nothing from now on until `resume`: no event, no frame, no resource, no utterance."""
        self._builder.pause()

    def resume(self) -> None:
        """Go on after a pause. What the pages show by now is where the recording goes on from."""
        self._builder.resume()
        self._later(self._take_up_resources())

    def say(self, speaker: str, utterance: str) -> None:
        """Keep an utterance at this moment; raises InputError when it is empty, when paused, or after the end."""
        self._builder.say(speaker, utterance)

    def undo_last(self) -> int | None:
        """Mark the last action as a mistake: its turn will be dropped; returns the number of its event, if any."""
        return self._builder.undo_last()

    async def __aenter__(self) -> "Recorder":
        browser = self._context.browser
        if browser and browser.browser_type.name != "chromium":
            raise InputError(f"only a Chromium can be recorded, not {browser.browser_type.name}")
        self._loop = asyncio.get_running_loop()
        self._builder.begin(f"Chromium {browser.version}" if browser else "Chromium")
        self._context.on("page", self._on_page)
        self._context.on("dialog", _leave_to_the_person)
        for page in self._context.pages:
            await self._attach(page, None)
        self._ticking = asyncio.ensure_future(self._tick())
        return self

    async def __aexit__(self, kind, error, trace) -> None:
        await self._settle()
        self._builder.stop()
        self._ticking.cancel()
        self._context.remove_listener("page", self._on_page)
        for tab in self._by_page.values():
            await tab.disarm()
        self._context.remove_listener("dialog", _leave_to_the_person)
        await asyncio.to_thread(self._builder.finish, self._builder.now)
        if self.failed and not error:
            raise self.failed

    async def _take_up_resources(self) -> None:
        tabs = list(self._by_page.values())
        self._builder.take_up(set().union(*[await tab.resources_in_use() for tab in tabs]))

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
        tab = Tab(len(self._builder.tabs) + 1, page, self._builder, self._extras)
        self._by_page[page] = tab
        self._builder.add_tab(tab, self._by_page.get(opener) if opener else None)
        page.on("close", lambda _: self._builder.remove_tab(tab))
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
        self._builder.note_browser(version["userAgent"], version["product"].replace("/", " "), page.viewport_size)

    async def _tick(self) -> None:
        watch = SleepWatch()
        while True:
            await asyncio.sleep(_TICK)
            if (seconds := watch.slept()) > 1:
                self._builder.slept(seconds)
            self._builder.release_exchanges()

    def _on_failure(self) -> None:
        self._loop.call_soon_threadsafe(self.stopped.set)

    async def _settle(self) -> None:
        """Wait for tabs being armed, for what they have begun, and for the frames that belong to the last events."""
        await asyncio.gather(*self._arming, return_exceptions=True)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*(tab.settle() for tab in self._by_page.values())), _SETTLE)
        until = time.monotonic() + FRAME_DELAY
        while not self._builder.settled and time.monotonic() < until:
            await asyncio.sleep(0.02)
        self._builder.settle()


def _leave_to_the_person(dialog: Dialog) -> None:
    """Playwright dismisses a dialog unless somebody listens; the recorder answers none."""
