"""A pointer over the page in a video's frames: the differences between frames that it explains.

Screenshots show no pointer, frames do. Where one stood before and is gone later, the later frame and a screenshot are
alike, as if the screenshot were late; where it stands later, they are not. It is known by its looks: what has gone from
one place stands at another.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np

TILE = 16  # pixels at working size, in which frames are compared
CHANGED = 14  # grey levels by which a pixel of two frames differs where the page, or what is over it, does
_SIDE = 3  # tiles: a pointer reaches over no more, in either direction
_MIN_CORRELATION = 0.7  # correlation of what was seen here with what is seen there
_MAX_CONTRAST_CHANGE = 0.5  # of its contrast, by which it may look different there instead, as over another ground
_MIN_CONTRAST = 0.3  # of its contrast with the page: standard deviation of what has looks; an empty place has none
_NEW = 0.3  # of its pixels, that must be seen there: what is white is not, on white
_MIN_SIDE = 3  # pixels: less has no looks


def moved_tiles(gone: np.ndarray, come: np.ndarray, before: np.ndarray, page: np.ndarray, captured: np.ndarray
          ) -> tuple[np.ndarray, np.ndarray]:
    """Of tiles in which a frame shows something before that neither a later one nor the screenshot does, and of those
    in which only the later one does: those that a pointer left, and those in which it is then (all rows x columns, true
    or false)."""
    left, arrived = np.zeros_like(gone), np.zeros_like(come)
    clusters = list(_clusters(come))
    for cluster in _clusters(gone) if clusters else ():
        if thing := _Overlay.in_tiles(cluster, before, captured):
            destinations = [there for there in clusters if thing.is_shown_in(there, before, page, captured)]
            if destinations:
                left |= cluster
                arrived |= np.any(destinations, axis=0)
    return left, arrived


def heaviest(tiles: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Of some tiles those that stand together as a pointer may, and weigh most."""
    return max(_clusters(tiles), key=lambda cluster: weights[cluster].sum(), default=np.zeros_like(tiles))


def _clusters(tiles: np.ndarray) -> Iterator[np.ndarray]:
    """Tiles that stand together as those that a pointer covers."""
    count, labels = cv2.connectedComponents(tiles.astype(np.uint8))
    for label in range(1, count):
        if may_be(cluster := labels == label):
            yield cluster


def may_be(tiles: np.ndarray) -> bool:
    """Whether tiles stand together as those that a pointer covers."""
    rows, columns = np.nonzero(tiles)
    return bool(len(rows) and max(np.ptp(rows), np.ptp(columns)) < _SIDE)


def _pixels(tiles: np.ndarray, margin: tuple[int, int] = (0, 0)) -> tuple[slice, slice]:
    """Rows and columns of the pixels of tiles, and of some around them."""
    rows, columns = (slice(max(0, int(ends.min()) * TILE - more), (int(ends.max()) + 1) * TILE + more)
                     for ends, more in zip(np.nonzero(tiles), margin, strict=True))
    return rows, columns


@dataclass(frozen=True)
class _Overlay:
    """What a frame shows over the page: its pixels, which of them are its own, its contrast with the page (grey levels,
    root mean square), and the row and column at which it stands."""

    pixels: np.ndarray
    own: np.ndarray
    contrast: float
    origin: tuple[int, int]

    @classmethod
    def in_tiles(cls, tiles: np.ndarray, before: np.ndarray, captured: np.ndarray) -> "_Overlay | None":
        """What stands in these tiles; None when nothing does that has looks."""
        part = _pixels(tiles)
        difference = cv2.absdiff(before[part], captured[part])
        own = difference > CHANGED
        if not own.any():
            return None
        rows, columns = (slice(ends.min(), ends.max() + 1) for ends in np.nonzero(own))
        pixels = before[part][rows, columns]
        contrast = float(np.sqrt((difference[own].astype(np.float32) ** 2).mean()))
        if min(pixels.shape) < _MIN_SIDE or pixels.std() < _MIN_CONTRAST * contrast:
            return None
        return cls(pixels, own[rows, columns].astype(np.float32), contrast,
                   (part[0].start + rows.start, part[1].start + columns.start))

    def is_shown_in(self, tiles: np.ndarray, before: np.ndarray, page: np.ndarray, captured: np.ndarray) -> bool:
        """Whether it is what a later frame shows in these tiles, and neither the one before nor the screenshot does."""
        part = _pixels(tiles, self.pixels.shape)
        there = page[part]
        if any(side < own for side, own in zip(there.shape, self.pixels.shape, strict=True)):
            return False
        new = np.minimum(cv2.absdiff(there, captured[part]), cv2.absdiff(there, before[part])) > CHANGED
        size = self.own.sum()
        distance = np.sqrt(np.maximum(cv2.matchTemplate(there, self.pixels, cv2.TM_SQDIFF, mask=self.own), 0) / size)
        similarity = np.maximum(cv2.matchTemplate(there, self.pixels, cv2.TM_CCOEFF_NORMED),
                           1 - distance / self.contrast * (1 - _MIN_CORRELATION) / _MAX_CONTRAST_CHANGE)
        similarity[cv2.matchTemplate(new.astype(np.float32), self.own, cv2.TM_CCORR) < _NEW * size] = -1
        top, left = (self.origin[axis] - part[axis].start for axis in (0, 1))
        if top > -_MIN_SIDE and left > -_MIN_SIDE:  # it has not moved
            similarity[max(0, top - _MIN_SIDE):top + _MIN_SIDE, max(0, left - _MIN_SIDE):left + _MIN_SIDE] = -1
        return bool(similarity.max() >= _MIN_CORRELATION)
