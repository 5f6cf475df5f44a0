"""States of the pages of a context that is not recorded: documents, element tables and uids as in a recording."""

import asyncio
import time
from contextlib import suppress
from typing import Any

from playwright.async_api import BrowserContext, Page

from recorder.browser.following import Extras
from recorder.browser.playwright_targets import PlaywrightTargets
from recorder.browser.tab import Tab
from recorder.building.idle_snapshot import IdleSnapshot, idle_snapshot
from recorder.building.recording_clock import RecordingClock
from recorder.building.tab_state import TabState
from recorder.media.painted_frames import PaintedFrame
from recorder.privacy.secret_values import Secrets
from schemas.types.package import Message

_PICTURE_TIMEOUT_S = 10.0
_READ_TIMEOUT_S, _READ_INTERVAL_S = 5.0, 0.05


class LiveStates:
    """Reads states of the pages of `context`, between `begin` and `end`. It keeps nothing; what a page says is its own,
    so a message that cannot be read is left out."""

    network: Any = None  # of a tab's observer; only asked for by what keeps the network or the console
    console: Any = None

    def __init__(self, context: BrowserContext):
        self._targets = PlaywrightTargets(context, self)
        self._clock = RecordingClock()
        self._secrets = Secrets()
        self._tabs: list[Tab] = []
        self.cached: set[tuple[str, str]] = set()

    async def begin(self) -> None:
        """Attach to the context's pages and to new ones."""
        await self._targets.begin()

    async def end(self) -> None:
        """Leave the pages as they were."""
        await asyncio.gather(*(tab.disarm() for tab in self._tabs))
        await self._targets.end()

    async def tab_of(self, page: Page) -> Tab | None:
        """The tab of a page; None for one that is closed."""
        if self._targets.tab_of(page) is None:
            await self._targets.settle()
        return self._targets.tab_of(page)

    async def read(self, page: Page) -> IdleSnapshot | None:
        """What a page shows now; None when it does not answer, which on a busy machine may take a while."""
        if (tab := await self.tab_of(page)) is None:
            return None
        until = time.monotonic() + _READ_TIMEOUT_S
        while True:
            await tab.capture_last_state()
            snapshot = idle_snapshot(tab, self._secrets)
            if snapshot or page.is_closed() or time.monotonic() > until:
                return snapshot
            await asyncio.sleep(_READ_INTERVAL_S)

    async def picture(self, page: Page) -> bytes | None:
        """A PNG file of what a page shows, with its secret fields black; None when it does not come."""
        if (tab := await self.tab_of(page)) is None:
            return None
        with suppress(TimeoutError):
            async with asyncio.timeout(_PICTURE_TIMEOUT_S):
                return await tab.picture(asyncio.Event())
        return None

    def open_tab(self, url: str, opener: Tab | None, *, loaded: bool = False) -> Tab:
        """A page has appeared."""
        tab = Tab(len(self._tabs) + 1, url, self, Extras(stills=True), opened=opener is not None)
        self._tabs.append(tab)
        return tab

    def close_tab(self, tab: Tab) -> None:
        """A page was closed."""
        tab.close()

    # What a tab reports (TabObserver).

    @property
    def now(self) -> float:
        """Wall clock in seconds, had nobody set it."""
        return self._clock.now

    def seconds(self, epoch: float, source: str | None = None, *, keeps_clock: bool = False) -> float:
        """Wall clock in seconds to seconds since `begin`."""
        return self._clock.seconds(epoch, source, keeps_clock=keeps_clock)

    def on_message(self, tab: TabState, message: Message) -> None:
        """Take in the snapshot of a message, if it has one that can be read."""
        if snapshot := message["snapshot"]:
            with suppress(Exception):  # it comes from a page
                source = message["id"].partition(":")[0]
                tab.apply_snapshot(tuple(message["path"]), snapshot, self.seconds(message["time"] / 1000, source))

    def on_secret(self, field: str, value: str) -> None:
        """A secret field's value, which is taken out of what is read."""
        self._secrets.add_field_value(field, value)

    def on_resource(self, url: str, content_type: str, epoch: float, content: bytes) -> bool:
        """A style sheet, image or font, which the tab need not read again."""
        return True

    def on_frame(self, tab: TabState, frame: PaintedFrame) -> None:
        """A picture whose secret fields are black; the tab keeps it."""

    def on_unchanged(self, message: Any) -> None:
        """Of no use without recorded events."""

    def on_browser_event(self, tab: TabState, kind: str, epoch: float, data: Any, url: str | None = None) -> None:
        """Of no use without a recording."""

    def on_page_archive(self, tab: TabState, epoch: float, mhtml: bytes) -> None:
        """Of no use without a recording."""

    def on_lost(self, description: str) -> None:
        """Of no use without a recording."""
