"""Positions of secret fields while a frame was painted: from the pages' reports before it and after. Pure."""

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass
from itertools import pairwise

from schemas.types.recordings import Box

_LAG_S = 0.5  # seconds from what the page was to the frame that shows it, at most: a busy machine is slow
_AHEAD_S = 0.05  # seconds by which a frame may be ahead of what its page tells of itself: scrolled, animated
_MAX_REPORTS = 200  # that are remembered


@dataclass(frozen=True)
class _Report:
    time: float
    boxes: list[Box]
    document: int
    confirmed: float = -1.0  # since when all frames of the page have reported; -1: it is the report of one frame


class SecretFieldPositions:
    """The places of one tab's secret fields, as they were told; times in seconds of the recording."""

    def __init__(self) -> None:
        self._reports: deque[_Report] = deque(maxlen=_MAX_REPORTS)
        self._known_until = 0.0
        self._unknown = (0.0, 0.0)  # after the first, until the second it is never known
        self._document = 0

    def add_report(self, time: float, boxes: list[Box]) -> None:
        """Where they stood at a time, in CSS pixels of the viewport: those in sight, in the order of the document."""
        not_before = self._reports[-1].time if self._reports else time
        self._reports.append(_Report(max(time, not_before), boxes, self._document))

    def leave(self) -> None:
        """Another document takes the place of this one: nothing moves from the one to the other."""
        self._document += 1

    def skip(self, until: float) -> None:
        """What was shown after the last confirmation, until a time, is never known: its document is gone."""
        self._unknown = (self._known_until, until)

    def confirm(self, time: float) -> None:
        """Every frame of the page has told where they stand, at that time or later."""
        self._known_until = max(self._known_until, time)
        if self._reports:
            last = self._reports[-1]
            self._reports.append(_Report(max(time, last.time), last.boxes, last.document, time))

    def covers(self, time: float, *, may_move: bool = True) -> bool:
        """Whether it is known where they stood while a frame of that time was painted; `may_move`: there are any, which
        may be in the frame where the page reports them a little later."""
        return time + (_AHEAD_S if may_move else 0.0) <= self._known_until and not self.is_lost(time)

    def is_lost(self, time: float) -> bool:
        """Whether it will never be known."""
        after, until = self._unknown
        return after < time <= until

    def during(self, time: float, height: float) -> list[Box]:
        """Boxes that hold every secret field while a frame of that time was painted: the places told before and after
        it, and the path between."""
        return [box for telling in self._around(time) for box in telling.boxes] + self.path(time, height)

    def path(self, time: float, height: float) -> list[Box]:
        """Those of the boxes that hold a path. A field that is in sight at one end of it only may have come from above
        or below: then it is the whole `height` of the viewport."""
        around = self._around(time)
        swept: list[Box] = []
        for left, come in pairwise(around):
            before, after = left.boxes, come.boxes
            if left.document != come.document:
                continue
            if len(before) == len(after):
                swept += [_box_around(old, new) for old, new in zip(before, after, strict=True) if old != new]
            else:
                swept += [{**box, "y": 0.0, "height": height} for box in [*before, *after]]
        return swept

    @property
    def clear_from(self) -> float:
        """From what time on a frame holds no path, if nothing moves any more."""
        moved = [come.time for left, come in pairwise(self._reports)
                 if left.boxes != come.boxes and left.document == come.document]
        return moved[-1] + _LAG_S if moved else 0.0

    def _around(self, time: float) -> list[_Report]:
        """The reports from before a frame of that time was painted until all frames of the page had reported after it:
        a report of one frame says nothing of a busy one beside it."""
        times = [report.time for report in self._reports]
        first = max(0, bisect_right(times, time - _LAG_S) - 1)
        last = next((index for index, report in enumerate(self._reports) if report.confirmed >= time + _AHEAD_S),
                    len(times))
        return list(self._reports)[first:last + 1]


def _box_around(first: Box, other: Box) -> Box:
    """The box around two."""
    left, top = min(first["x"], other["x"]), min(first["y"], other["y"])
    right = max(first["x"] + first["width"], other["x"] + other["width"])
    bottom = max(first["y"] + first["height"], other["y"] + other["height"])
    return {"x": left, "y": top, "width": right - left, "height": bottom - top}
