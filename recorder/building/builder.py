"""Keeps what tabs report: orders it on the recording's clock and writes it down, pauses and chat included.

Knows nothing of browsers: who reports (a Playwright context, an extension's upload) hands over messages, frames,
navigations and resources with their wall-clock times.
"""

import re
import secrets
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from recorder.media.painted_frames import Frame, bitmap
from recorder.media.video import Video, VideoWriter
from recorder.privacy.har import Exchange
from recorder.privacy.har_file import HarFile, HeldExchanges
from recorder.privacy.mhtml import without_secrets
from recorder.privacy.secret_values import Secrets
from recorder.writer import RecordingWriter
from schemas import ChatLineSchema, DemotapeError, InputError
from schemas.files import check, dump_line
from schemas.recording import FORMAT, VERSION

from .frame_merging import merge, place_point, place_target
from .live_list import LiveList
from .pauses import Gaps
from .pending_screenshots import Awaiting
from .recording_clock import LATE, Clock
from .tab_state import TabState
from .writer_thread import Pen

_PICTURES = 4  # frames of which it is remembered how they were kept
_STILL = 0.25  # seconds without a new frame after which a page does not paint


class Keeper:
    """One recording being written. `directory`: its new folder; `clock`: makes the recording's clock at its start.

    `still`: seconds without a new frame after which a page does not paint; 0 where all frames are known beforehand.
    Raises InputError when the folder holds something.
    """

    def __init__(self, directory: Path | str, task: str = "", options: dict | None = None,
                 clock: Callable[[], Clock] = Clock, still: float = _STILL):
        self.directory = Path(directory)
        self.tabs: list[TabState] = []
        self.problems: list[str] = []
        self.failed: Exception | None = None
        self.listeners: list[Callable[[dict], None]] = []
        self._task = task
        self._options = options or {}
        self._make_clock = clock
        self._still = still
        self._seq = 0
        self._seqs: dict[str, int] = {}
        self._awaiting = Awaiting(self._note_frame)
        self._current: TabState | None = None
        self._pen = Pen(self._on_failure)
        self._screenshot = lru_cache(_PICTURES)(self._keep_screenshot)  # one frame may serve several events
        self._resources: set[tuple[str, int]] = set()
        self._running = False
        self._gaps = Gaps()
        self._lines = LiveList()
        self._loaded_in_pause: dict[str, tuple[str, bytes]] = {}
        self._secrets = Secrets()
        self._exchanges = HeldExchanges(self._secrets, self._write_exchange)
        self._har: HarFile | None = None

    def begin(self, browser: str, *, name: str | None = None, video: Callable[[Path], Video] = VideoWriter) -> None:
        """Start the recording's clock and create its folder.

        `browser`: its name and version; `name`: the recording's id, made up from the folder's otherwise; `video`: what
        writes the video.
        """
        self._clock = self._make_clock()
        self._writer = RecordingWriter(self.directory, {
            "format": FORMAT, "version": VERSION, "id": name or _id_from(self.directory), "task": self._task,
            "started_at": datetime.fromtimestamp(self._clock.start).astimezone(), "user_agent": "", "browser": browser,
            "viewport": None, "options": self._options})
        self._video = video(self._writer.layout.video)
        if self._options.get("har"):
            self._har = HarFile(self._writer.layout.har, browser, version("demotape"))
        self._running = True

    def note_browser(self, user_agent: str, browser: str, viewport: dict | None) -> None:
        """Write down which browser it is."""
        self._pen.submit(lambda: self._writer.update(user_agent=user_agent, browser=browser, viewport=viewport))

    def seconds(self, epoch: float, source: str | None = None, late: float = LATE) -> float:
        """Wall clock in seconds to seconds of this recording (see `Clock.seconds`)."""
        return self._clock.seconds(epoch, source, late)

    @property
    def now(self) -> float:
        """Wall clock in seconds, had nobody set it since the start."""
        return self._clock.now

    @property
    def paused(self) -> bool:
        """Whether nothing is being kept at the moment."""
        return self._gaps.open

    @property
    def elapsed(self) -> float:
        """Seconds of the recording so far."""
        return self._clock.elapsed

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
        for tab in self.tabs:
            if (shown := tab.ring.newest_until(now)) and self._gaps.hold(shown.time):
                self.on_frame(tab, shown)
        self._tell({"type": "state", "paused": False, "elapsed": now})

    def take_up(self, used: set[str]) -> None:
        """Of what was loaded in a pause, keep what the pages still show: without it they could not be shown again."""
        loaded, self._loaded_in_pause = self._loaded_in_pause, {}
        for url in used & loaded.keys():
            self.on_resource(url, loaded[url][0], self.now, loaded[url][1])

    def say(self, speaker: str, utterance: str) -> None:
        """Keep an utterance at this moment; raises InputError when it is empty, when paused, or after the end."""
        if not self._running:
            raise InputError("chat: nothing is being recorded")
        if self.paused:
            raise InputError("chat: the recording is paused; go on first")
        line = {"time": self.elapsed, "speaker": speaker, "utterance": self._secrets.in_text(utterance.strip())}
        check(line, ChatLineSchema(), "chat")
        if not line["utterance"]:
            raise InputError("chat: nothing was said")
        self._pen.submit(lambda: self._writer.chat(line))
        self._tell({"type": "chat", **line})

    def undo_last(self) -> int | None:
        """Mark the last action as a mistake: its turn will be dropped; returns the number of its event, if any."""
        line = self._lines.undo() if self._running else None
        if line is None:
            return None
        self.undo(line["event"])
        self._tell({"type": "line", **line})
        return line["event"]

    def undo(self, event: int) -> None:
        """Mark the action of an event as a mistake."""
        self._note("undo", {"event": event})

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

    def on_message(self, tab: TabState, message: dict) -> None:
        """An event from a page's capture script."""
        if not self._running:
            return
        path, at = tuple(message["path"]), self.seconds(message["time"] / 1000, message["id"].partition(":")[0])
        snapshot = message["snapshot"]
        if snapshot:
            tab.take(path, snapshot)
        if message["type"] == "snapshot":
            return  # no event: what one of several islands shows now that it has come to rest
        if self._gaps.leave_out(message, at):
            return
        self.on_act(tab, at)
        seq = self._write({
            "time": at, "type": message["type"], "tab": tab.number, "gesture": self._seqs.get(message["gesture"]),
            "target": place_target(message["target"], path, tab.islands),
            "data": place_point(message["data"], path, tab.islands),
        }, tab if snapshot else None, with_dom=() in tab.islands)
        self._seqs[message["id"]] = seq

    def on_act(self, tab: TabState, at: float) -> None:
        """Something was done in a tab: whoever acts in it sees it."""
        if self._current is not tab:
            self._switch_to(tab, at)

    def on_browser_event(self, tab: TabState, kind: str, epoch: float, data: dict, url: str | None = None) -> None:
        """Something that the browser reports: a navigation, a tab, a dialog, a download; `url` is where it happened."""
        if self._running and not self._gaps.hold(self.seconds(epoch)):
            self._write({"time": self.seconds(epoch), "type": kind, "tab": tab.number, "gesture": None,
                         "target": None, "data": data}, tab, with_dom=False, url=url)

    def on_frame(self, tab: TabState, frame: Frame) -> None:
        """A painted frame: goes to the video when its tab is shown, and may better an event's screenshot."""
        if not self._running:
            return
        frame = self._gaps.seen(frame)
        if (tab is self._current or self._current is None) and not self._gaps.hold(frame.time):
            self._video.add(frame)
        self._awaiting.see(tab, frame)

    def on_resource(self, url: str, content_type: str, epoch: float, content: bytes) -> bool:
        """A style sheet, image or font; kept once per address and content. Returns whether it is kept by now."""
        key = (url, hash(content))
        if not self._running or key in self._resources:
            return self._running
        if self._gaps.hold(self.seconds(epoch)):
            self._loaded_in_pause[url] = (content_type, content)
            return False
        self._resources.add(key)
        at = self.seconds(epoch)

        def write() -> None:
            self._writer.resource({"url": self._secrets.in_text(url), "content_type": content_type, "time": at,
                                   "blob": self._writer.blob(content)})

        self._pen.submit(write)
        return True

    def on_secret(self, field: str, value: str) -> None:
        """What a secret field holds: never kept, only to find it wherever else it turns up."""
        self._secrets.tell(field, value)

    def on_exchange(self, tab: TabState, exchange: Exchange) -> None:
        """A request that has ended, for the HAR."""
        if self._har and self._running and not self._gaps.hold(self.seconds(exchange.start)):
            self._exchanges.add(exchange)

    def release_exchanges(self) -> None:
        """Write the exchanges that have waited long enough for their pages to tell what is secret."""
        self._exchanges.release()

    def _write_exchange(self, entry: Callable[[], dict]) -> None:
        self._pen.submit(lambda: self._har.append(entry()))

    def on_page_archive(self, tab: TabState, epoch: float, mhtml: bytes) -> None:
        """A page as MHTML."""
        at, url = self.seconds(epoch), tab.facts["url"]
        if not self._running or self._gaps.hold(at):
            return
        self._seq += 1

        def write() -> None:
            blob = self._writer.blob(without_secrets(mhtml, self._secrets), like="mhtml")
            self._writer.event({"time": at, "type": "mhtml", "tab": tab.number, "gesture": None, "target": None,
                                "state": None, "data": {"blob": blob, "url": self._secrets.in_address(url)}})

        self._pen.submit(write)

    def on_problem(self, message: str) -> None:
        """Something that went wrong without ending the recording."""
        self.problems.append(message)

    def slept(self, seconds: float) -> None:
        """The machine was asleep: nothing can have been recorded for so long."""
        if self._running and not self.paused:
            self._note("sleep", {"seconds": round(seconds, 3)})

    def add_tab(self, tab: TabState, opener: TabState | None) -> None:
        """A tab has appeared; the first one is where the recording begins."""
        self.tabs.append(tab)
        if self._current is None and len(self.tabs) == 1:
            self._current = tab
        elif not self.paused:
            self._write({"time": self.elapsed, "type": "tabcreate", "tab": tab.number, "gesture": None, "target": None,
                         "data": {"tab": tab.number, "origin": opener.number if opener else None}},
                        opener or self._current, with_dom=False)

    def remove_tab(self, tab: TabState) -> None:
        """A tab was closed."""
        self.on_browser_event(tab, "tabremove", self.now, {"tab": tab.number})

    def show(self, tab: TabState) -> None:
        """The person turns to a tab now."""
        if self.paused or self._current is None:
            self._current = tab
        elif self._current is not tab:
            self._switch_to(tab, self.elapsed)

    def _switch_to(self, tab: TabState, at: float) -> None:
        origin, self._current = self._current, tab
        if origin:
            self._write({"time": at, "type": "tabswitch", "tab": tab.number, "gesture": None, "target": None,
                         "data": {"tab": tab.number, "origin": origin.number}}, origin, with_dom=False)

    def _write(self, event: dict, of: TabState | None, *, with_dom: bool, url: str | None = None) -> int:
        """Queue an event with the state of a tab (None: without state); returns the event's number."""
        self._seq += 1
        seq = self._seq
        if line := self._lines.take({"seq": self._seq, **event}):
            self._tell({"type": "line", **line})
        frame = of.ring.newest_until(event["time"]) if of else None
        # While the page paints, a better frame may be on its way: then the screenshot follows in a line of its own.
        written = frame if frame and self._gaps.seen(frame).time <= event["time"] - self._still else None
        seen = written and self._gaps.seen(written)
        islands = dict(of.islands) if of and with_dom else None
        state = _state(of, url) if of else None
        self._pen.submit(lambda: self._write_now(event, state, islands, seen))
        if of:
            self._awaiting.add(seq, of, event["time"], frame, written)
        self._awaiting.expire(self.elapsed)
        return seq

    def _write_now(self, event: dict, state: dict | None, islands: dict | None, frame: Frame | None) -> None:
        if state:
            if islands:
                document, rows = merge(islands)
                document = self._secrets.in_markup(document)
                state["dom"] = self._writer.blob(document.encode("utf-8", "surrogatepass"), like="dom")
                state["elements"] = self._writer.blob(dump_line(self._secrets.in_event(rows)), like="elements")
            if frame:
                state |= {"screenshot": self._screenshot(frame.image),
                          "screenshot_time": frame.time}
            if frame and frame.stale:
                state["stale"] = True
        for name in ("target", "data"):
            event[name] = self._secrets.in_event(event[name])
        if state:
            state |= {name: self._secrets.in_event(state[name]) for name in ("url", "title")}
        self._writer.event(event | {"state": state})

    def _keep_screenshot(self, image: bytes) -> str:
        return self._writer.blob(bitmap(image), like="screenshot")

    def _note_frame(self, event: int, tab: TabState, frame: Frame) -> None:
        """Write a better screenshot of an event in a line of its own."""
        self._seq += 1
        frame = self._gaps.seen(frame)

        def write() -> None:
            picture = self._screenshot(frame.image)
            self._writer.event({"time": frame.time, "type": "screenshot", "tab": tab.number, "gesture": None,
                                "target": None, "state": None,
                                "data": {"event": event, "screenshot": picture, "screenshot_time": frame.time}})

        self._pen.submit(write)

    def _on_failure(self, error: Exception) -> None:
        """Called once, by the writer's thread, when nothing more can be written."""
        self.failed, self._running = error, False

    def drain(self) -> None:
        """Wait until all that was handed over is written."""
        self._pen.drain()

    @property
    def settled(self) -> bool:
        """Whether no event waits for a better screenshot."""
        return self._awaiting.expire(self.elapsed)

    def settle(self) -> None:
        """No more frames will come: every event keeps the best screenshot that came."""
        self._awaiting.settle()

    def finish(self, ended_at: float, *, cut_off: bool = False) -> None:
        """Write what waits and close the files; `ended_at`: wall clock in seconds.

        `cut_off`: what was recorded has no end; the recording opens as recovered.
        """
        self._running = False
        self._exchanges.release(all_=True)
        self._pen.close()
        if self._har:
            self._har.close()
        self._video.close()
        if self._video.error:
            self.problems.append(f"the video could not be written: {self._video.error}")
        if self._video.dropped:
            self.problems.append(f"the video lacks {self._video.dropped} painted frames; screenshots are not affected")
        if self.failed:
            self._writer.abandon()
            if not isinstance(self.failed, DemotapeError):
                self.failed = DemotapeError(f"{self.directory}: recording stopped: {self.failed}")
        elif cut_off:
            self._writer.abandon()
        else:
            self._writer.close(datetime.fromtimestamp(ended_at).astimezone())


def _state(tab: TabState, url: str | None) -> dict:
    return {"tab": tab.number, "zoom": tab.zoom, **tab.facts, "url": url or tab.facts["url"], "dom": None,
            "elements": None, "screenshot": None, "screenshot_time": None}


def _id_from(directory: Path) -> str:
    """An id that no other recording has: the folder's name, with what an id may not hold replaced, and a random end."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", directory.resolve().name).strip("-_")[:80] or "recording"
    return f"{name}-{secrets.token_hex(4)}"
