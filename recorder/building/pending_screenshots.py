"""Events with pending screenshots: a better frame from before the event may still arrive.

Frames come some time after they were painted, and not always in that order: the browser compresses several at once. And
who acts at once is ahead of the picture: then the first frame that shows the state comes after the event.
"""

from collections.abc import Callable
from dataclasses import dataclass

from recorder.media.painted_frames import PaintedFrame

from .state_match import Criteria
from .tab_state import TabState

FRAME_DELAY = 0.5  # seconds that a frame painted before an event may arrive after it


@dataclass
class _PendingScreenshot:
    """`frame`: the best so far; `noted`: the one that is written down; `passed`: a frame painted later has come."""

    event: int
    tab: TabState
    view: Criteria
    frame: PaintedFrame | None
    noted: PaintedFrame | None
    passed: bool = False


class PendingScreenshots:
    """`note` is called with an event's number, its tab and a better frame: when one painted after the event has come,
    or none did for a while; another time if a still better one comes after that.

    `still`: seconds without a new frame after which a page does not paint.
    """

    def __init__(self, note: Callable[[int, TabState, PaintedFrame], None], still: float):
        self._note = note
        self._still = still
        self._waiting: list[_PendingScreenshot] = []

    def add(self, event: int, tab: TabState, view: Criteria,
            after_pause: Callable[[PaintedFrame], PaintedFrame]) -> PaintedFrame | None:
        """An event in a tab. Returns the frame to be written with it; None when a better one may be on its way, as
        while the page paints. `after_pause`: a frame at the time from which on it is kept."""
        if view.chosen:
            return view.chosen
        frame = view.choose(tab.ring)
        is_final = frame and not frame.stale and after_pause(frame).time <= view.time - self._still
        self._waiting.append(_PendingScreenshot(event, tab, view, frame, frame if is_final else None))
        return frame if is_final else None

    def see(self, tab: TabState, frame: PaintedFrame) -> None:
        """A frame has come to the tab's ring."""
        for waiting in self._waiting:
            if waiting.tab is tab:
                waiting.passed |= frame.time > waiting.view.time
                self._choose_frame(waiting)

    def note_unchanged(self, event: int, until: float, painted: float | None, all_painted: float | None) -> None:
        """The page of an event was as before until then; by when its target was painted, and all that can be read, if
        they were by then."""
        for waiting in self._waiting:
            if waiting.event == event:
                waiting.view = waiting.view.with_unchanged(until, painted, all_painted)
                self._choose_frame(waiting)

    def _choose_frame(self, waiting: _PendingScreenshot) -> None:
        waiting.frame = waiting.view.choose(waiting.tab.ring)
        if waiting.passed and waiting.frame and not waiting.frame.stale:
            self._report(waiting)

    def expire(self, now: float) -> bool:
        """Let go of events so old that nothing better can come; whether none is left. `now`: seconds of the
        recording."""
        old = [waiting for waiting in self._waiting if _ends(waiting) < now]
        self._waiting = [waiting for waiting in self._waiting if _ends(waiting) >= now]
        for waiting in old:
            self._report(waiting)
        return not self._waiting

    def settle(self) -> None:
        """No more frames will come."""
        self.expire(float("inf"))

    def _report(self, waiting: _PendingScreenshot) -> None:
        if waiting.frame is not None and not _is_same_frame(waiting.frame, waiting.noted):
            waiting.noted = waiting.frame
            self._note(waiting.event, waiting.tab, waiting.frame)


def _is_same_frame(frame: PaintedFrame, noted: PaintedFrame | None) -> bool:
    return noted is not None and (
        (frame.time, frame.stale, frame.agrees, frame.image) == (noted.time, noted.stale, noted.agrees, noted.image))


def _ends(waiting: _PendingScreenshot) -> float:
    return max(waiting.view.time, waiting.view.until) + FRAME_DELAY
