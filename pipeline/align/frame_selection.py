"""Selects the frame right before an action, and compares the original screenshot with it.

Compared by tiles. In what the video itself shows as unchanged, compression leaves the same traces in every frame; so
where two frames differ, something changed, and a screenshot that is like the later one there was taken too late.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

import cv2
import numpy as np

from .pictures import pointer
from .pictures.pointer import TILE
from .pictures.screenshots import Picture
from .pictures.ssim import ssim
from .pictures.tile_comparison import NOISE, VisiblePage, compare_tiles, sums
from .pictures.video import Video

LATER = (0.2, 0.5, 0.65, 1.0)  # seconds after the action at which a late screenshot may have been taken
_UNSURE = 0.03  # seconds by which the clock may be wrong; it is rather early than late
_LAG = 0.12  # seconds within which most pages show what a person did
_CHANGE_FOLLOWS_S = 0.05  # seconds before which they hardly do
_SMALL = 600.0  # grey levels, summed over pixels: less is a caret, not another state of the page
_LEFT_OUT = 20_000.0  # grey levels, summed over pixels: more is not left out by a video's coding
_MOSTLY = 0.7  # of a change, that another screenshot must explain
_AGAINST = 0.1  # of all that changed, which may speak against a better picture
_MIN_CHANGED_SHARE = 0.1  # of the page, that has changed: then all of it is taken from a frame
_BESIDE = 2  # other screenshots, those before and after
_OPENED = 32  # pictures that are kept as they were compared: neighbouring actions have the same neighbours
_COARSE = 4  # times smaller: pictures for a first look


class Lateness(IntEnum):
    """Whether a screenshot was taken too late; perhaps: it was, or a pointer was there that is gone."""

    NO = 0
    PERHAPS = 1
    CERTAIN = 2


@dataclass
class View:
    """The page as frames show it around one action.

    `number`: of the frame shown at the time of the action. `fresh`: the clock says that this frame came up so shortly
    before that the one before may be the right one. `newer`: the screenshot is said to be painted after that frame.
    `hasty`: the person had done something else so shortly before that this frame may not show what came of it.
    `change_follows`: the frame after it comes so shortly after the action that it cannot show the action's own effect.
    """

    number: int
    fresh: bool = False
    newer: bool = False
    hasty: bool = False
    change_follows: bool = False
    nearby: dict[int, np.ndarray] = field(default_factory=dict)
    later: list[np.ndarray] = field(default_factory=list)


@dataclass(frozen=True)
class Verdict:
    """What the video says of an action: the chosen frame, how alike the screenshot and it are (SSIM; None without a
    screenshot), whether the screenshot was taken too late, and the blob of a captured one that fits better, if there
    is, with its SSIM. `page`: the frame that takes its place when none fits; usually the chosen one. `certain`: not
    only something as small as a pointer speaks for its being late. `part`: tiles of what is seen of the page that are
    to be taken from that frame; None: all of it. `telling`: the frame shows the screenshot, and neither the one before
    nor the one after it."""

    number: int
    similarity: float | None
    late: bool
    better: str | None
    better_similarity: float = 0.0
    page: int = -1
    certain: bool = True
    part: np.ndarray | None = None
    telling: bool = False


def view_of(video: Video, time: float, painted: float | None, action: float | None
            ) -> tuple[View, np.ndarray, np.ndarray]:
    """For an action at a video time, its screenshot said to be painted at another, and the last thing done before it:
    an empty view, the times of the frames near the action, and of those later."""
    number = video.number_at(time)
    shown = video.times[max(number, 0)]
    newer = painted is not None and shown - _UNSURE < painted <= time + _UNSURE
    hasty = action is not None and shown - _LAG < action
    change_follows = number + 1 < len(video.times) and video.times[number + 1] < time + _CHANGE_FOLLOWS_S
    view = View(number, bool(time - shown < _UNSURE / 2), bool(newer), bool(hasty), bool(change_follows))
    nearby = video.times[max(0, number - view.fresh):number + 1 + (view.newer or view.hasty)]
    return view, nearby, video.around(np.array([time + step for step in LATER]))


class Window:
    """What frames show of pages of one viewport. `seen`: rows and columns, at working size, that lie inside the frame;
    `hidden`: pixels that something covers (rows x columns, true or false)."""

    def __init__(self, visible: tuple[slice, slice], hidden: np.ndarray):
        self.seen, self.shape = visible, hidden.shape
        self._visible = np.where(hidden[visible], 0, 255).astype(np.uint8)
        self.opened = functools.lru_cache(_OPENED)(self._mask_screenshot)

    def masked_page(self, page: np.ndarray) -> VisiblePage:
        """A page at working size without what is not seen of it."""
        return VisiblePage.from_page(cv2.bitwise_and(np.ascontiguousarray(page[self.seen]), self._visible))

    def _mask_screenshot(self, picture: Picture) -> "OtherScreenshot":
        opened = self.masked_page(picture.grey)
        return OtherScreenshot(picture.name, opened, _small(opened))


@dataclass(frozen=True)
class OtherScreenshot:
    """Another captured screenshot: its blob, and what is seen of it, also small."""

    name: str
    seen: VisiblePage
    small: np.ndarray


def judge(view: View, picture: Picture | None, neighbours: Sequence[Picture], window: Window
          ) -> tuple[Verdict, Verdict]:
    """Choose the last frame that shows the page before the action, and hold the screenshot against it: if what it says
    of its own time is to be trusted, and if not.

    `neighbours`: other captured screenshots, the likeliest first.
    """
    pages = {number: window.masked_page(page) for number, page in view.nearby.items()}
    if min(pages[view.number].sharp.shape) < TILE:
        return (Verdict(view.number, None, False, None),) * 2
    others = [window.opened(other) for other in neighbours if other.shape == window.shape and not other.blank
              and (picture is None or other.name != picture.name)]
    if picture is None or picture.blank or picture.shape != window.shape:
        return (Verdict(view.number, None, False, _most_similar(pages[view.number], others)),) * 2
    captured = window.masked_page(picture.grey)
    number = _step_back(view, pages, captured)
    shown = _Comparison(number, pages, [window.masked_page(page) for page in view.later], others)
    trusting = strict = _decide(view, captured, shown)
    if view.newer:
        strict = _decide(replace(view, newer=False), captured, shown)
    greys = {picture.name: picture.grey} | {
        other.name: other.grey for other in neighbours if other.name in (trusting.better, strict.better)}
    similarities: dict[str | None, float] = {
        name: ssim(grey[window.seen], view.nearby[number][window.seen]) for name, grey in greys.items()}
    trusting, strict = (replace(verdict, similarity=similarities[picture.name],
                                better_similarity=similarities.get(verdict.better, 0.0))
                        for verdict in (trusting, strict))
    return trusting, strict


@dataclass(frozen=True)
class _Comparison:
    """What is to be seen around an action: the chosen frame's number, frames by number, those later, and other
    screenshots."""

    number: int
    pages: Mapping[int, VisiblePage]
    later: Sequence[VisiblePage]
    others: Sequence[OtherScreenshot]


def _decide(view: View, captured_page: VisiblePage, shown: _Comparison) -> Verdict:
    """Whether a screenshot was taken too late, and what is to take its place."""
    number, pages, later, others = shown.number, shown.pages, shown.later, shown.others
    next_page = pages.get(number + 1)
    between = [pages[number], *([next_page] if next_page is not None else [])]
    page = number + (view.hasty and view.change_follows and not view.newer and next_page is not None)
    rightful, captured = between if view.newer else [pages[page]], [other.seen for other in others]
    better = _best_other(captured_page, rightful, others)
    if better and _is_left_out(captured_page, better.seen, rightful[0], later):
        better = None
    late, tiles = _is_late(captured_page, rightful, later, captured)
    late = Lateness.CERTAIN if better else late
    if late and view.hasty and not view.newer and not _best_other(captured_page, between, others):
        late = min(late,
                   _is_late(captured_page, between, later, captured)[0])  # it may show what neither frame shows alone
    if late and better and not _is_late(better.seen, rightful, later, captured)[0]:
        return Verdict(number, None, True, better.name)
    telling = not late and len(others) >= _BESIDE and all(
        _beats(captured_page, other.seen, rightful[0]) for other in others[:_BESIDE])
    return Verdict(number, None, bool(late), None, page=page, certain=late != Lateness.PERHAPS, part=_part(tiles),
                   telling=telling)


def _step_back(view: View, pages: Mapping[int, VisiblePage], captured: VisiblePage) -> int:
    """The clock may be a frame off: when the frame already shows what followed, take the one before."""
    number = view.number
    if not view.fresh or number - 1 not in pages:
        return number
    sides = compare_tiles(pages[number], pages[number - 1], captured)
    if sides and sides.difference[sides.like_second].sum() > 2 * sides.difference[sides.like_first].sum():
        return number - 1
    return number


def _best_other(captured: VisiblePage, rightful: Sequence[VisiblePage],
                others: Sequence[OtherScreenshot]) -> OtherScreenshot | None:
    """The captured screenshot that the frame speaks for wherever the two differ; None when there is none."""
    best, chosen = captured, None
    small = _small(rightful[0])
    smallest = float(cv2.absdiff(_small(captured), small).mean())
    for other in others:
        if float(cv2.absdiff(other.small, small).mean()) > 1.5 * smallest + 1:
            continue
        if all(_beats(other.seen, best, page) for page in rightful) and (
                chosen is None or all(_beats(other.seen, captured, page) for page in rightful)):
            best, chosen = other.seen, other
    return chosen


def _is_left_out(captured: VisiblePage, better: VisiblePage, before: VisiblePage, later: Sequence[VisiblePage]) -> bool:
    """Whether a small difference is one that the video's coding has left out: no later frame shows it either."""
    sides = compare_tiles(captured, better, before)
    return bool(sides and sides.difference.sum() < _LEFT_OUT
                and not any(_beats(captured, better, page) for page in later))


