"""Pauses of a recording: nothing that happens in one is recorded, whenever its report arrives."""

from dataclasses import replace
from math import inf

from recorder.media.painted_frames import PaintedFrame
from schemas.types.package import Message


class Pauses:
    """The pauses of one recording, in seconds of it.

    Events are told by when they happened, not by when they arrive: one from just before a pause still belongs to the
    recording, one from its last moment still does not.
    """

    def __init__(self) -> None:
        self._pauses: list[tuple[float, float]] = []
        self._left_out: set[str] = set()

    @property
    def open(self) -> bool:
        """Whether the recording is paused now."""
        return bool(self._pauses) and self._pauses[-1][1] == inf

    def begin(self, time: float) -> None:
        """Pause."""
        self._pauses.append((time, inf))

    def end(self, time: float) -> None:
        """Go on."""
        self._pauses[-1] = (self._pauses[-1][0], time)

    def is_paused_at(self, time: float) -> bool:
        """Whether the recording was paused at that time."""
        return any(begin <= time < end for begin, end in self._pauses)

    def after_pause(self, frame: PaintedFrame) -> PaintedFrame:
        """A frame painted in a pause that is over counts from the pause's end: it still stood on the screen then."""
        end = next((end for begin, end in self._pauses if begin <= frame.time < end < inf), frame.time)
        return frame if end == frame.time else replace(frame, time=end)

    def is_recorded(self, frame: PaintedFrame, newest: PaintedFrame | None) -> bool:
        """Whether a frame, with the time when it was painted, is recorded: one of a pause that is over only if no later
        one was painted in it (`newest` of its tab), as frames may arrive late."""
        after = self.after_pause(frame).time
        if self.is_paused_at(after):
            return False
        return after == frame.time or newest is None or not frame.time < newest.time < after

    def is_left_out(self, message: Message, time: float) -> bool:
        """Whether an event from a page is left out: it happened in a pause, or its gesture began in one."""
        if not self.is_paused_at(time) and message["gesture"] not in self._left_out:
            return False
        self._left_out.add(message["id"])
        return True
