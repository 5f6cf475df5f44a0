"""The recorder: attaches to a browser context and writes everything that happens in it to a recording."""

import asyncio
import re
import secrets
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from playwright.async_api import BrowserContext, Dialog, Page
from playwright.async_api import Error as PlaywrightError

from schemas import ChatLineSchema, DemotapeError, InputError
from schemas.files import check, dump_line
from schemas.recording import FORMAT, VERSION

from .frames import Frame, bitmap
from .gaps import Gaps
from .live_list import LiveList
from .merge import merge, place_point, place_target
from .tab import Tab
from .video import VideoWriter
from .writer import RecordingWriter

_SETTLE = 5.0  # seconds that a page's last requests may take after the recording's end
_STILL = 0.25  # seconds without a new frame after which a page does not paint
_FRAME_DELAY = 0.5  # seconds that a frame painted before an event may arrive after it


@dataclass
class _Awaiting:
    """An event whose screenshot may still be bettered by a frame on its way."""

    seq: int
    tab: Tab
    time: float
    frame: Frame | None
    written: Frame | None


class Recorder:
    """Records a Playwright context of a Chromium from `async with` to its end.

    `context`: any BrowserContext; its pages, present and future, are recorded. `directory`: the new recording's
    folder. Raises InputError for another browser or a folder that holds a recording; DemotapeError at the end when
    the disk failed on the way (what was written stays readable).
    """

    def __init__(self, context: BrowserContext, directory: Path | str, task: str = "", **options):
        self.directory = Path(directory)
        self.tabs: dict[Page, Tab] = {}
        self.problems: list[str] = []
        self.failed: Exception | None = None
        self.stopped = asyncio.Event()  # set when the recording fails on the way, as on a full disk
        self.listeners: list[Callable[[dict], None]] = []
        self._context = context
        self._task = task
        self._options = options
        self._seq = 0
        self._seqs: dict[str, int] = {}
        self._awaiting: list[_Awaiting] = []
        self._current: Tab | None = None
        self._pen = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._resources: set[tuple[str, int]] = set()
        self._arming: set[asyncio.Task] = set()
        self._running = False
        self._gaps = Gaps()
        self._lines = LiveList()
        self._loaded_in_pause: dict[str, tuple[str, bytes]] = {}

    async def __aenter__(self) -> "Recorder":
        browser = self._context.browser
        if browser and browser.browser_type.name != "chromium":
            raise InputError(f"only a Chromium can be recorded, not {browser.browser_type.name}")
        self._loop = asyncio.get_running_loop()
        self._start = time.time()
        self._writer = RecordingWriter(self.directory, self._manifest(browser))
        self._video = VideoWriter(self._writer.layout.video)
        self._running = True
        self._context.on("page", self._on_page)
        self._context.on("dialog", _leave_to_the_person)
        for page in self._context.pages:
            await self._add_tab(page, None)
        return self

    async def __aexit__(self, kind, error, trace) -> None:
        await self._settle()
        self._running = False
        self._context.remove_listener("page", self._on_page)
        for tab in self.tabs.values():
            await tab.disarm()
        self._context.remove_listener("dialog", _leave_to_the_person)
        await asyncio.to_thread(self._finish)
        if self.failed and not error:
            raise self.failed

    def seconds(self, epoch: float) -> float:
        """Wall clock in seconds to seconds of this recording, to the tenth of a millisecond."""
        return max(0.0, round(epoch - self._start, 4))

    @property
    def paused(self) -> bool:
        """Whether nothing is being kept at the moment."""
        return self._gaps.open

    @property
    def elapsed(self) -> float:
        """Seconds of the recording so far."""
        return self.seconds(time.time())

    def pause(self) -> None:
        """Keep nothing from now on until `resume`: no event, no frame, no resource, no utterance."""
        if self._running and not self.paused:
            self._gaps.begin(self._note("pause", {}))
            self._tell({"type": "state", "paused": True, "elapsed": self.elapsed})

    def resume(self) -> None:
        """Go on after a pause. What the pages show by now is where the recording goes on from."""
        if not (self._running and self.paused):
            return
        now = self._note("resume", {})
        self._gaps.end(now)
        for tab in self.tabs.values():
            if (shown := tab.ring.newest_until(now)) and self._gaps.hold(shown.time):
                self.on_frame(tab, shown)
        self._later(self._take_up_resources())
        self._tell({"type": "state", "paused": False, "elapsed": now})

    async def _take_up_resources(self) -> None:
        """Of what was loaded in a pause, keep what the pages still show: without it they could not be shown again."""
        used = set().union(*[await tab.resources_in_use() for tab in list(self.tabs.values())])
        loaded, self._loaded_in_pause = self._loaded_in_pause, {}
        for url in used & loaded.keys():
            self.on_resource(url, loaded[url][0], time.time(), loaded[url][1])

    def say(self, speaker: str, utterance: str) -> None:
        """Keep an utterance at this moment; raises InputError when it is empty, when paused, or after the end."""
        if not self._running:
            raise InputError("chat: nothing is being recorded")
        if self.paused:
            raise InputError("chat: the recording is paused; go on first")
        line = {"time": self.elapsed, "speaker": speaker, "utterance": utterance.strip()}
        check(line, ChatLineSchema(), "chat")
        if not line["utterance"]:
            raise InputError("chat: nothing was said")
        self._submit(lambda: self._writer.chat(line))
        self._tell({"type": "chat", **line})

    def undo_last(self) -> int | None:
        """Mark the last action as a mistake: its turn will be dropped; returns the number of its event, if any."""
        line = self._lines.undo() if self._running else None
        if line is None:
            return None
        self._note("undo", {"event": line["event"]})
        self._tell({"type": "line", **line})
        return line["event"]

    def _note(self, kind: str, data: dict) -> float:
        """Write an event of the recorder's own; returns its time."""
        now = self.elapsed
        self._write({"time": now, "type": kind, "tab": self._current.number if self._current else 1,
                     "gesture": None, "target": None, "data": data}, None, with_dom=False)
        return now

    def _tell(self, message: dict) -> None:
        for listener in self.listeners:
            try:
                listener(message)
            except Exception as error:  # somebody else's code must not cost the recording an event
                self.on_problem(f"a listener failed: {error!r}")

    def on_message(self, tab: Tab, message: dict) -> None:
        """An event from a page's capture script."""
        if not self._running:
            return
        path, at = tuple(message["path"]), self.seconds(message["time"] / 1000)
        snapshot = message["snapshot"]
        if snapshot:
            tab.take(path, snapshot)
        if message["type"] == "snapshot":
            return  # no event: what one of several islands shows now that it has come to rest
        if self._gaps.leave_out(message, at):
            return
        if self._current is not tab:
            self._switch_to(tab, at)
        seq = self._write({
            "time": at, "type": message["type"], "tab": tab.number, "gesture": self._seqs.get(message["gesture"]),
            "target": place_target(message["target"], path, tab.islands),
            "data": place_point(message["data"], path, tab.islands),
        }, tab if snapshot else None, with_dom=() in tab.islands)
        self._seqs[message["id"]] = seq

    def on_browser_event(self, tab: Tab, kind: str, epoch: float, data: dict, url: str | None = None) -> None:
        """Something that the browser reports: a navigation, a tab, a dialog, a download; `url` is where it happened."""
        if self._running and not self._gaps.hold(self.seconds(epoch)):
            self._write({"time": self.seconds(epoch), "type": kind, "tab": tab.number, "gesture": None,
                         "target": None, "data": data}, tab, with_dom=False, url=url)

    def on_frame(self, tab: Tab, frame: Frame) -> None:
        """A painted frame: goes to the video when its tab is shown, and may better an event's screenshot."""
        if not self._running:
            return
        frame = self._gaps.seen(frame)
        if (tab is self._current or self._current is None) and not self._gaps.hold(frame.time):
            self._video.add(frame)
        for waiting in list(self._awaiting):
            if waiting.tab is not tab:
                continue
            if frame.time <= waiting.time:
                waiting.frame = frame
            else:
                self._close(waiting)

    def on_resource(self, url: str, content_type: str, epoch: float, content: bytes) -> None:
        """A style sheet, image or font; kept once per address and content."""
        key = (url, hash(content))
        if not self._running or key in self._resources:
            return
        if self._gaps.hold(self.seconds(epoch)):
            self._loaded_in_pause[url] = (content_type, content)
            return
        self._resources.add(key)
        at = self.seconds(epoch)

        def write() -> None:
            self._writer.resource({"url": url, "content_type": content_type, "time": at,
                                   "blob": self._writer.blob(content)})

        self._submit(write)

    def on_problem(self, message: str) -> None:
        """Something that went wrong without ending the recording."""
        self.problems.append(message)

    def _manifest(self, browser) -> dict:
        return {"format": FORMAT, "version": VERSION, "id": _id_from(self.directory), "task": self._task,
                "started_at": datetime.fromtimestamp(self._start).astimezone(), "user_agent": "",
                "browser": f"Chromium {browser.version}" if browser else "Chromium",
                "viewport": None, "options": self._options}

    def _on_page(self, page: Page) -> None:
        self._later(self._add_later(page))

    def _later(self, work: Coroutine) -> None:
        """Work that the end of the recording waits for."""
        task = asyncio.ensure_future(work)
        self._arming.add(task)
        task.add_done_callback(self._arming.discard)

    async def _add_later(self, page: Page) -> None:
        with suppress(PlaywrightError):  # closed before it could be armed
            await self._add_tab(page, await page.opener())

    async def _add_tab(self, page: Page, opener: Page | None) -> None:
        tab = Tab(len(self.tabs) + 1, page, self)
        self.tabs[page] = tab
        if len(self.tabs) == 1:
            self._current = tab
        else:
            self._open(tab, self.tabs.get(opener))
        page.on("close", lambda _: self.on_browser_event(tab, "tabremove", time.time(), {"tab": tab.number}))
        try:
            await tab.arm()
        except PlaywrightError as error:
            if "CDP" in str(error):
                raise InputError("only a Chromium can be recorded") from None
            raise
        if tab.number == 1:
            await self._note_browser(page)

    async def _note_browser(self, page: Page) -> None:
        session = await self._context.new_cdp_session(page)
        version = await session.send("Browser.getVersion")
        await session.detach()
        self._submit(lambda: self._writer.update(
            user_agent=version["userAgent"], browser=version["product"].replace("/", " "),
            viewport=page.viewport_size))

    def _open(self, tab: Tab, opener: Tab | None) -> None:
        if self.paused:
            return
        self._write({"time": self.seconds(time.time()), "type": "tabcreate", "tab": tab.number, "gesture": None,
                     "target": None, "data": {"tab": tab.number, "origin": opener.number if opener else None}},
                    opener or self._current, with_dom=False)

    def _switch_to(self, tab: Tab, at: float) -> None:
        origin, self._current = self._current, tab
        if origin:
            self._write({"time": at, "type": "tabswitch", "tab": tab.number, "gesture": None, "target": None,
                         "data": {"tab": tab.number, "origin": origin.number}}, origin, with_dom=False)

    def _write(self, event: dict, of: Tab | None, *, with_dom: bool, url: str | None = None) -> int:
        """Queue an event with the state of a tab (None: without state); returns the event's number."""
        self._seq += 1
        seq = self._seq
        if line := self._lines.take({"seq": self._seq, **event}):
            self._tell({"type": "line", **line})
        frame = of.ring.newest_until(event["time"]) if of else None
        frame = frame and self._gaps.seen(frame)
        # While the page paints, a better frame may be on its way: then the screenshot follows in a line of its own.
        written = frame if frame and frame.time < event["time"] - _STILL else None
        islands = dict(of.islands) if of and with_dom else None
        state = _state(of, url) if of else None
        self._submit(lambda: self._write_now(event, state, islands, written))
        if of:
            self._awaiting.append(_Awaiting(seq, of, event["time"], frame, written))
        self._expire()
        return seq

    def _write_now(self, event: dict, state: dict | None, islands: dict | None, frame: Frame | None) -> None:
        if state:
            if islands:
                document, rows = merge(islands)
                state["dom"] = self._writer.blob(document.encode("utf-8", "surrogatepass"), like="dom")
                state["elements"] = self._writer.blob(dump_line(rows), like="elements")
            if frame:
                state |= {"screenshot": self._writer.blob(bitmap(frame), like="screenshot"),
                          "screenshot_time": frame.time}
        self._writer.event(event | {"state": state})

    def _expire(self) -> None:
        now = self.seconds(time.time())
        for waiting in list(self._awaiting):
            if waiting.time < now - _FRAME_DELAY:
                self._close(waiting)

    def _close(self, waiting: _Awaiting) -> None:
        """No better frame can come: note the better one, if there was one, in a line of its own."""
        self._awaiting.remove(waiting)
        frame = waiting.frame
        if frame is None or frame is waiting.written:
            return
        self._seq += 1

        def write() -> None:
            picture = self._writer.blob(bitmap(frame), like="screenshot")
            self._writer.event({"time": frame.time, "type": "screenshot", "tab": waiting.tab.number, "gesture": None,
                                "target": None, "state": None,
                                "data": {"event": waiting.seq, "screenshot": picture, "screenshot_time": frame.time}})

        self._submit(write)

    def _submit(self, job) -> None:
        if not self.failed:
            self._pen.submit(job).add_done_callback(self._written)

    def _written(self, job: Future) -> None:
        """Called by the writer's thread: the first failure stops the recording."""
        if not job.cancelled() and job.exception() and not self.failed:
            self.failed = job.exception()
            self._running = False
            self._loop.call_soon_threadsafe(self.stopped.set)

    async def _settle(self) -> None:
        """Wait for tabs being armed, for what they have begun, and for the frames that belong to the last events."""
        await asyncio.gather(*self._arming, return_exceptions=True)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*(tab.settle() for tab in self.tabs.values())), _SETTLE)
        until = time.monotonic() + _FRAME_DELAY
        while self._awaiting and time.monotonic() < until:
            await asyncio.sleep(0.02)
        for waiting in list(self._awaiting):
            self._close(waiting)

    def _finish(self) -> None:
        self._pen.shutdown(wait=True)
        self._video.close()
        if self._video.error:
            self.problems.append(f"the video could not be written: {self._video.error}")
        if self._video.dropped:
            self.problems.append(f"the video lacks {self._video.dropped} painted frames; screenshots are not affected")
        if self.failed:
            self._writer.abandon()
            if not isinstance(self.failed, DemotapeError):
                self.failed = DemotapeError(f"{self.directory}: recording stopped: {self.failed}")
        else:
            self._writer.close(datetime.now().astimezone())


def _state(tab: Tab, url: str | None) -> dict:
    return {"tab": tab.number, "zoom": 1.0, **tab.facts, "url": url or tab.facts["url"], "dom": None,
            "elements": None, "screenshot": None, "screenshot_time": None}


def _id_from(directory: Path) -> str:
    """An id that no other recording has: the folder's name, with what an id may not hold replaced, and a random end."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", directory.resolve().name).strip("-_")[:80] or "recording"
    return f"{name}-{secrets.token_hex(4)}"


def _leave_to_the_person(dialog: Dialog) -> None:
    """Playwright dismisses a dialog unless somebody listens; the recorder answers none."""
