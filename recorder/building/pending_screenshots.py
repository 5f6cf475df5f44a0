"""Events whose screenshots may still be bettered: the frame that shows the page before them may be on its way.

Frames come some time after they were painted, and not always in that order: the browser compresses several at once.
"""

from collections.abc import Callable
from dataclasses import dataclass

from recorder.media.painted_frames import PaintedFrame

from .tab_state import TabState

FRAME_DELAY = 0.5  # seconds that a frame painted before an event may arrive after it


@dataclass
class _Waiting:
    """`frame`: the best so far; `noted`: the one that is written down; `passed`: a frame painted later has come."""

    event: int
    tab: TabState
    time: float
    frame: PaintedFrame | None
    noted: PaintedFrame | None
    passed: bool = False


class PendingScreenshots:
    """`note` is called with an event's number, its tab and a better frame: when one painted after the event has come,
    or none did for a while; another time if a still better one comes after that."""

    def __init__(self, note: Callable[[int, TabState, PaintedFrame], None]):
        self._note = note
        self._waiting: list[_Waiting] = []

    def add(self, event: int, tab: TabState, time: float, frame: PaintedFrame | None,
            noted: PaintedFrame | None) -> None:
        """An event in a tab, the newest frame before it by now, and the one that is written with it."""
        self._waiting.append(_Waiting(event, tab, time, frame, noted))

    def see(self, tab: TabState, frame: PaintedFrame) -> None:
        """A frame has come to the tab's ring."""
        for waiting in self._waiting:
            if waiting.tab is not tab:
                continue
            if frame.time > waiting.time:
                waiting.passed = True
            else:
                waiting.frame = tab.ring.newest_until(waiting.time)
            if waiting.passed:
                self._tell(waiting)

    def expire(self, now: float) -> bool:
        """Let go of events so old that nothing better can come; whether none is left. `now`: seconds of the
        recording."""
        old = [waiting for waiting in self._waiting if waiting.time < now - FRAME_DELAY]
        self._waiting = [waiting for waiting in self._waiting if waiting.time >= now - FRAME_DELAY]
        for waiting in old:
            self._tell(waiting)
        return not self._waiting

    def settle(self) -> None:
        """No more frames will come."""
        self.expire(float("inf"))

    def _tell(self, waiting: _Waiting) -> None:
        if waiting.frame is not None and waiting.frame is not waiting.noted:
            waiting.noted = waiting.frame
            self._note(waiting.event, waiting.tab, waiting.frame)
