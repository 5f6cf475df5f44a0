"""Orders the reports of tabs on the recording's clock and writes them, including pauses and chat.

Knows nothing of browsers: who reports hands over messages, frames, navigations and resources with wall-clock times.
"""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from recorder.blob_process import BlobProcess
from recorder.blob_store import Blobs
from recorder.media.painted_frames import PaintedFrame
from recorder.media.video import Video, VideoWriter, problems_of
from recorder.privacy.secret_values import Secrets
from recorder.writer import NewEvent, RecordingWriter, new_id
from schemas import VERSIONS, DemotapeError, RecordingLayout
from schemas.formats.recording import FORMAT
from schemas.types.package import Message, Unchanged
from schemas.types.recordings import ChatLine, EventData

from .agent_reports import AgentReports
from .chat import Chat
from .closed_tabs import ClosedTabs
from .console_log import ConsoleLog
from .event_writer import EventWriter
from .idle_snapshot import IdleSnapshot, idle_snapshot
from .live_list import LiveList
from .loaded_resources import LoadedResources
from .lost_values import LostValues
from .network_log import NetworkLog
from .page_events import PageEvents
from .pauses import Pauses
from .pending_screenshots import PendingScreenshots
from .recording_clock import RecordingClock
from .state_match import Criteria
from .tab_state import TabState
from .writer_thread import WriterThread

_STILL = 0.25  # seconds without a new frame after which a page does not paint


