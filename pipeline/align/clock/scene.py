"""Data that all steps of aligning an external video share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pipeline.align.layout.layout import Layout
from pipeline.align.pictures.screenshots import Picture, work_shape
from pipeline.align.pictures.video import Video
from recorder import Recording

from .coarse_offset import ShownInterval

_NEARBY = 6.0  # seconds
_SETTLED = 3.0  # seconds in which a page that is nearly in its place may still move


@dataclass(frozen=True)
class Scene:
    """What all steps share. `covered`: by number of the layout's piece and viewport. `explained`: times of sampled
    frames, seconds of the video, that show some screenshot."""

    recording: Recording
    video: Video
    layout: Layout
    pictures: Mapping[str, Picture]
    shown: Sequence[ShownInterval]
    names: Sequence[str]
    covered: Mapping[tuple[int, tuple[int, int]], np.ndarray] = field(default_factory=dict)
    explained: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def is_certain_at(self, time: float) -> bool:
        """Whether the page is known to be where the layout has it: shortly before and after a time of the video, and in
        the same piece, frames show screenshots. So do the first and the last frame of a piece, but near them the page
        may be on its way, still or again: nearly in its place, it looks as if it were there."""
        number = self.layout.number_at(time)
        if number < 0:
            return False
        first, last = self.layout.pieces[number].start + _SETTLED, self.layout.pieces[number].end - _SETTLED
        if not first <= time <= last:
            return False
        inside = self.explained[(self.explained >= first) & (self.explained <= last)]
        known = np.append(inside, [first, last])
        before, after = known[known <= time].max(), known[known >= time].min()
        return bool(max(time - before, after - time) <= _NEARBY)

    def hidden(self, viewport: tuple[int, int], piece: int | None = None) -> np.ndarray:
        """Pixels at working size (rows x columns, true or false) that something else covers in most of a piece of the
        layout; of any of them without `piece`."""
        mask = np.zeros(work_shape(viewport), bool)
        for (number, shown), covered in self.covered.items():
            if shown == viewport and piece in (None, number):
                mask |= covered
        return mask
