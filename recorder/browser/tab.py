"""One tab under recording: sets up its frames over CDP, collects their messages, pictures and navigations.

Knows the browser's protocol and nothing of files: what it learns it hands to its `observer`.
"""

import asyncio
import json
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from secrets import token_hex
from typing import Any

from recorder.building.tab_observer import TabObserver
from recorder.building.tab_state import TabState
from recorder.devtools.sessions import ProtocolError, Session
from recorder.media.painted_frames import PaintedFrame
from schemas.types.package import Message, Snapshot

from . import closed_roots, dialogs, pixels, worlds
from .capture_script import BINDING, DRAWN, LAST_SNAPSHOT, REPORT, capture_script, ending_script
from .following import Extras, follow, follow_scripts
from .navigation import Navigations
from .screencast import Screencast
from .traffic import loaded_before, resources
from .traffic.network import OpenRequests
from .window_fitting import WindowFitting
from .worlds import WORLD

_ARCHIVE_AFTER_IDLE_S = 0.6  # rest after which a page is saved as MHTML
_FINAL_POLLS, _FINAL_POLL_INTERVAL_S = 10, 0.05  # of frames at the end, until they report nothing new
_LATENCY_FACTOR = 2  # timeouts are at least so many times the last reply's latency: the machine is busy
_FIRST_PAINT_TIMEOUT_S, _PAINT_TIMEOUT_S = 1.0, 10.0
_HANG_TIMEOUT_S = 20.0  # of silence; with less, what busy machines do late would be lost
_REPLY_TIMEOUT_S = 0.5  # for frames to report what they show
_SECRETS_POLL_INTERVAL_S, _UNGUARDED_POLL_INTERVAL_S = 0.02, 0.25  # with and without a known secret field
_END_TIMEOUT_S = 1.0  # for a page to handle the end; one with an open dialog does not reply


