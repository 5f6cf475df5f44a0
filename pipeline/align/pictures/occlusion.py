"""Areas that cover the page in most frames: thumbnails of a meeting, bars of a window. Found where frames differ from
the screenshots that they show otherwise."""

from collections.abc import Sequence

import cv2
import numpy as np

from .screenshots import work_shape

_SMALL = 5  # times smaller than working size: small enough that a video's blur is no difference
_MIN_PAIRS = 5  # pairs of frame and screenshot that must have been compared
_BLUR = 3  # pixels at working size over which a video's traces are evened out
_FILLED = 0.4  # of the fullest row or column: less is not what covers, but chance
_MARGIN = 2  # pixels at working size that coding spoils around it
_COVERED = 14  # grey levels by which most frames differ where something covers the page


def small_shape(viewport: tuple[int, int]) -> tuple[int, int]:
    """Rows and columns of a page of this viewport, small."""
    rows, columns = work_shape(viewport)
    return max(8, rows // _SMALL), max(8, columns // _SMALL)


def small(page: np.ndarray, viewport: tuple[int, int]) -> np.ndarray:
    """A page of this viewport, small."""
    return cv2.resize(page, small_shape(viewport)[::-1], interpolation=cv2.INTER_AREA)


def covered_mask(differences: Sequence[np.ndarray], viewport: tuple[int, int], visible: tuple[slice, slice]
            ) -> np.ndarray | None:
    """Pixels at working size (rows x columns, true or false) that something covers; None when there is too little to
    tell. `differences`: in grey levels, of frames and screenshots, small, of the part `visible` of the page."""
    if len(differences) < _MIN_PAIRS:
        return None
    mask: np.ndarray = np.zeros(small_shape(viewport), np.uint8)
    mask[visible] = np.median(differences, axis=0) > _COVERED
    mask = cv2.dilate(cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((2, 2))), np.ones((3, 3)))
    return cv2.resize(mask, work_shape(viewport)[::-1], interpolation=cv2.INTER_NEAREST).astype(bool)


def tighten_mask(mask: np.ndarray, pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """A mask whose regions end where frames begin to be like the screenshots that they show, which small pictures tell
    only roughly. `pairs`: screenshots and frames at working size. What covers a page is rectangular."""
    tight = np.zeros_like(mask)
    count, labels, boxes, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    for label in range(1, count):
        left, top, width, height = boxes[label][:4]
        part = slice(top, top + height), slice(left, left + width)
        differences = [cv2.blur(cv2.absdiff(picture[part], page[part]), (_BLUR, _BLUR)) for picture, page in pairs]
        differs = (np.median(differences, axis=0) > _COVERED) & (labels[part] == label)
        rows, columns = (np.nonzero(differs.sum(axis) > _FILLED * differs.sum(axis).max())[0] for axis in (1, 0))
        if len(rows):
            edges = [slice(max(0, ends[0] - _MARGIN), ends[-1] + 1 + _MARGIN) for ends in (rows, columns)]
            tight[part][edges[0], edges[1]] = True
    return tight & mask
