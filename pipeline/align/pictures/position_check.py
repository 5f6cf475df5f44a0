"""Whether a page that was cut out of a frame has the same position as in screenshots.

Pages of one session have parts in common: a header, a menu, what an action has not changed. Where these stand in their
places, and as bright, so does the rest. While a window is dragged, or where the layout is wrong, they stand beside them
or are not found; however well the rest of the page looks.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import cv2
import numpy as np

_PART = 32  # pixels at working size: side of a part
_FAR = 6  # pixels to either side, in which a part is looked for
_MIN_CORRELATION = 0.85  # correlation from which on a part is found
_MIN_PROMINENCE = 0.1  # of correlation, by which a place must be better than those two pixels beside it
_PLAIN = 6.0  # standard deviation of grey levels under which a part has no looks
_BRIGHT = 12.0  # grey levels by which the mean of a part may differ and be as bright
_MIN_PARTS = 4  # parts that tell


def is_in_position(page: np.ndarray, pictures: Sequence[np.ndarray], visible: np.ndarray) -> bool | None:
    """Whether what a page has in common with pictures stands in the same place there, and is as bright, rather than
    beside it; None where too little tells. All grey, rows x columns at working size, as is `visible`: what frames show
    of the page, true or false."""
    shifts = Counter(shift for tops in _tops(visible) if (shift := _part_shift(page, pictures, *tops)) is not None)
    here = shifts.pop((0, 0), 0)
    there = max(shifts.values(), default=0)
    return here > there if max(here, there) >= _MIN_PARTS else None


def _tops(visible: np.ndarray) -> Iterator[tuple[int, int]]:
    """First rows and columns of the parts that are seen with what is around them."""
    for top in range(_FAR, visible.shape[0] - _PART - _FAR + 1, _PART):
        for left in range(_FAR, visible.shape[1] - _PART - _FAR + 1, _PART):
            if visible[_around(top, left)].all():
                yield top, left


def _around(top: int, left: int) -> tuple[slice, slice]:
    return slice(top - _FAR, top + _PART + _FAR), slice(left - _FAR, left + _PART + _FAR)


def _part_shift(page: np.ndarray, pictures: Sequence[np.ndarray], top: int, left: int) -> tuple[int, int] | None:
    """How far (rows, columns) from its place a part of the pictures stands in the page; None where it is not found, or
    in several places, or in another tone."""
    around = page[_around(top, left)]
    best, shift = _MIN_CORRELATION, None
    for picture in pictures:
        part = picture[top:top + _PART, left:left + _PART]
        if part.std() < _PLAIN:
            continue
        likeness = cv2.matchTemplate(around, part, cv2.TM_CCOEFF_NORMED)
        row, column = divmod(int(likeness.argmax()), likeness.shape[1])
        shown = around[row:row + _PART, column:column + _PART]
        if (likeness[row, column] > best and _is_prominent(likeness, row, column)
                and abs(float(shown.mean()) - float(part.mean())) <= _BRIGHT):
            best, shift = float(likeness[row, column]), (row - _FAR, column - _FAR)
    return shift


def _is_prominent(likeness: np.ndarray, row: int, column: int) -> bool:
    if not (2 <= row < likeness.shape[0] - 2 and 2 <= column < likeness.shape[1] - 2):
        return False
    beside = likeness[[row - 2, row + 2, row, row], [column, column, column - 2, column + 2]]
    return bool(likeness[row, column] - beside.max() > _MIN_PROMINENCE)
