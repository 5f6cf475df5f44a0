"""The tabs of a context whose browser is reached through Playwright only: each is set up as early as possible.

A page has run for a while by the time that Playwright tells of it, so its first events may be missing.
"""

import asyncio
from collections import defaultdict
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, Frame, Page
from playwright.async_api import Error as PlaywrightError

from recorder.devtools import endpoint
from recorder.devtools.sessions import Handler, ProtocolError, Session
from schemas import InputError

from .tab import Tab
from .targets import ANSWERED, TabKeeper


class PlaywrightSession:
    """A session that Playwright carries."""

    def __init__(self, session: CDPSession):
        self.bodies: Session | None = None
        self._session = session
        self._sending: set[asyncio.Task] = set()

    async def send(self, method: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a command and wait for its answer; raises ProtocolError."""
        try:
            return await self._session.send(method, parameters)
        except PlaywrightError as error:
            raise ProtocolError(error.message) from None

    def post(self, method: str, parameters: dict[str, Any] | None = None) -> None:
        """Send a command whose answer nobody waits for."""
        task = asyncio.ensure_future(_forgiving(self.send(method, parameters)))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    def on(self, event: str, handler: Handler) -> None:
        """Call `handler` with the parameters of each such event."""
        self._session.on(event, handler)

    async def detach(self) -> None:
        """Leave the target as it was."""
        await endpoint.detach(self._session)


class PlaywrightTargets:
    """The tabs of a context, as Playwright tells of them."""

    def __init__(self, context: BrowserContext, keeper: TabKeeper):
        self._context = context
        self._keeper = keeper
        self._tabs: dict[Page, Tab] = {}
        self._sessions: dict[Page | Frame, PlaywrightSession] = {}
        self._locks: defaultdict[Frame, asyncio.Lock] = defaultdict(asyncio.Lock)  # one session a frame
        self._tasks: set[asyncio.Task] = set()

    async def begin(self) -> None:
        """Attach to the pages that are there, and from now on to new ones; raises InputError when they refuse."""
        self._context.on("page", self._on_page)
        for page in self._context.pages:
            try:
                await self._attach(page, None, loaded=True)
            except PlaywrightError as error:
                if "CDP" in error.message:
                    raise InputError("only a Chromium can be recorded") from None
                raise
        with suppress(TimeoutError):
            async with asyncio.timeout(ANSWERED):
                await asyncio.gather(*(tab.wait_until_ready() for tab in self._tabs.values()))

    async def version(self) -> dict[str, Any]:
        """What `Browser.getVersion` answers."""
        browser = self._context.browser
        if not browser:  # launched with a profile: it has a page
            return await next(iter(self._sessions.values())).send("Browser.getVersion")
        session = PlaywrightSession(await browser.new_browser_cdp_session())
        try:
            return await session.send("Browser.getVersion")
        finally:
            await session.detach()

    def tab_of(self, page: Page) -> Tab | None:
        """The tab of a page; None while that is not known yet."""
        return self._tabs.get(page)

    async def settle(self) -> None:
        """Wait for what is being armed."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def end(self) -> None:
        """Leave the pages as they were."""
        self._context.remove_listener("page", self._on_page)
        await asyncio.gather(*(session.detach() for session in self._sessions.values()))

    def _on_page(self, page: Page) -> None:
        self._spawn(self._attach_new(page))

    async def _attach_new(self, page: Page) -> None:
        opener = await page.opener()
        await self._attach(page, self._tabs.get(opener) if opener else None)

    async def _attach(self, page: Page, opener: Tab | None, *, loaded: bool = False) -> None:
        session = self._sessions[page] = PlaywrightSession(await self._context.new_cdp_session(page))
        tab = self._tabs[page] = self._keeper.open_tab(page.url, opener, loaded=loaded)
        target = (await session.send("Target.getTargetInfo"))["targetInfo"]
        tab.arm(session, target["targetId"])
        page.on("close", lambda _: self._keeper.close_tab(tab))
        page.on("frameattached", lambda frame: self._spawn(self._arm_frame(tab, frame)))
        page.on("framenavigated", lambda frame: self._spawn(self._arm_frame(tab, frame)))
        page.on("framedetached", lambda frame: self._forget(tab, frame))
        for frame in page.frames:
            await self._arm_frame(tab, frame)

    async def _arm_frame(self, tab: Tab, frame: Frame) -> None:
        """Frames in a process of their own need a session of their own, but one; the others refuse one."""
        if frame == frame.page.main_frame:
            return
        async with self._locks[frame]:
            if frame in self._sessions:
                try:
                    await self._sessions[frame].send("Page.getFrameTree")
                    return  # it follows the frame from document to document
                except ProtocolError:  # the frame has joined its parent's process, or left it again
                    self._forget(tab, frame)
            with suppress(PlaywrightError):
                session = self._sessions[frame] = PlaywrightSession(await self._context.new_cdp_session(frame))
                tab.arm_frame(session)

    def _forget(self, tab: Tab, frame: Frame) -> None:
        if session := self._sessions.pop(frame, None):
            tab.leave(session)

    def _spawn(self, work: Coroutine) -> None:
        task = asyncio.ensure_future(_forgiving(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: work.close())  # one that was cancelled before it began


async def _forgiving(work: Coroutine) -> None:
    """Run work that may find its page gone."""
    with suppress(PlaywrightError, ProtocolError):
        await work
