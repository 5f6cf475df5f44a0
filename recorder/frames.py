"""Painted frames of a tab, and which of them shows what a person saw at a given time."""

from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    """One painted frame: JPEG bytes, and when it was painted, in seconds of the recording."""

    image: bytes
    time: float


class FrameRing:
    """The newest frames of one tab, oldest first, covering at least `keep` seconds."""

    def __init__(self, keep: float = 5.0):
        self._keep = keep
        self._frames: deque[Frame] = deque()

    def add(self, frame: Frame) -> None:
        """Take in a frame; frames older than needed are let go, but one always stays."""
        self._frames.append(frame)
        while len(self._frames) > 1 and self._frames[1].time < frame.time - self._keep:
            self._frames.popleft()

    def newest_until(self, time: float) -> Frame | None:
        """The newest frame not later than `time`: what stood on the screen then. None when there is none."""
        return next((frame for frame in reversed(self._frames) if frame.time <= time), None)