class RecordingBuilder:
    """One recording being written. `directory`: its new folder; `clock`: makes the recording's clock at its start.

    `still`: seconds without a new frame after which a page does not paint; 0 where all frames are known beforehand.
    `switching`: whether an action in a tab tells that the person has turned to it. `on_failure` is called once, in the
    writer's thread, when nothing more can be written. Raises InputError when the folder holds something.
    """

    def __init__(self, directory: Path | str, task: str = "", options: dict[str, Any] | None = None,
                 clock: Callable[[], RecordingClock] = RecordingClock, still: float = _STILL, switching: bool = True,
                 on_failure: Callable[[], None] = lambda: None):
        self.directory = Path(directory)
        self.tabs: list[TabState] = []
        self.problems: list[str] = []
        self.failed: Exception | None = None
        self.listeners: list[Callable[[dict[str, Any]], None]] = []
        self.frame_listeners: list[Callable[[PaintedFrame], None]] = []
        self._task, self._options = task, options or {}
        self._make_clock, self._switching = clock, switching
        self._is_live = still > 0
        self._notify_failure = on_failure
        self.cached: set[tuple[str, str]] = set()
        self.last_event = 0  # its number
        self._pending = PendingScreenshots(self._note_frame, still)
        self._current: TabState | None = None
        self._closed_tabs = ClosedTabs(self._on_tab_removed)
        self.running = False  # whether anything is taken in
        self._lost = LostValues(self.problems, lambda facts: self._writer_thread.submit(
            lambda: self._writer.update(**facts())))
        self._writer_thread = WriterThread(self._on_failure, self._lost.add_error)
        self._page_events = PageEvents(partial(self.seconds, keeps_clock=True), self._lost)
        self._resources = LoadedResources()
        self._pauses = Pauses()
        self._lines = LiveList()
        self._secrets = Secrets()
        self.chat = Chat(self, self._secrets, self._pauses)
        self.network = NetworkLog(self._secrets, self._writer_thread.submit, self._recorded_time)
        self.console = ConsoleLog(self._secrets, self._writer_thread.submit, self._recorded_time)

    def begin(self, browser: str, *, name: str | None = None, video: Callable[[Path], Video] = VideoWriter,
              blobs: Callable[[RecordingLayout], Blobs] = BlobProcess) -> None:
        """Start the recording's clock and create its folder.

        `browser`: its name and version; `name`: the recording's id, made up from the folder's otherwise; `video`,
        `blobs`: what writes the video and keeps the blobs.
        """
        self._clock = self._make_clock()
        self.recording_id = name or new_id(self.directory)
        self._writer = RecordingWriter(self.directory, {
            "format": FORMAT, "version": VERSIONS[FORMAT], "id": self.recording_id, "task": self._task,
            "started_at": datetime.fromtimestamp(self._clock.start).astimezone(), "user_agent": "", "browser": browser,
            "viewport": None, "options": self._options}, blobs)
        self._event_writer = EventWriter(self._writer, self._secrets, self._lost,
                                         self._writer_thread.is_late if self._is_live else lambda: False)
        self._video = video(self._writer.layout.video)
        self.network.begin(self._writer, self._options, browser)
        self.console.begin(self._writer, self._options)
        self.agent_reports = AgentReports(self._writer, self._writer_thread.submit, self._secrets, self._pauses)
        self._writer_thread.begin()
        self.running = True

    def note(self, **facts: Any) -> None:
        """Write down what only turns out while recording: which browser it is, that new pages are armed late."""
        self._writer_thread.submit(lambda: self._writer.update(**facts))

    def seconds(self, epoch: float, source: str | None = None, *, keeps_clock: bool = False) -> float:
        """Wall clock in seconds to seconds of this recording (see `RecordingClock.seconds`)."""
        return self._clock.seconds(epoch, source, keeps_clock=keeps_clock)

    @property
    def now(self) -> float:
        """Wall clock in seconds, had nobody set it since the start."""
        return self._clock.now

    @property
    def paused(self) -> bool:
        """Whether nothing is being kept at the moment."""
        return self._pauses.open

    @property
    def elapsed(self) -> float:
        """Seconds of the recording so far."""
        return self._clock.elapsed

    def pause(self) -> None:
        """Keep nothing from now on until `resume`: no event, no frame, no resource, no utterance."""
        if self.running and not self.paused:
            self._pauses.begin(self._note("pause", {}))
            self.announce({"type": "state", "paused": True, "elapsed": self.elapsed})

    def resume(self) -> None:
        """Go on after a pause. What the pages show by now is where the recording goes on from."""
        if not (self.running and self.paused):
            return
        now = self._note("resume", {})
        self._pauses.end(now)
        for tab in self.tabs:
            if (shown := tab.ring.newest_until(now)) and self._pauses.is_paused_at(shown.time):
                self.on_frame(tab, shown)
        self.announce({"type": "state", "paused": False, "elapsed": now})

    def resume_resources(self, used: set[str]) -> None:
        """Of what was loaded in a pause, keep what the pages still show: without it they could not be shown again."""
        for url, content_type, content in self._resources.take_used(used):
            self.on_resource(url, content_type, self.now, content)

    def write_chat(self, line: ChatLine, on_written: Callable[[], None]) -> None:
        """Write an utterance; `on_written` is called in the writer's thread when it is in the file."""
        def write() -> None:
            self._writer.chat(line)
            on_written()

        self._writer_thread.submit(write)

    def undo_last(self) -> int | None:
        """Mark the last action as a mistake: its turn will be dropped; returns the number of its event, if any."""
        if line := self._lines.undo() if self.running else None:
            self.undo(line["event"])
            self.announce({"type": "line", **line})
        return line and line["event"]

    def undo(self, event: int) -> None:
        """Mark the action of an event as a mistake."""
        self._note("undo", {"event": event})

    def _note(self, kind: str, data: EventData) -> float:
        """Write an event of the recorder's own; returns its time."""
        now = self.elapsed
        self._write({"time": now, "type": kind, "tab": self._current.number if self._current else 1,
                     "gesture": None, "target": None, "data": data}, None, with_dom=False)
        return now

    def announce(self, message: dict[str, Any]) -> None:
        """Tell the listeners what the control page shows."""
        for listener in self.listeners:
            try:
                listener(message)
            except Exception as error:  # somebody else's code must not cost the recording an event
                self.problems.append(f"a listener failed: {error!r}")

    def on_message(self, tab: TabState, message: Message, picture: PaintedFrame | None = None) -> None:
        """Take in a message from a page's capture script: the snapshot in it, and the event that it reports, which is
        written unless it belongs to a pause. `picture`: the painted frame that the sender has chosen for the event.
        """
        if not self.running:
            return
        [time] = self._page_events.times(message["id"], message, "time")
        has_state = self.apply_snapshot(tab, message, time)
        # A "snapshot" is no event: it is what one of several frame groups shows now that it is idle.
        if message["type"] == "snapshot" or self._pauses.is_left_out(message, time):
            return
        if self._switching and self._current is not tab:
            self._switch_to(tab, time)
        event = self._page_events.event(tab, message, time)
        number = self._write(event, tab if has_state else None, with_dom=() in tab.frame_groups,
                             view=self._page_events.criteria(tab, message, event, picture))
        self._page_events.note_number(message["id"], number)

    def apply_snapshot(self, tab: TabState, message: Message, time: float) -> bool:
        """Apply the snapshot of a message to its tab; returns whether there is one and it could be applied."""
        path, snapshot = tuple(message["path"]), message["snapshot"]
        return snapshot is not None and self._lost.succeeds(lambda: tab.apply_snapshot(path, snapshot, time))

    def on_unchanged(self, message: Unchanged) -> None:
        """The page has not changed for a while since an event: later frames may show the state before it."""
        if number := self._page_events.number(message["event"]):
            times = self._page_events.times(message["event"], message, "until", "painted", "all_painted")
            self._pending.note_unchanged(number, *times)

    def on_browser_event(self, tab: TabState, kind: str, epoch: float, data: EventData, url: str | None = None) -> None:
        """Something that the browser reports: a navigation, a tab, a dialog, a download; `url` is where it happened."""
        if (time := self._recorded_time(epoch)) is not None:
            self._write({"time": time, "type": kind, "tab": tab.number, "gesture": None, "target": None, "data": data},
                        tab, with_dom=False, url=url)

    def on_frame(self, tab: TabState, frame: PaintedFrame) -> None:
        """A painted frame: goes to the video when its tab is shown, and may better an event's screenshot."""
        if not self.running:
            return
        painted, frame = frame, self._pauses.after_pause(frame)
        if (tab is self._current or self._current is None) and self._pauses.is_recorded(painted, tab.ring.newest):
            self._video.add(frame)
            for listener in self.frame_listeners:
                listener(frame)
        self._pending.see(tab, frame)
        self._pending.expire(self.elapsed)

    def on_resource(self, url: str, content_type: str, epoch: float, content: bytes) -> bool:
        """A style sheet, image or font; kept once per address and content. Returns whether it is kept by now."""
        time = self.seconds(epoch)
        if self.running and self._pauses.is_paused_at(time):
            self._resources.note_in_pause(url, content_type, content)
            return False
        if not self.running or not self._resources.add(url, content):
            return self.running

        def write() -> None:
            self._writer.resource({"url": self._secrets.in_text(url), "content_type": content_type, "time": time,
                                   "blob": self._writer.blob(content)})

        self._writer_thread.submit(write)
        return True

    def on_secret(self, field: str, value: str) -> None:
        """What a secret field holds: never kept, only to find it wherever else it turns up."""
        self._secrets.add_field_value(field, value)

    def _recorded_time(self, epoch: float) -> float | None:
        """When something of the network happened, in seconds of the recording; None when nothing is kept then."""
        time = self.seconds(epoch)
        return time if self.running and not self._pauses.is_paused_at(time) else None

    def release(self, *, all_: bool = False) -> None:
        """Write what has waited long enough (`all_`: all): screenshots; for secrets, exchanges and console lines."""
        self._pending.expire(self.elapsed)
        self.network.release(all_=all_)
        self.console.release(all_=all_)

    def on_page_archive(self, tab: TabState, epoch: float, mhtml: bytes) -> None:
        """A page as MHTML."""
        time, url = self.seconds(epoch), tab.facts["url"]
        if not self.running or self._pauses.is_paused_at(time):
            return
        self.last_event += 1
        self._writer_thread.submit(lambda: self._event_writer.page_archive(time, tab.number, url, mhtml))

    def on_lost(self, description: str) -> None:
        """A value could not be read and is left out."""
        self._lost.add(description)

    def slept(self, seconds: float) -> None:
        """The machine was asleep: nothing can have been recorded for so long."""
        if self.running and not self.paused:
            self._note("sleep", {"seconds": round(seconds, 3)})

    def add_tab(self, tab: TabState, opener: TabState | None) -> None:
        """A tab has appeared; the first one is where the recording begins."""
        self.tabs.append(tab)
        self._closed_tabs.opened(tab)
        if self._current is None and len(self.tabs) == 1:
            self._current = tab
        elif not self.paused:
            self._write({"time": self.elapsed, "type": "tabcreate", "tab": tab.number, "gesture": None, "target": None,
                         "data": {"tab": tab.number, "origin": opener.number if opener else None}},
                        opener or self._current, with_dom=False)

    def remove_tab(self, tab: TabState) -> None:
        """A tab was closed."""
        self._closed_tabs.closed(tab, self.now)

    def _on_tab_removed(self, tab: TabState, epoch: float) -> None:
        self.on_browser_event(tab, "tabremove", epoch, {"tab": tab.number})

    def show(self, tab: TabState) -> None:
        """The person turns to a tab now."""
        if self.paused or self._current is None:
            self._current = tab
        elif self._current is not tab:
            self._switch_to(tab, self.elapsed)

    def _switch_to(self, tab: TabState, time: float) -> None:
        origin, self._current = self._current, tab
        if origin:
            self._write({"time": time, "type": "tabswitch", "tab": tab.number, "gesture": None, "target": None,
                         "data": {"tab": tab.number, "origin": origin.number}}, origin, with_dom=False)

    def _write(self, event: NewEvent, tab: TabState | None, *, with_dom: bool, url: str | None = None,
               view: Criteria | None = None) -> int:
        """Queue an event with the state of a tab (None: without state); returns the event's number."""
        self._closed_tabs.release()
        seq = self.last_event = self.last_event + 1
        if line := self._lost.attempt(lambda: self._lines.add_event({"seq": seq, **event}), None):
            self.announce({"type": "line", **line})
        frame_groups = dict(tab.frame_groups) if tab and with_dom else None
        state = tab.state(url) if tab else None
        # While the page paints, a better frame may be on its way: then the screenshot follows in a line of its own.
        frame = self._pending.add(seq, tab, view or Criteria(event["time"]), self._pauses.after_pause) if tab else None
        shown_frame = frame and self._pauses.after_pause(frame)
        self._writer_thread.submit(lambda: self._event_writer.write(event, state, frame_groups, shown_frame))
        self._pending.expire(self.elapsed)
        return seq

    def _note_frame(self, event: int, tab: TabState, frame: PaintedFrame) -> None:
        """Write a better screenshot of an event in a line of its own."""
        self.last_event += 1
        frame = self._pauses.after_pause(frame)
        self._writer_thread.submit(lambda: self._event_writer.better_screenshot(event, tab.number, frame))

    def _on_failure(self, error: Exception) -> None:
        """Called once, by the writer's thread, when nothing more can be written."""
        self.failed, self.running = error, False
        self._notify_failure()

    @property
    def shown(self) -> TabState | None:
        """The tab that the person looks at."""
        return self._current

    def idle_snapshot(self, tab: TabState) -> IdleSnapshot | None:
        """What a tab shows now, as far as it has told."""
        return idle_snapshot(tab, self._secrets)

    def save_last_state(self) -> None:
        """Keep what the tab shows that the person looks at, as what the recording ended with."""
        if (tab := self._current) and self.running and not self.paused and () in tab.frame_groups:
            state, groups, frame = tab.state(None), dict(tab.frame_groups), tab.ring.newest
            self._writer_thread.submit(lambda: self._event_writer.last_state(state, groups, frame))

    def drain(self) -> None:
        """Wait until all that was handed over is written."""
        self._writer_thread.drain()

    @property
    def settled(self) -> bool:
        """Whether no event waits for a better screenshot."""
        return self._pending.expire(self.elapsed)

    def settle(self) -> None:
        """No more frames will come: every event keeps the best screenshot that came."""
        self._pending.settle()

    def stop(self) -> None:
        """Take in nothing any more; what waits is still written by `finish`."""
        self._closed_tabs.settle()
        self.running = False

    def abandon(self) -> None:
        """Close what is open without ending the recording; nothing when it has ended."""
        self._writer_thread.close()
        if self.running:
            self.running = False
            self._video.close()
            self._writer.abandon()

    def finish(self, ended_at: float, *, cut_off: bool = False) -> None:
        """Write what waits and close the files; `ended_at`: wall clock in seconds.

        `cut_off`: what was recorded has no end; the recording opens as recovered.
        """
        self.stop()
        self.release(all_=True)
        self._writer_thread.close()
        self.network.close()
        self._video.close()
        self.problems += problems_of(self._video)
        if self.failed:
            self._writer.abandon()
            if not isinstance(self.failed, DemotapeError):
                failure = DemotapeError(f"{self.directory}: recording stopped: {self.failed!r}")
                failure.__cause__, self.failed = self.failed, failure
            return
        self._writer.update(**self._lost.facts(), **self.console.facts(), **self._secrets.facts())
        if cut_off:
            self._writer.abandon()
        else:
            self._writer.close(datetime.fromtimestamp(ended_at).astimezone())
