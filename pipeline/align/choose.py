"""Which frame shows the page right before an action, and whether the screenshot that was taken shows the same.

Compared by tiles. In what the video itself shows as unchanged, compression leaves the same traces in every frame; so
where two frames differ, something changed, and a screenshot that is like the later one there was taken too late.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np

from .pictures import Picture
from .rectangle import Rectangle
from .ssim import ssim
from .video import Video

LATER = (0.12, 0.3, 0.5, 0.8, 1.2)  # seconds after the action at which a late screenshot may have been taken
_UNSURE = 0.03  # seconds by which the clock may be wrong
_TILE = 16  # pixels at working size
_CHANGED = 4.0  # grey levels, mean over a tile, by which frames differ where the page changed
_LARGE = 4  # tiles: more than a pointer covers
_CLEAR = 0.45  # of a change, by which a screenshot must be nearer to one side
_LIKE, _NOISE = 0.5, 2.0  # of a change, and grey levels, by which a screenshot may differ from the side it is on
_WRONG = 5.0  # grey levels, mean over a tile, by which a better screenshot may be worse anywhere


@dataclass
class View:
    """The page as frames show it around one action.

    `number`: of the frame that is shown at the action's time. `fresh`: the clock says that this frame came up so shortly
    before that the one before may be the right one. `newer`: the screenshot is said to be painted after that frame.
    """

    number: int
    fresh: bool = False
    newer: bool = False
    near: dict[int, np.ndarray] = field(default_factory=dict)
    later: list[np.ndarray] = field(default_factory=list)


@dataclass(frozen=True)
class Verdict:
    """What the video says of an action: the chosen frame, how alike the screenshot and it are (SSIM; None without a
    screenshot), whether the screenshot was taken too late, and the blob of a captured one that fits, if there is."""

    number: int
    similarity: float | None
    late: bool
    better: str | None


def view_of(video: Video, time: float, painted: float | None) -> tuple[View, np.ndarray, np.ndarray]:
    """For an action at a video time, and its screenshot said to be painted at another: an empty view, the times of the
    frames near the action, and of those later."""
    number = video.number_at(time)
    shown = video.times[max(number, 0)]
    view = View(number, bool(time - shown < _UNSURE), painted is not None and bool(shown < painted <= time))
    return view, video.times[max(0, number - 1):number + 2], video.around(np.array([time + step for step in LATER]))


def judge(view: View, picture: Picture | None, neighbours: Sequence[Picture], rectangle: Rectangle,
          frame: tuple[int, int], viewport: tuple[int, int], shape: tuple[int, int]) -> Verdict:
    """Choose the last frame that shows the page before the action, and hold the screenshot against it.

    `neighbours`: other captured screenshots, the likeliest first.
    """
    seen = rectangle.seen(viewport, frame, shape)
    pages = {number: page[seen] for number, page in view.near.items()}
    if min(next(iter(pages.values())).shape) < _TILE:
        return Verdict(view.number, None, False, None)
    usable = [other for other in neighbours if other.viewport == viewport and not other.blank
              and (picture is None or other.name != picture.name)]
    if picture is None or picture.blank:
        better = _fitting(pages[view.number], None, None, usable, seen)
        return Verdict(view.number, None, False, better)
    taken = picture.grey[seen]
    number = _step_back(view, pages, taken)
    before = pages[number]
    similarity = ssim(taken, before)
    rightful = [before, *([pages[number + 1]] if view.newer and number + 1 in pages else [])]
    wrong = _late_tiles(taken, rightful, [page[seen] for page in view.later])
    if wrong is None or not _is_explained(wrong, taken, before, usable, seen):
        return Verdict(number, similarity, False, None)
    return Verdict(number, similarity, True, _fitting(before, taken, wrong, usable, seen))


def suspicious(page: np.ndarray, picture: Picture, seen: tuple[slice, slice]) -> bool:
    """Whether a screenshot differs from a frame anywhere by more than compression explains."""
    difference = _tiles(picture.grey[seen], page[seen])
    return bool(difference.max() > 3 * float(np.median(difference)) + 5)


def _tiles(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Mean difference of two pictures in each tile, grey levels."""
    rows, columns = (max(1, round(side / _TILE)) for side in one.shape)
    return cv2.resize(cv2.absdiff(one, other), (columns, rows), interpolation=cv2.INTER_AREA).astype(np.float32)


def _step_back(view: View, pages: Mapping[int, np.ndarray], taken: np.ndarray) -> int:
    """The clock may be a frame off: when the frame already shows what followed, take the one before."""
    number = view.number
    if not view.fresh or number - 1 not in pages:
        return number
    now, before = pages[number], pages[number - 1]
    change = _tiles(now, before)
    there = change > _CHANGED
    gain = (_tiles(taken, now) - _tiles(taken, before))[there].sum()
    return number - 1 if there.any() and gain > _CLEAR * change[there].sum() else number


def _late_tiles(taken: np.ndarray, rightful: Sequence[np.ndarray], later: Sequence[np.ndarray]) -> np.ndarray | None:
    """Tiles (rows x columns, true or false) in which the screenshot shows what came later; None when it does not.

    `rightful`: pages that it may show, the one before the action first.
    """
    before = rightful[0]
    from_before = np.minimum.reduce([_tiles(taken, page) for page in rightful])
    best: tuple[float, np.ndarray] | None = None
    for page in later:
        change = _tiles(page, before)
        there = change > _CHANGED
        if not there.any():
            continue
        from_later = _tiles(taken, page)
        lean = np.where(there, (from_before - from_later) / np.maximum(change, 1), 0)
        late = (lean > _CLEAR) & (from_later < _LIKE * change + _NOISE)
        good = (lean < -_CLEAR) & (from_before < _LIKE * change + _NOISE)
        weight = float(change[late].sum() - 1.5 * change[good].sum())
        if late.any() and weight > 0 and (best is None or weight > best[0]):
            best = weight, late
    return best[1] if best else None


def _is_explained(wrong: np.ndarray, taken: np.ndarray, before: np.ndarray, others: Sequence[Picture],
                  seen: tuple[slice, slice]) -> bool:
    """Whether what the frame shows there is the page, not a pointer of the meeting tool over it.

    A change too large for a pointer is the page's; of a small one, some other screenshot must show the same.
    """
    if wrong.sum() >= _LARGE:
        return True
    from_before = _tiles(taken, before)
    return any((_tiles(other.grey[seen], before)[wrong] < 0.5 * from_before[wrong]).all() for other in others)


def _fitting(before: np.ndarray, taken: np.ndarray | None, wrong: np.ndarray | None, others: Sequence[Picture],
             seen: tuple[slice, slice]) -> str | None:
    """The captured screenshot that shows what the frame shows; None when none does."""
    found: list[tuple[float, str]] = []
    for other in others:
        grey = other.grey[seen]
        difference = _tiles(grey, before)
        if taken is None:
            fits = difference.max() < 3 * float(np.median(difference)) + 8
        else:
            from_taken = _tiles(taken, before)
            fits = (difference[wrong] < 0.5 * from_taken[wrong] + 1).all() and (
                difference - from_taken)[~wrong].max(initial=0) < _WRONG
        if fits:
            found.append((float(difference.mean()), other.name))
    return min(found)[1] if found else None
