"""Finds the tabs of a browser context and the frames in separate processes, and sets up each.

Here on a connection of the recorder's own: the browser holds every new page, popup and frame until it is told to go on
(`Target.setAutoAttach` with `waitForDebuggerOnStart`), which the recorder does right after the commands that arm it.
So it hears of a page's first instruction before the page does.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Protocol

from recorder.devtools.connection import Connection, TargetSession
from recorder.devtools.sessions import ProtocolError, keep_bodies

from .tab import Tab

ANSWERED = 5.0  # seconds that what is there at the start has to answer; a page with a dialog open does not
_LEFT_TO_OTHERS = 2.0  # seconds


class TabKeeper(Protocol):
    """Who numbers and keeps the tabs."""

    def open_tab(self, url: str, opener: Tab | None, *, loaded: bool = False) -> Tab: ...
    def close_tab(self, tab: Tab) -> None: ...


class Targets(Protocol):
    """The tabs of one context, found and armed from `begin` to `end`."""

    async def begin(self) -> None: ...
    async def end(self) -> None: ...
    async def settle(self) -> None: ...
    async def version(self) -> dict[str, Any]: ...


def _attaching_to(*kinds: str) -> dict[str, Any]:
    return {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True,
            "filter": [{"type": kind} for kind in kinds]}


class AttachedTargets:
    """The tabs of the context `context_id`, on a connection of the recorder's own.

    `order`: ids of the targets that are there at the start, in order of appearance, which the browser does not tell.
    `workers`: the network of workers is followed, too; `bodies`: the browser keeps the bodies of answers.
    """

    def __init__(self, connection: Connection, context_id: str, keeper: TabKeeper, order: list[str], *, workers: bool,
                 bodies: bool):
        self._connection = connection
        self._browser = connection.browser
        self._context_id = context_id
        self._keeper = keeper
        self._order = order
        self._keeps_bodies = bodies
        self._second: TargetSession | None = None  # of the browser, from which others attach to what it has
        self._attaching: set[asyncio.Task[None]] = set()
        self._of_pages = ("iframe", "worker") if workers else ("iframe",)
        self._of_browser = ("page", "service_worker", "shared_worker") if workers else ("page",)
        self._tabs: dict[str, Tab] = {}  # by their target's id
        self._sessions: dict[str, tuple[str, Tab, TargetSession]] = {}  # session id -> target's id, tab, session

    async def begin(self) -> None:
        """Attach to what is there, and from now on to what comes; returns when what comes next will be heard."""
        if self._keeps_bodies:
            attached = await self._browser.send("Target.attachToBrowserTarget")
            self._second = self._browser.child(attached["sessionId"])
        for target in self._order:
            with suppress(ProtocolError):  # closed meanwhile
                info = await self._browser.send("Target.getTargetInfo", {"targetId": target})
                self._tabs[target] = self._keeper.open_tab(info["targetInfo"]["url"], None, loaded=True)
        self._browser.on("Target.attachedToTarget", self._on_page)
        self._browser.on("Target.detachedFromTarget", self._on_detached)
        await self._browser.send("Target.setAutoAttach", _attaching_to(*self._of_browser))
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wait_until_ready(), ANSWERED)

    async def version(self) -> dict[str, Any]:
        """What `Browser.getVersion` answers."""
        return await self._browser.send("Browser.getVersion")

    async def settle(self) -> None:
        """Wait for what the browser has told of already."""
        with suppress(ProtocolError):  # it has gone
            await self._browser.send("Browser.getVersion")

    async def end(self) -> None:
        """Leave the browser as it was; what was still held goes on."""
        await self._connection.close()

    async def _wait_until_ready(self) -> None:
        """Wait for every tab, also those of sessions that are attached meanwhile."""
        waited: set[str] = set()
        while new := self._sessions.keys() - waited:
            waited |= new
            await asyncio.gather(*(tab.wait_until_ready() for tab in {self._sessions[session][1] for session in new}))

    def _on_page(self, event: dict[str, Any]) -> None:
        target, session = event["targetInfo"], self._browser.child(event["sessionId"])
        if target.get("browserContextId") != self._context_id:
            session.post("Runtime.runIfWaitingForDebugger")
            self._browser.post("Target.detachFromTarget", {"sessionId": event["sessionId"]})
            return
        self._keep_bodies(session, target["targetId"])
        if target["type"] != "page":
            self._follow_worker(session, next(iter(self._tabs.values()), None), target["type"])
            return
        with _going_on(session, shared=target.get("canAccessOpener", False)):
            if target["targetId"] not in self._tabs:
                opener = self._tabs.get(target.get("openerId", ""))
                self._tabs[target["targetId"]] = self._keeper.open_tab(target["url"], opener)
            tab = self._tabs[target["targetId"]]
            tab.arm(session, target["targetId"])  # which is the id of its main frame, too
            self._follow(session, target["targetId"], tab)

    def _on_frame(self, tab: Tab, event: dict[str, Any]) -> None:
        session = self._browser.child(event["sessionId"])
        self._keep_bodies(session, event["targetInfo"]["targetId"])
        if event["targetInfo"]["type"] == "worker":
            self._follow_worker(session, tab, "worker")
            return
        with _going_on(session):
            tab.arm_frame(session)
            self._follow(session, event["targetInfo"]["targetId"], tab)

    def _keep_bodies(self, session: TargetSession, target: str) -> None:
        """Have the browser keep bodies of a target. It is not held for that: what comes at once is streamed."""
        async def attach(second: TargetSession) -> None:
            with suppress(ProtocolError):  # it is gone already
                attached = await second.send("Target.attachToTarget", {"targetId": target, "flatten": True})
                keep_bodies(session, self._browser.child(attached["sessionId"]))

        if self._second:
            task = asyncio.ensure_future(attach(self._second))
            self._attaching.add(task)
            task.add_done_callback(self._attaching.discard)

    def _follow_worker(self, session: TargetSession, tab: Tab | None, kind: str) -> None:
        with _going_on(session):
            if tab:
                tab.follow(session, worker=kind)
                session.on("Target.attachedToTarget", partial(self._on_frame, tab))  # workers of this worker
                session.post("Target.setAutoAttach", _attaching_to("worker"))

    def _follow(self, session: TargetSession, target: str, tab: Tab) -> None:
        """Attach to the frames in it, and learn when it ends."""
        self._sessions[str(session.id)] = target, tab, session
        session.on("Target.attachedToTarget", partial(self._on_frame, tab))
        session.on("Target.detachedFromTarget", self._on_detached)
        session.post("Target.setAutoAttach", _attaching_to(*self._of_pages))

    def _on_detached(self, event: dict[str, Any]) -> None:
        target, tab, session = self._sessions.pop(event["sessionId"], (None, None, None))
        if tab is None or session is None:
            return
        tab.leave(session)
        if target in self._tabs:
            self._keeper.close_tab(self._tabs.pop(target))


@contextmanager
def _going_on(session: TargetSession, *, shared: bool = False) -> Iterator[None]:
    """Whatever happens to the recorder, a page that is held goes on.

    `shared`: a window that its opener can reach is held once for all who attach, and the first that lets it go does so
    for all. Who drives has to tell it things too, so it is left to them; and should they not hold it, done here later.
    `first_listener.js` hears what is pressed in such a window if that comes too early for us.
    """
    try:
        yield
    finally:
        if shared:
            asyncio.get_running_loop().call_later(_LEFT_TO_OTHERS, session.post, "Runtime.runIfWaitingForDebugger")
        else:
            session.post("Runtime.runIfWaitingForDebugger")