def _beats(new: VisiblePage, old: VisiblePage, page: VisiblePage) -> bool:
    """Whether a frame speaks for the new picture wherever it differs from the old one."""
    sides = compare_tiles(new, old, page)
    if sides is None:
        return False
    good, bad = sides.difference[sides.like_first].sum(), sides.difference[sides.like_second].sum()
    return bool(good > max(_SMALL, 0.5 * sides.difference.sum()) and bad < _AGAINST * good)


def _is_late(captured: VisiblePage, rightful: Sequence[VisiblePage], later: Sequence[VisiblePage],
             others: Sequence[VisiblePage]
             ) -> tuple[Lateness, np.ndarray]:
    """Whether the screenshot shows what frames show only later. What changed must be the page, not a pointer over it:
    too large for one, or seen as it was in some other screenshot, or in more than one frame. And the tiles in which it
    does (rows x columns, true or false)."""
    before, changes = rightful[0], []
    for page in later:
        sides = compare_tiles(page, before, captured)
        if sides is None:
            continue
        late = sides.like_first
        for other in rightful[1:]:  # what the screenshot may rightly show already
            beside = compare_tiles(page, other, captured)
            late = late & beside.like_first if beside else np.zeros_like(late)
        if late.any():
            changes.append((page, sides, late))
    pointers = [pointer.moved_tiles(late, sides.like_second, before.sharp, page.sharp, captured.sharp)
                for page, sides, late in changes]
    none: Any = np.False_
    left = functools.reduce(np.logical_or, (here for here, _ in pointers), none)
    tiles = functools.reduce(np.logical_or, (late & ~left for _, _, late in changes), np.zeros((1, 1), bool))
    small = 0
    for (_, sides, late), (_, there) in zip(changes, pointers, strict=True):
        late = late & ~left
        if not there.any():  # it stands where it looks different, or came from beside the page
            there = pointer.heaviest(sides.like_second, sides.difference)
        if sides.difference[late].sum() < max(_SMALL, 2 * sides.difference[sides.like_second & ~there].sum()):
            continue
        if left.any() or not pointer.may_be(late):  # there is but one pointer
            return Lateness.CERTAIN, tiles
        for other in others:
            explained = compare_tiles(captured, other, before)
            if explained and (sides.difference[late & explained.like_second].sum()
                              > _MOSTLY * sides.difference[late].sum()):
                return Lateness.CERTAIN, tiles
        small += 1
    return Lateness.PERHAPS if small > 1 else Lateness.NO, tiles


def _part(tiles: np.ndarray) -> np.ndarray | None:
    """Tiles to be taken from a frame, with those around them; None when that is much of the page, or nothing."""
    if not tiles.any() or tiles.mean() > _MIN_CHANGED_SHARE:
        return None
    return cv2.dilate(tiles.astype(np.uint8), np.ones((3, 3), np.uint8)).astype(bool)


def _most_similar(page: VisiblePage, others: Sequence[OtherScreenshot]) -> str | None:
    """The captured screenshot that a frame shows; None when none does."""
    matches = []
    for other in others:
        difference = sums(cv2.absdiff(other.seen.sharp, page.sharp)) / TILE ** 2
        if difference.max() < 3 * min(float(np.median(difference)), NOISE) + 8:
            matches.append((float(difference.mean()), other.name))
    return min(matches)[1] if matches else None


def _small(page: VisiblePage) -> np.ndarray:
    rows, columns = page.sharp.shape
    return cv2.resize(page.sharp, (max(1, columns // _COARSE), max(1, rows // _COARSE)), interpolation=cv2.INTER_AREA)
