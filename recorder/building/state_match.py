"""Whether a painted frame shows a state: the same part of the page, in the same size."""

from dataclasses import dataclass, replace

from recorder.media.painted_frames import FrameRing, PaintedFrame, ScreenInterval
from schemas.types.recordings import Box

_DRAWN = 0.03  # seconds from a page's third paint after a change until that is on the screen
_TOLERANCE_PX = 1.5  # pixels by which offsets and sizes may differ: browsers round them


@dataclass(frozen=True)
class Criteria:
    """What a frame must agree with to show the state before an event; times in seconds of the recording.

    `time`: of the event; `scroll`, `size`: as a frame has them, None where they are not known. `target_reported`:
    whether the page told by when its target was `painted` where it stands (None: it was not yet). `all_painted`: by
    when all that can be read was; None when that is not known. `until`: how long the page stayed as it was after the
    event. `chosen`: the frame that somebody else has chosen. `target`: the box of the event's target, in CSS pixels of
    the viewport.
    """

    time: float
    scroll: tuple[float, float] | None = None
    size: tuple[float, float] | None = None
    target_reported: bool = False
    painted: float | None = None
    all_painted: float | None = None
    until: float = 0.0
    chosen: PaintedFrame | None = None
    target: Box | None = None

    def with_unchanged(self, until: float, painted: float | None, all_painted: float | None) -> "Criteria":
        """The same, when the page has told more of it."""
        return replace(self, until=until, painted=self.painted if painted is None else painted,
                       all_painted=self.all_painted if all_painted is None else all_painted)

    def choose(self, ring: FrameRing) -> PaintedFrame | None:
        """The frame to be kept: the newest not later than the event, if it shows the state; else the first later one
        that does; else that newest one, called stale. None when there is none yet."""
        before = ring.shown_at(self.time)
        doubt = self._doubt(before, self.time) if before else None
        if before and not doubt:
            return replace(before.frame, agrees=self._agrees(before, self.time))
        for later in ring.between(self.time, self.until):
            if not self._doubt(later, self.until):
                return replace(later.frame, unchanged_until=self.until, agrees=self._agrees(later, self.until))
        return replace(before.frame, stale=before.frame.stale or doubt) if before else None

    def _doubt(self, standing: ScreenInterval, bound: float) -> str | None:
        """Why what stood on the screen may not show the state, see `stale_because` in StateSchema; `bound`: until when
        the page is known to have been as it was."""
        frame = standing.last
        if _differ(self.scroll, frame.scroll):
            return "scrolled"
        if _differ(self.size, frame.size):
            return "resized"
        if self.target and any(_hides(box, self.target) for box in frame.hidden):
            return "hidden"
        return None if not self.target_reported or _shows(standing, self.painted, bound) else "moved"

    def _agrees(self, standing: ScreenInterval, bound: float) -> bool:
        """Whether all that can be read stands in the picture where the state has it: it is known to, not only not known
        to stand elsewhere."""
        frame = standing.last
        known = None not in (self.scroll, self.size, frame.scroll, frame.size)
        return known and _shows(standing, self.all_painted, bound)


def _shows(standing: ScreenInterval, painted: float | None, bound: float) -> bool:
    """Whether what was painted by a time was on the screen."""
    frame = standing.last
    return painted is not None and (
        frame.time >= painted or (frame.followed and min(standing.until, bound) >= painted + _DRAWN))


def _hides(box: Box, target: Box) -> bool:
    """Whether the middle of a target is in a box."""
    across, down = target["x"] + target["width"] / 2, target["y"] + target["height"] / 2
    return (box["x"] <= across <= box["x"] + box["width"]) and (box["y"] <= down <= box["y"] + box["height"])


def _differ(first: tuple[float, float] | None, second: tuple[float, float] | None) -> bool:
    return bool(first and second) and any(
        abs(a - b) > _TOLERANCE_PX for a, b in zip(first or (), second or (), strict=True))
