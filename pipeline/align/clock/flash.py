"""The red flash by which some recorders mark their start in a screen video: an additional anchor if present."""

from collections.abc import Sequence

import numpy as np

from pipeline.align.layout.layout import Layout
from pipeline.align.layout.rectangle import Rectangle
from pipeline.align.pictures.video import Shot, Video

from .anchors import Bracket

_AROUND = 1.5  # seconds around the expected moment that are looked at
_SMALL_WIDTH = 160  # pixels
_SHARE = 0.7  # of the page that is red in a flash


def find(video: Video, layout: Layout, viewport: tuple[int, int], expected: Sequence[float]) -> Bracket | None:
    """The moment at which the page turns red near an expected video time of the recording's start; None without."""
    for middle in expected:
        first, last = np.searchsorted(video.times, [middle - _AROUND, middle + _AROUND])
        before = None
        was_red = True
        for shot in video.shots(video.times[max(0, first):last]):
            rectangle = layout.rectangle_at(shot.time)
            red = rectangle is not None and is_red(shot, rectangle, viewport)
            if red and not was_red and before is not None:
                return Bracket(0.0, before, shot.time)
            before, was_red = shot.time, red
    return None


def is_red(shot: Shot, rectangle: Rectangle, viewport: tuple[int, int]) -> bool:
    """Whether most of the page is pure red in a frame."""
    small = shot.small_colour(_SMALL_WIDTH).astype(np.int16)
    scale = _SMALL_WIDTH / shot.luma.shape[1]
    rows, columns = (slice(max(0, round(start * scale)), max(0, round((start + size * length) * scale)))
                     for start, size, length in ((rectangle.top, rectangle.height, viewport[1]),
                                                 (rectangle.left, rectangle.width, viewport[0])))
    page = small[rows, columns]
    if not page.size:
        return False
    red = (page[..., 0] > 150) & (page[..., 1] < 90) & (page[..., 2] < 90)
    return float(red.mean()) > _SHARE
