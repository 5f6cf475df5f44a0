"""Painted frames of a tab, and the one that was visible at a given time."""

import math
from bisect import bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass, replace

import cv2

from recorder.pictures import decode_picture, pixels_of
from schemas.types.recordings import Box

_MARGIN = 3  # CSS pixels around a secret field that are blackened too
_COMING = 0.05  # seconds that a painted frame takes to come
_FAST = [cv2.IMWRITE_PNG_COMPRESSION, 1]


@dataclass(frozen=True)
class PaintedFrame:
    """One painted frame: a picture as a file, and when what it shows was painted, in seconds of the recording.

    `stale`: why it may not show the page as it was then, see `stale_because` in StateSchema; None when it does.
    `scroll`, `size`: how far the page was scrolled, and the viewport's width and height, in pixels of the window; None
    where that is not known. `followed`: had the page painted something else next, a frame of it would have come; until
    `followed_until` only.
    `unchanged_until`: for how long the page stayed as it was after the event whose state the frame shows; None for a
    frame from before. `agrees`: whether all that can be read in it is known to stand where the state before that event
    has it. `hidden`: boxes (CSS pixels) that are black as a secret may have passed there.
    """

    image: bytes
    time: float
    stale: str | None = None
    scroll: tuple[float, float] | None = None
    size: tuple[float, float] | None = None
    followed: bool = True
    followed_until: float = math.inf
    unchanged_until: float | None = None
    agrees: bool = False
    hidden: tuple[Box, ...] = ()


@dataclass(frozen=True)
class ScreenInterval:
    """What stood on the screen for a while: the frame that showed it first, the last one that showed the same, and when
    something else was painted, or may have been (infinity: not yet)."""

    frame: PaintedFrame
    last: PaintedFrame
    until: float


class FrameRing:
    """The newest frames of one tab, oldest first, covering at least `seconds` seconds."""

    def __init__(self, seconds: float = 5.0):
        self._seconds = seconds
        self._frames: list[PaintedFrame] = []

    def add(self, frame: PaintedFrame) -> None:
        """Add a frame, which may come after newer ones: the browser compresses several at once. Frames that are older
        than needed are removed, but for one that was on the screen at the beginning of that time."""
        insort(self._frames, frame, key=lambda painted: painted.time)
        while len(self._frames) > 1 and self._frames[1].time < self._frames[-1].time - self._seconds:
            del self._frames[1 if self._goes_on(1) else 0]  # of two that show the same, the first is retained

    @property
    def newest(self) -> PaintedFrame | None:
        """The frame that was painted last."""
        return self._frames[-1] if self._frames else None

    def note_gap(self, now: float) -> None:
        """What is painted from now on may not come, nor what was painted just now."""
        if self._frames:
            self._frames[-1] = replace(self._frames[-1], followed_until=now - _COMING)

    def newest_until(self, time: float) -> PaintedFrame | None:
        """The newest frame not later than `time`: what stood on the screen then. None when there is none. Of frames
        that show the same, as when a page that rests is painted again, the first: since then it stood there."""
        interval = self.shown_at(time)
        return interval.frame if interval else None

    def shown_at(self, time: float) -> ScreenInterval | None:
        """What stood on the screen at `time`; None when that is not known."""
        number = bisect_right(self._frames, time, key=lambda painted: painted.time) - 1
        return self._interval(number) if number >= 0 else None

    def between(self, start: float, end: float) -> list[ScreenInterval]:
        """What came to the screen after `start` and not after `end`, in order."""
        first, last = (bisect_right(self._frames, time, key=lambda painted: painted.time) for time in (start, end))
        return [self._interval(number, first) for number in range(first, last)]

    def _interval(self, number: int, first_number: int = 0) -> ScreenInterval:
        """What a frame showed: since the first frame before it that showed the same, from `first_number` on, until the
        next one."""
        first = number
        while first > first_number and self._goes_on(first):
            first -= 1
        last = self._frames[number]
        next_time = self._frames[number + 1].time if number + 1 < len(self._frames) else math.inf
        return ScreenInterval(self._frames[first], last, min(next_time, last.followed_until))

    def _goes_on(self, number: int) -> bool:
        """Whether a frame shows what the one before it showed, and still stands for."""
        before, frame = self._frames[number - 1], self._frames[number]
        return (before.image, before.scroll) == (frame.image, frame.scroll) and not before.stale and not frame.stale


def black_out(frame: PaintedFrame, boxes: Iterable[Box], viewport_width: float) -> PaintedFrame:
    """The frame with these boxes (CSS pixels) blackened, so that no secret can be read in it."""
    image = decode_picture(frame.image)
    if image is None:  # nothing that anybody could read, or too large to be looked through
        return replace(frame, image=b"") if pixels_of(frame.image) else frame
    scale = image.shape[1] / max(viewport_width, 1)
    for box in boxes:
        left, top = (max(0, round((box[name] - _MARGIN) * scale)) for name in ("x", "y"))
        right = max(0, round((box["x"] + box["width"] + _MARGIN) * scale))
        bottom = max(0, round((box["y"] + box["height"] + _MARGIN) * scale))
        image[top:bottom, left:right] = 0
    return replace(frame, image=cv2.imencode(".png", image, _FAST)[1].tobytes())
