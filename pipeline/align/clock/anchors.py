"""Anchors: times at which, by the recording, the screen changed, and at which the video shows the same change.

A screenshot was painted at a known time. Where it differs most from the one before, a few small tiles are looked at in
the frames around: the frame from which on they show the new picture brackets the moment between itself and its
forerunner. A tile costs next to nothing, however large the frame.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np

from pipeline.align.layout.layout import Layout
from pipeline.align.layout.rectangle import Rectangle
from pipeline.align.pictures.screenshots import Picture
from pipeline.align.pictures.video import Shot
from schemas.types.recordings import State

from .coarse_offset import ShownInterval

_TILE = 32  # pixels at working size
_TILES = 3
_CHANGED = 16  # grey levels that make a pixel a changed one
_MIN_CHANGED_PIXELS = 14  # changed pixels that a tile needs
_MAX_DEVIATION = 0.5  # of the change, by which a frame may differ from the new picture and show it
_NEARER = 0.65  # of its difference from the old picture


@dataclass(frozen=True)
class Tile:
    """A part of the page at working size, what it looked like before and after, and which pixels tell the two apart."""

    part: tuple[slice, slice]
    before: np.ndarray
    after: np.ndarray
    mask: np.ndarray
    contrast: float


@dataclass(frozen=True)
class Anchor:
    """From `time` of the recording on, the tiles show their new look."""

    time: float
    viewport: tuple[int, int]
    shape: tuple[int, int]
    tiles: tuple[Tile, ...]
    weight: float = 1.0

    def shows(self, shot: Shot, rectangle: Rectangle) -> bool:
        """Whether most tiles look new in a frame."""
        new = 0
        for tile in self.tiles:
            cut = rectangle.cut(shot, self.viewport, self.shape, tile.part)[tile.mask].astype(np.float32)
            to_new = float(np.abs(cut - tile.after).mean())
            to_old = float(np.abs(cut - tile.before).mean())
            new += to_new < _MAX_DEVIATION * tile.contrast and to_new < _NEARER * to_old
        return new * 2 > len(self.tiles)


@dataclass(frozen=True)
class Bracket:
    """The mark `time` of the recording is in the video later than `after` and not later than `until`."""

    time: float
    after: float
    until: float
    weight: float = 1.0


@dataclass
class Watch:
    """What the frames around a mark have shown so far."""

    anchor: Anchor
    brackets: list[Bracket] = field(default_factory=list)
    _last: float | None = None
    _was_new: bool = True

    def check_frame(self, shot: Shot, layout: Layout) -> None:
        """Take in the next frame; one in which nobody knows where the page is tells nothing, nor does the next."""
        rectangle = layout.rectangle_at(shot.time)
        if rectangle is None:
            self._last = None
            return
        new = self.anchor.shows(shot, rectangle)
        if new and not self._was_new and self._last is not None:
            self.brackets.append(Bracket(self.anchor.time, self._last, shot.time, self.anchor.weight))
        self._last, self._was_new = shot.time, new


def timeline(states: Iterable[tuple[float, State]], pictures: Mapping[str, Picture]) -> tuple[list[ShownInterval],
                                                                                              list[str]]:
    """What was on the screen when, from (time of event, state), by time of painting; and the names of the pictures that
    `Shown` numbers. Where screenshots lie, two may claim the same time.
    """
    names = [name for name, picture in pictures.items() if not picture.blank]
    number = {name: index for index, name in enumerate(names)}
    ends: dict[tuple[float, int], float] = {}
    for time, state in states:
        if state and state["screenshot"] in number:
            start = state["screenshot_time"] if state["screenshot_time"] is not None else time - 0.2
            key = start, number[state["screenshot"]]
            ends[key] = max(ends.get(key, start), time)
    shown: list[ShownInterval] = []
    for (start, picture), end in sorted(ends.items(), key=lambda item: (item[0][0], item[1])):
        if shown and shown[-1].picture == picture:
            shown[-1] = ShownInterval(shown[-1].start, max(end, shown[-1].end), picture)
        else:
            shown.append(ShownInterval(start, end, picture))
    return shown, names


def find_anchors(shown: Sequence[ShownInterval], pictures: Sequence[Picture], layout: Layout, frame: tuple[int, int],
               hidden: Callable[[tuple[int, int]], np.ndarray]) -> list[Anchor]:
    """Marks for the changes between neighbours in time that the frame can show; `hidden`: what is covered, by viewport.

    A screenshot that was taken too late already shows what the next one shows, and hides the moment of the change. So
    each is held against the one before the last as well, tile by tile, with less weight.
    """
    anchors = []
    last: list[tuple[Picture, np.ndarray]] = []
    for entry in shown:
        picture = pictures[entry.picture]
        grey = picture.grey
        visible = np.zeros(picture.shape, bool)
        visible[layout.visible_part(picture.viewport, frame, picture.shape)] = True
        if picture.shape == (covered := hidden(picture.viewport)).shape:
            visible &= ~covered
        for back, (other, before) in enumerate(reversed(last)):
            if other.viewport != picture.viewport:
                continue
            tiles = _tiles(before, grey, visible)
            if not back and tiles:
                anchors.append(Anchor(entry.start, picture.viewport, picture.shape, tiles))
            elif back:
                unseen = [tile for tile in tiles if not _differs(last[-1][1], grey, tile)]
                anchors += [Anchor(entry.start, picture.viewport, picture.shape, (tile,), 1 / len(unseen))
                          for tile in unseen]
        last = [*last[-1:], (picture, grey)]
    return anchors


def _differs(old: np.ndarray, new: np.ndarray, tile: Tile) -> bool:
    if old.shape != new.shape:
        return True
    return float(cv2.absdiff(old[tile.part], new[tile.part])[tile.mask].mean()) > 0.3 * tile.contrast


def _tiles(old: np.ndarray, new: np.ndarray, visible: np.ndarray) -> tuple[Tile, ...]:
    """The tiles in which two pictures differ most, the most different first; none when nothing to speak of does."""
    change = cv2.absdiff(old, new)
    usable = change * visible
    weight = np.minimum(usable, 96).astype(np.float32) * (usable > _CHANGED)
    sums = cv2.boxFilter(weight, -1, (_TILE, _TILE), normalize=False)
    tiles = []
    for _ in range(_TILES):
        y, x = np.unravel_index(int(sums.argmax()), sums.shape)
        top = int(np.clip(y - _TILE // 2, 0, max(0, change.shape[0] - _TILE)))
        left = int(np.clip(x - _TILE // 2, 0, max(0, change.shape[1] - _TILE)))
        part = slice(top, min(top + _TILE, change.shape[0])), slice(left, min(left + _TILE, change.shape[1]))
        mask = usable[part] > _CHANGED
        if mask.sum() < _MIN_CHANGED_PIXELS:
            break
        tiles.append(Tile(part, old[part][mask].astype(np.float32), new[part][mask].astype(np.float32), mask,
                          float(change[part][mask].mean())))
        sums[max(0, y - _TILE):y + _TILE, max(0, x - _TILE):x + _TILE] = 0
    return tuple(tiles)
