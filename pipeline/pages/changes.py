"""Changes between two screenshots of one page: the few rectangles in which pixels differ."""

from typing import TypedDict

import cv2
import numpy as np

from recorder.pictures import decode_picture
from recorder.reader import Recording
from schemas.types.recordings import Box

MAX_AREAS = 6  # rectangles
_NOISE = 24  # of 255: what a lossy picture, or the edge of a letter drawn again, differs by
_CELL = 8  # pixels; cells are what is joined
_MAX_NOISE_PIXELS = 3  # changed pixels of a cell, fewer are noise
_MERGE_DISTANCE = 2  # cells around a changed one; where those of two meet, they are one rectangle's
_COMPARED = 48  # rectangles that are compared with each other
_Area = tuple[int, int, int, int]  # left, top, right, bottom


class Change(TypedDict):
    """Rectangles in CSS pixels, the largest first, and the share of the picture that they cover, from 0 to 1."""

    boxes: list[Box]
    share: float


def changed_areas_of(recording: Recording, before: str, after: str, width: float) -> Change | None:
    """What changed from one screenshot to another, by their blobs; `width`: of the viewport, CSS pixels.

    None where their sizes differ or one cannot be read. Raises InputError for a blob that is missing.
    """
    if before == after:
        return {"boxes": [], "share": 0.0}
    before_pixels, after_pixels = (decode_picture(recording.blob(name)) for name in (before, after))
    if before_pixels is None or after_pixels is None or before_pixels.shape != after_pixels.shape:
        return None
    areas = changed_areas(before_pixels, after_pixels)
    scale = width / before_pixels.shape[1]
    covered = np.zeros(before_pixels.shape[:2], np.bool_)
    for x, y, across, down in areas:
        covered[y:y + down, x:x + across] = True
    boxes: list[Box] = [{"x": x * scale, "y": y * scale, "width": across * scale, "height": down * scale}
                        for x, y, across, down in areas]
    return {"boxes": boxes, "share": round(float(covered.mean()), 4)}


def changed_areas(before: np.ndarray, after: np.ndarray, maximum: int = MAX_AREAS) -> list[tuple[int, int, int, int]]:
    """The rectangles (x, y, width, height; pixels) in which two pictures of one size (height × width × 3, uint8)
    differ, the largest first, at most so many: those whose union grows least are made one.
    """
    pixels = cv2.absdiff(before, after).max(axis=2) > _NOISE
    cells = _per_cell(pixels) >= _MAX_NOISE_PIXELS
    if not cells.any():
        return []
    reach = np.ones((2 * _MERGE_DISTANCE + 1,) * 2, np.uint8)
    _, labels = cv2.connectedComponents(cv2.dilate(cells.astype(np.uint8), reach), connectivity=8)
    rows, columns = np.nonzero(cells)
    areas = _merge_areas(_bounds(rows, columns, labels[rows, columns]), maximum)
    height, width = pixels.shape
    rectangles = [(left * _CELL, top * _CELL, min(right * _CELL, width), min(bottom * _CELL, height))
             for left, top, right, bottom in areas]
    tight = [_tight(pixels, area) for area in rectangles]
    return sorted(tight, key=lambda area: (-area[2] * area[3], area))


def _bounds(rows: np.ndarray, columns: np.ndarray, labels: np.ndarray) -> list[_Area]:
    """Left, top, right and bottom of the cells of each label, the last two exclusive."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    sides = (np.minimum.reduceat(columns[order], starts), np.minimum.reduceat(rows[order], starts),
             np.maximum.reduceat(columns[order], starts) + 1, np.maximum.reduceat(rows[order], starts) + 1)
    return [(int(left), int(top), int(right), int(bottom)) for left, top, right, bottom in zip(*sides, strict=True)]


def _merge_areas(areas: list[_Area], maximum: int) -> list[_Area]:
    """At most so many: those that touch are one, then those whose union grows least. Many are thinned out by rows
    first, as each is compared with each."""
    if len(areas) > _COMPARED:
        areas = sorted(areas, key=lambda area: (area[1], area[0]))
        size = -(-len(areas) // _COMPARED)
        areas = [_union(areas[start:start + size]) for start in range(0, len(areas), size)]
    while len(areas) > 1:
        cost, merge_first, merge_second = min((_growth(first, second), i, j) for i, first in enumerate(areas)
                               for j, second in enumerate(areas[:i]))
        if cost > 0 and len(areas) <= maximum:
            break
        areas = [area for index, area in enumerate(areas) if index not in (merge_first, merge_second)] + [
            _union([areas[merge_first], areas[merge_second]])]
    return areas


def _union(areas: list[_Area]) -> _Area:
    lefts, tops, rights, bottoms = zip(*areas, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def _growth(first: _Area, second: _Area) -> int:
    """By how many cells the union of two is larger than both; not more than 0 where they overlap by as much."""
    return _size(_union([first, second])) - _size(first) - _size(second)


def _size(area: _Area) -> int:
    return (area[2] - area[0]) * (area[3] - area[1])


def _tight(pixels: np.ndarray, area: _Area) -> tuple[int, int, int, int]:
    """The changed pixels of an area, as x, y, width and height."""
    left, top, right, bottom = area
    inside = pixels[top:bottom, left:right]
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    return (left + int(columns[0]), top + int(rows[0]), int(columns[-1] - columns[0]) + 1, int(rows[-1] - rows[0]) + 1)


def _per_cell(pixels: np.ndarray) -> np.ndarray:
    """How many pixels are set in each cell; cells at the right and lower edge may be smaller."""
    height, width = pixels.shape
    padded = np.zeros((-(-height // _CELL) * _CELL, -(-width // _CELL) * _CELL), np.uint8)
    padded[:height, :width] = pixels
    rows, columns = padded.shape[0] // _CELL, padded.shape[1] // _CELL
    return padded.reshape(rows, _CELL, columns, _CELL).sum(axis=(1, 3), dtype=np.int32)