class Tab(TabState):
    """One page of the browser."""

    def __init__(self, number: int, url: str, observer: TabObserver, extras: Extras, *, opened: bool = False,
                 loaded: bool = False, steer: Callable[[str], None] | None = None):
        super().__init__(number, url, observer.on_frame)
        self._observer = observer
        self._extras = extras
        self._opened = opened  # by another page
        self._loaded = loaded and url.startswith("http")  # what it shows, before the recording began
        self._steer = steer  # obeys the keys that steer the recording
        self._token = token_hex(4)
        self._sessions: list[Session] = []  # of its page, then of frames in processes of their own
        self.requests = OpenRequests()
        self._worlds: dict[Session, set[int]] = {}  # where the capture script runs
        self._tasks: set[asyncio.Task] = set()
        self._owed: set[asyncio.Task] = set()  # those of them that the end of the recording waits for
        self._waiting: list[Message] = []  # messages of frames that those above have not told of yet
        self._last_heard = 0.0
        self._loads = 0
        self._learning: asyncio.Task | None = None  # of the zoom
        self._shown: dict[str, Any] | None = None  # the newest frame's metadata
        self._unpainted = False  # what was pressed last was not on the screen yet
        self._asking = False  # where secrets stand
        self._patience = _HANG_TIMEOUT_S  # seconds that it is waited for; fewer once it was silent

    def arm(self, session: Session, main_frame: str) -> None:
        """Begin to listen: this document and all later ones, in every frame of the page's process.

        `session`: the page's; `main_frame`: the id of its main frame. Nothing is waited for, so that a page that is
        held before its first instruction is not held longer than its browser takes to read the commands.
        """
        self._navigations = Navigations(session, main_frame, self._observer, self._spawn, self._report_navigation,
                                        opened=self._opened)
        self._screencast = Screencast(session, self._on_screencast, self._note_gap, self._start,
                                      stills=self._extras.stills)
        self._window = WindowFitting(session, self._spawn, self._screencast.note_possible_change)
        for name, handler in {
            "Page.frameNavigated": self._on_navigated,
            "Page.navigatedWithinDocument": self._on_same_document,
            "Page.frameStartedNavigating": self._on_leaving,
            "Page.loadEventFired": self._on_loaded,
            **self._navigations.listeners(),
            **dialogs.listeners(self, self._observer),
        }.items():
            session.on(name, handler)
        self.arm_frame(session)
        self._screencast.start()
        self._learning = self._start(self._learn_zoom(session))
        if self._loaded:
            self._spawn(loaded_before.record_loaded_resources(session, self._observer))

    def arm_frame(self, session: Session) -> None:
        """Begin to listen in a frame that runs in a process of its own, and in all below it in that process."""
        self._sessions.append(session)
        self._worlds[session] = worlds.track(session, self._spawn)
        session.on("Runtime.bindingCalled", lambda event: self._on_binding(session, event))
        for event, handler in resources.listeners(session, self._observer, self._spawn, self._worlds[session]).items():
            session.on(event, handler)
        self.follow(session)
        session.post("Page.enable")
        session.post("Runtime.enable")
        session.post("Runtime.addBinding", {"name": BINDING, "executionContextName": WORLD})
        source = capture_script(self._token, keys=self._steer is not None)
        session.post("Page.addScriptToEvaluateOnNewDocument",
                     {"source": source, "worldName": WORLD, "runImmediately": True})
        session.post("Page.addScriptToEvaluateOnNewDocument", {"source": worlds.page_stacks(), "runImmediately": True})
        if self._loaded:
            self._spawn(loaded_before.record_loaded_fonts(session, self._observer))
        session.post("Network.enable", {"maxTotalBufferSize": 100_000_000, "maxResourceBufferSize": 20_000_000})

    def follow(self, session: Session, *, worker: str = "") -> None:
        """Follow network and console of a page, of a frame in a process of its own, or of a kind of worker, if kept."""
        follow(session, self.number, self._navigations.main_frame, self.requests, self._observer, self._spawn,
               self._extras, lambda: self.facts["url"], worker=bool(worker))
        if worker in ("service_worker", "shared_worker") and self._extras.replayable:
            follow_scripts(session, self.number, self._observer, self._spawn)

    def leave(self, session: Session) -> None:
        """A session has ended: its frame was left or has joined its parent's process."""
        if session in self._sessions:
            self._sessions.remove(session)
            del self._worlds[session]

    async def _learn_zoom(self, session: Session) -> None:
        self.facts["device_pixel_ratio"], zoom = await pixels.ratio_and_zoom(session)
        self.set_zoom(zoom)

    async def wait_for_answers(self) -> None:
        """Wait until the browser has done what it was asked for, and what it told before has been taken in; a page that
        hangs is not waited for."""
        try:
            async with asyncio.timeout(self._patience):
                if self._learning:
                    await asyncio.wait([self._learning])
                for session in list(self._sessions):
                    with suppress(ProtocolError):  # the tab is closed
                        await session.send("Page.getFrameTree")
            self._patience = _HANG_TIMEOUT_S
        except TimeoutError:
            self._patience = _REPLY_TIMEOUT_S

    async def wait_until_ready(self) -> None:
        """Wait until it listens and has a picture of what is there, before anybody acts."""
        await self.wait_for_answers()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._screencast.shown.wait(), _FIRST_PAINT_TIMEOUT_S)
            await self._in_worlds(DRAWN, _FIRST_PAINT_TIMEOUT_S)

    async def settle(self) -> None:
        """Wait for what the browser has already sent, and for what was begun: navigations, resources. A press that was
        answered to who drives may still be on its way to a frame in a process of its own."""
        for _ in range(_FINAL_POLLS):
            heard, started = self._last_heard, time.monotonic()
            await self.wait_for_answers()
            await asyncio.sleep(max(_FINAL_POLL_INTERVAL_S, _LATENCY_FACTOR * (time.monotonic() - started)))
            if heard == self._last_heard:
                break
        await asyncio.gather(*self._owed, return_exceptions=True)

    def worlds(self) -> list[tuple[Session, int]]:
        """Where the capture script runs in it now: a session and the id of a world, for each frame."""
        return [(session, world) for session in self._sessions for world in sorted(self._worlds[session])]

    async def announce(self, script: str) -> None:
        """Have every frame know that a driver begins or has ended an action: ACTION_BEGINS or ACTION_ENDS."""
        await self._in_worlds(script, _REPLY_TIMEOUT_S)

    async def capture_last_state(self) -> None:
        """Have every frame tell what it shows now, however little has changed."""
        await self._in_worlds(LAST_SNAPSHOT, _REPLY_TIMEOUT_S)
        await self.wait_for_answers()

    async def picture(self, painted: asyncio.Event) -> bytes | None:
        """What it shows, with `stills`: an image file's bytes; None where it does not come, as of a page that hangs.
        `painted` is set once the page may change, which may be before it is told where secrets stand."""
        with suppress(TimeoutError, ProtocolError):
            async with asyncio.timeout(min(_PAINT_TIMEOUT_S, self._patience)):
                frame = self.still(await self._screencast.still(), self._observer.seconds(self._observer.now))
                painted.set()
                self.paint(frame)
                while (shown := self.ring.shown_at(frame.time)) is None or shown.last.time < frame.time:
                    await asyncio.sleep(_SECRETS_POLL_INTERVAL_S)
                return shown.frame.image
        painted.set()
        return None

    async def resources_in_use(self) -> set[str]:
        """Addresses of the style sheets, images and fonts of the documents that it shows now, among others."""
        return await resources.in_use(self._sessions)

    async def disarm(self) -> None:
        """Stop listening; the page is left as it was."""
        await self._in_worlds(ending_script(self._token), _END_TIMEOUT_S)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, work: Coroutine) -> None:
        """Begin what the end of the recording waits for."""
        self._owed.add(task := self._start(work))
        task.add_done_callback(self._owed.discard)

    def _start(self, work: Coroutine) -> asyncio.Task:
        task = asyncio.ensure_future(self._forgiving(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: work.close())  # one that was cancelled before it began
        return task

    async def _forgiving(self, work: Coroutine) -> None:
        """Run work that may find its page gone, or in it what cannot be taken in."""
        try:
            await work
        except ProtocolError:
            pass
        except Exception as error:
            self._observer.on_lost(f"an event of tab {self.number} could not be recorded ({type(error).__name__})")

    def _on_binding(self, session: Session, event: dict[str, Any]) -> None:
        if event["name"] != BINDING:
            return
        message = json.loads(event["payload"])
        self._last_heard = time.monotonic()
        if message["type"] == "error":
            self._observer.on_lost(f"tab {self.number}: the capture script failed: {message['message'][:500]}")
        elif message["type"] == "ahead":
            self.add_parts(message["frame_group"], message["chunks"], message["rows"])
        elif message["type"] == "closedRootCandidates":
            self._spawn(closed_roots.find(session, event["executionContextId"]))
        elif message["type"] == "command":
            if self._steer:
                self._steer(message["command"])
        elif message["type"] == "moved":
            self._navigations.on_moved(message)
        elif message["type"] == "stir":
            self._on_stir(message["what"])
        elif message["type"] == "unchanged":
            self._observer.on_unchanged(message)
        elif message["type"] == "secret":
            self._observer.on_secret(message["field"], message["value"])
        else:
            if message["type"] != "snapshot":
                self._screencast.note_act(begins=message["gesture"] is None)
            if shown := message.get("shown"):
                self._unpainted = shown["painted"] is None or self._is_elsewhere(message["snapshot"])
            self._on_message(message)

    def _on_stir(self, activity: str) -> None:
        """Something goes on that is no event."""
        if activity == "acting":
            self._screencast.note_act()
        elif activity == "changing":
            self._screencast.note_change()
        elif activity == "leading" and not self._unpainted:
            self._screencast.note_leading()

    def _on_message(self, message: Message) -> None:
        """Hand a message on; one from a frame that those above have not told of yet waits until they have."""
        path = tuple(message["path"])
        if self._waiting:
            self._waiting.append(message)
            below = tuple(self._waiting[0]["path"])
            if message["snapshot"] and path != below and path == below[:len(path)]:
                self.apply_snapshot(path, message["snapshot"], self._observer.seconds(
                    message["time"] / 1000, message["id"].partition(":")[0], keeps_clock=True))
            if self.is_located(below):
                self._hand_on()
        elif message["type"] != "snapshot" and not self.is_located(path):
            self._waiting.append(message)
            self._spawn(self._ask_frames())
        else:
            self._observer.on_message(self, message)

    async def _ask_frames(self) -> None:
        """Have every frame tell what it shows, and hand on what waits for that."""
        await self._in_worlds(REPORT, _REPLY_TIMEOUT_S)
        self._hand_on()

    def _hand_on(self) -> None:
        waiting, self._waiting = self._waiting, []
        for message in waiting:
            self._observer.on_message(self, message)

    async def _in_worlds(self, source: str, seconds: float) -> bool:
        """Run source wherever the capture script runs; whether those that are still there answer within `seconds`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.gather(*(
                    session.send("Runtime.evaluate", {"expression": source, "awaitPromise": True, "contextId": world})
                    for session in self._sessions for world in self._worlds[session]), return_exceptions=True)
            return True
        return False

    def apply_snapshot(self, path: tuple[int, ...], snapshot: Snapshot, time: float) -> None:
        """Take in what a frame group shows; the viewport may be known only now."""
        before = self.facts["device_pixel_ratio"]
        super().apply_snapshot(path, snapshot, time)
        if self.facts["device_pixel_ratio"] != before:
            self._spawn(self._learn_zoom(self._sessions[0]))
        if self._shown:
            self._window.check_frame(self._shown, self.facts["viewport"], self.zoom)

    def _release(self) -> None:
        super()._release()
        if (newest := self.ring.newest) and newest.hidden:
            self._screencast.schedule_refresh(self._until_clear)

    def _until_clear(self) -> float:
        """Seconds until a picture need not be black where a secret field has passed."""
        return self._secret_positions.clear_from - self._observer.seconds(self._observer.now)

    def _on_screencast(self, image: bytes, metadata: dict[str, Any], followed: bool) -> None:
        self._shown = metadata
        self._window.check_frame(metadata, self.facts["viewport"], self.zoom)
        painted = self._observer.seconds(metadata["timestamp"], f"frames of tab {self.number}")
        scale = metadata["pageScaleFactor"]
        self.paint(PaintedFrame(image, painted, scroll=(metadata["scrollOffsetX"], metadata["scrollOffsetY"]),
                                size=(metadata["deviceWidth"] / scale, metadata["deviceHeight"] / scale),
                                followed=followed))

    def paint(self, frame: PaintedFrame) -> None:
        """Take in a painted frame, and ask where secrets stand if it waits for that."""
        super().paint(frame)
        if self.waits and not self._asking:
            self._asking = True
            self._start(self._learn_secret_positions())

    def _note_gap(self) -> None:
        self.ring.note_gap(self._observer.seconds(self._observer.now))

    def _is_elsewhere(self, snapshot: Snapshot | None) -> bool:
        """Whether the page is scrolled otherwise than in the newest frame."""
        if not (snapshot and self._shown):
            return False
        shown = self._shown["scrollOffsetX"], self._shown["scrollOffsetY"]
        offsets = snapshot["scroll"]["x"], snapshot["scroll"]["y"]
        return any(abs(offset * self.zoom - other) > 1 for offset, other in zip(offsets, shown, strict=True))

    async def _learn_secret_positions(self) -> None:
        """Have the page tell where secrets stand after the frames that wait were painted; a slow one has longer."""
        patience = _REPLY_TIMEOUT_S
        try:
            while self.waits:
                await asyncio.sleep(0 if self.guarded else _UNGUARDED_POLL_INTERVAL_S)  # often an event reports it
                requested = self._observer.seconds(self._observer.now)
                if await self._in_worlds(REPORT, patience):
                    self.confirm_secret_positions(requested)
                patience = min(2 * patience, _PAINT_TIMEOUT_S)
                await asyncio.sleep(_SECRETS_POLL_INTERVAL_S)
        finally:
            self._asking = False

    def _on_leaving(self, event: dict[str, Any]) -> None:
        """A navigation begins. Where what was pressed is not painted yet, a frame of it may still come."""
        self._navigations.started(event)
        leaves = "samedocument" not in event["navigationType"].lower()
        if leaves and event["frameId"] == self._navigations.main_frame and not self._unpainted:
            self._screencast.note_leaving()

    def _on_navigated(self, event: dict[str, Any]) -> None:
        frame = event["frame"]
        if "parentId" not in frame:
            self._hand_on()
            self._loaded = False
            self.new_document(frame["url"], left_at=self._observer.seconds(self._observer.now))
            self._screencast.note_document()
            self._navigated(frame["url"] + frame.get("urlFragment", ""), same_document=False)

    def _on_same_document(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self._navigations.main_frame:
            self._navigated(event["url"], same_document=True)

    def _navigated(self, url: str, *, same_document: bool) -> None:
        before, self.facts["url"] = self.facts["url"], url
        self._navigations.navigated(before, url, same_document=same_document)

    def _report_navigation(self, before: str, url: str, transition: str, epoch: float) -> None:
        self._observer.on_browser_event(self, "navigate", epoch, {"url": url, "transition": transition}, before)

    def close(self) -> None:
        """The tab is closed: report what was asked for right before."""
        self._navigations.close(self.facts["url"])

    def _on_loaded(self, _event: dict[str, Any]) -> None:
        self._loads += 1
        self._screencast.note_possible_change()
        if self._extras.mhtml:
            self._spawn(self._archive(self._loads))

    async def _archive(self, load: int) -> None:
        """Keep the page as MHTML once nobody acts in it for a moment; making it takes the page's time."""
        wait = _ARCHIVE_AFTER_IDLE_S
        while wait > 0:
            await asyncio.sleep(wait)
            wait = self._last_heard + _ARCHIVE_AFTER_IDLE_S - time.monotonic()
        if load == self._loads:
            epoch = self._observer.now
            answer = await self._sessions[0].send("Page.captureSnapshot", {"format": "mhtml"})
            self._observer.on_page_archive(self, epoch, answer["data"].encode())

