"""Where two pictures differ, tile by tile, and which of them a third one shows there.

Compared by tiles, as compression, a caret or a pointer changes little of a page.
"""

from dataclasses import dataclass

import cv2
import numpy as np

from .pointer import CHANGED, TILE

_LEAST = 4  # changed pixels that a tile needs to have a say
_LIKE = 0.5  # of a change, by which a picture may differ from the side that it is on
NOISE = 4.0  # grey levels that compression adds to that
_BLUR = (3, 3)  # pixels


@dataclass(frozen=True)
class Seen:
    """A page as far as frames show it, black where something covers it; and blurred: a line that is sharp in a
    screenshot is spread over its neighbours in a frame. Rows x columns, grey."""

    sharp: np.ndarray
    soft: np.ndarray

    @classmethod
    def of(cls, page: np.ndarray) -> "Seen":
        """Such a page, blurred."""
        return cls(page, cv2.blur(page, _BLUR))


@dataclass(frozen=True)
class Sides:
    """Tiles in which two pictures differ: how much in all, and by how much a third differs from either, there."""

    apart: np.ndarray
    to_one: np.ndarray
    to_other: np.ndarray
    counts: np.ndarray

    @property
    def one(self) -> np.ndarray:
        """Tiles in which the third picture shows what the one does."""
        return (self.to_one < self.to_other) & (self.to_one < _LIKE * self.apart + NOISE * self.counts)

    @property
    def other(self) -> np.ndarray:
        """Tiles in which it shows what the other does."""
        return (self.to_other < self.to_one) & (self.to_other < _LIKE * self.apart + NOISE * self.counts)


def sides_of(one_page: Seen, other_page: Seen, third_page: Seen) -> Sides | None:
    """On which side the third page is, where the two differ; None where they do not."""
    one, other, third = one_page.soft, other_page.soft, third_page.soft
    apart = cv2.absdiff(one, other)
    mask = cv2.compare(apart, CHANGED, cv2.CMP_GT)  # type: ignore[call-overload]  # its types know no scalars
    left, top, width, height = cv2.boundingRect(mask)
    if not width:
        return None
    left, top, right, bottom = left // TILE, top // TILE, -(-(left + width) // TILE), -(-(top + height) // TILE)
    part = slice(top * TILE, bottom * TILE), slice(left * TILE, right * TILE)
    mask = mask[part]
    counts = sums(mask) / 255
    if counts.max() < _LEAST:
        return None
    counts[counts < _LEAST] = 0
    big = cv2.resize(counts, (counts.shape[1] * TILE, counts.shape[0] * TILE), interpolation=cv2.INTER_NEAREST)
    used_tiles = cv2.compare(big, 0, cv2.CMP_GT)  # type: ignore[call-overload]  # the same
    used = cv2.bitwise_and(mask, used_tiles[:mask.shape[0], :mask.shape[1]])
    third = third[part]

    def whole(tiles: np.ndarray) -> np.ndarray:
        return cv2.copyMakeBorder(tiles, top, -(-one.shape[0] // TILE) - bottom, left,
                                  -(-one.shape[1] // TILE) - right, cv2.BORDER_CONSTANT, value=0)

    return Sides(*(whole(tiles) for tiles in (
        sums(cv2.bitwise_and(apart[part], used)), sums(cv2.bitwise_and(cv2.absdiff(one[part], third), used)),
        sums(cv2.bitwise_and(cv2.absdiff(other[part], third), used)), counts)))


def sums(pixels: np.ndarray) -> np.ndarray:
    """Sums over tiles."""
    rows, columns = (-(-side // TILE) for side in pixels.shape)
    padded = np.zeros((rows * TILE, columns * TILE), np.float32)
    padded[:pixels.shape[0], :pixels.shape[1]] = pixels
    return cv2.resize(padded, (columns, rows), interpolation=cv2.INTER_AREA) * TILE ** 2
