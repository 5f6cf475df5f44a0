"""Differences of two pictures by tile, and which of the two a third one matches there.

Compared by tiles, as compression, a caret or a pointer changes little of a page.
"""

from dataclasses import dataclass

import cv2
import numpy as np

from .pointer import CHANGED, TILE

_MIN_CHANGED_PIXELS = 4  # changed pixels that a tile needs to have a say
_MAX_DEVIATION = 0.5  # of a change, by which a picture may differ from the side that it is on
NOISE = 4.0  # grey levels that compression adds to that
_BLUR = (3, 3)  # pixels


@dataclass(frozen=True)
class VisiblePage:
    """A page as far as frames show it, black where something covers it; and blurred: a line that is sharp in a
    screenshot is spread over its neighbours in a frame. Rows x columns, grey."""

    sharp: np.ndarray
    soft: np.ndarray

    @classmethod
    def from_page(cls, page: np.ndarray) -> "VisiblePage":
        """Such a page, blurred."""
        return cls(page, cv2.blur(page, _BLUR))


@dataclass(frozen=True)
class TileComparison:
    """Tiles in which two pictures differ: how much in all, and by how much a third differs from either, there."""

    difference: np.ndarray
    to_first: np.ndarray
    to_second: np.ndarray
    counts: np.ndarray

    @property
    def like_first(self) -> np.ndarray:
        """Tiles in which the third picture shows what the one does."""
        bound = _MAX_DEVIATION * self.difference + NOISE * self.counts
        return (self.to_first < self.to_second) & (self.to_first < bound)

    @property
    def like_second(self) -> np.ndarray:
        """Tiles in which it shows what the other does."""
        bound = _MAX_DEVIATION * self.difference + NOISE * self.counts
        return (self.to_second < self.to_first) & (self.to_second < bound)


def compare_tiles(one_page: VisiblePage, other_page: VisiblePage, third_page: VisiblePage) -> TileComparison | None:
    """On which side the third page is, where the two differ; None where they do not."""
    first, second, third_soft = one_page.soft, other_page.soft, third_page.soft
    difference = cv2.absdiff(first, second)
    mask = cv2.compare(difference, CHANGED, cv2.CMP_GT)  # type: ignore[call-overload]  # its types know no scalars
    left, top, width, height = cv2.boundingRect(mask)
    if not width:
        return None
    left, top, right, bottom = left // TILE, top // TILE, -(-(left + width) // TILE), -(-(top + height) // TILE)
    part = slice(top * TILE, bottom * TILE), slice(left * TILE, right * TILE)
    mask = mask[part]
    counts = sums(mask) / 255
    if counts.max() < _MIN_CHANGED_PIXELS:
        return None
    counts[counts < _MIN_CHANGED_PIXELS] = 0
    big = cv2.resize(counts, (counts.shape[1] * TILE, counts.shape[0] * TILE), interpolation=cv2.INTER_NEAREST)
    used_tiles = cv2.compare(big, 0, cv2.CMP_GT)  # type: ignore[call-overload]  # the same
    used = cv2.bitwise_and(mask, used_tiles[:mask.shape[0], :mask.shape[1]])
    third_soft = third_soft[part]

    def padded(tiles: np.ndarray) -> np.ndarray:
        return cv2.copyMakeBorder(tiles, top, -(-first.shape[0] // TILE) - bottom, left,
                                  -(-first.shape[1] // TILE) - right, cv2.BORDER_CONSTANT, value=0)

    return TileComparison(*(padded(tiles) for tiles in (
        sums(cv2.bitwise_and(difference[part], used)),
        sums(cv2.bitwise_and(cv2.absdiff(first[part], third_soft), used)),
        sums(cv2.bitwise_and(cv2.absdiff(second[part], third_soft), used)), counts)))


def sums(pixels: np.ndarray) -> np.ndarray:
    """Sums over tiles."""
    rows, columns = (-(-side // TILE) for side in pixels.shape)
    padded = np.zeros((rows * TILE, columns * TILE), np.float32)
    padded[:pixels.shape[0], :pixels.shape[1]] = pixels
    return cv2.resize(padded, (columns, rows), interpolation=cv2.INTER_AREA) * TILE ** 2
