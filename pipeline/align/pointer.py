"""A pointer over the page in a video's frames: what it explains of how two frames differ.

Screenshots show no pointer, frames do. Where one stood before and is gone later, the later frame and a screenshot are
alike, as if the screenshot were late; where it stands later, they are not. It is known by its looks: what has gone from
one place stands at another.
"""

from collections.abc import Iterator

import cv2
import numpy as np

TILE = 16  # pixels at working size, in which frames are compared
CHANGED = 14  # grey levels by which a pixel of two frames differs where the page, or what is over it, does
_SIDE = 3  # tiles: a pointer reaches over no more, in either direction
_SAME_THING = 0.7  # correlation of what was seen here with what is seen there
_APART = 0.5  # of its contrast, by which it may look different there instead, as over another ground
_LOOKS = 0.3  # of its contrast with the page: standard deviation of what has looks; an empty place has none
_NEW = 0.3  # of its pixels, that must be seen there: what is white is not, on white
_LEAST_SIDE = 3  # pixels: less has no looks


def moved(gone: np.ndarray, come: np.ndarray, before: np.ndarray, page: np.ndarray, taken: np.ndarray
          ) -> tuple[np.ndarray, np.ndarray]:
    """Of tiles in which a frame shows something before that neither a later one nor the screenshot does, and of those
    in which only the later one does: those that a pointer left, and those in which it is then (all rows x columns, true
    or false)."""
    left, arrived = np.zeros_like(gone), np.zeros_like(come)
    places = list(_clusters(come))
    if not places:
        return left, arrived
    open_part = cv2.resize(np.any(places, axis=0).astype(np.uint8), None, fx=TILE, fy=TILE,
                           interpolation=cv2.INTER_NEAREST)[:page.shape[0], :page.shape[1]].astype(bool)
    new = open_part & (np.minimum(cv2.absdiff(page, taken), cv2.absdiff(page, before)) > CHANGED)
    for cluster in _clusters(gone):
        if place := _place(cluster, new, before, page, taken):
            left |= cluster
            for there in places:
                if there[place].any():
                    arrived |= there
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
    return bool(len(rows)) and max(np.ptp(rows), np.ptp(columns)) < _SIDE


def _place(tiles: np.ndarray, new: np.ndarray, before: np.ndarray, page: np.ndarray, taken: np.ndarray
           ) -> tuple[slice, slice] | None:
    """The tiles in which stands now, where pixels are new, what stood in other ones before; None when it is nowhere
    else."""
    part = tuple(slice(ends.min() * TILE, (ends.max() + 1) * TILE) for ends in np.nonzero(tiles))
    gone = cv2.absdiff(before[part], taken[part]) > CHANGED
    if not gone.any():
        return None
    rows, columns = (slice(ends.min(), ends.max() + 1) for ends in np.nonzero(gone))
    thing, looks = before[part][rows, columns], gone[rows, columns].astype(np.float32)
    height, width = thing.shape
    if min(height, width) < _LEAST_SIDE:
        return None
    contrast = float(np.sqrt((cv2.absdiff(before[part], taken[part])[gone].astype(np.float32) ** 2).mean()))
    if thing.std() < _LOOKS * contrast:
        return None
    apart = np.sqrt(np.maximum(cv2.matchTemplate(page, thing, cv2.TM_SQDIFF, mask=looks), 0) / looks.sum()) / contrast
    alike = np.maximum(cv2.matchTemplate(page, thing, cv2.TM_CCOEFF_NORMED), 1 - apart * (1 - _SAME_THING) / _APART)
    alike[cv2.matchTemplate(new.astype(np.float32), looks, cv2.TM_CCORR) < _NEW * looks.sum()] = -1
    top, left = part[0].start + rows.start, part[1].start + columns.start
    alike[max(0, top - _LEAST_SIDE):top + _LEAST_SIDE, max(0, left - _LEAST_SIDE):left + _LEAST_SIDE] = -1  # no move
    top, left = np.unravel_index(int(alike.argmax()), alike.shape)
    if alike[top, left] < _SAME_THING:
        return None
    return (slice(top // TILE, (top + height - 1) // TILE + 1), slice(left // TILE, (left + width - 1) // TILE + 1))
