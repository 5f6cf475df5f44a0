"""Replaces a late or broken screenshot, never by a worse one.

Another picture must fit the recorded elements at least as well as the one that was taken, and not be dimmed. It must
also be known that the page is where it is looked for in the frame, and as bright: what it has in common with
screenshots is there, or frames long before and after show screenshots there. That it fits the elements better says
nothing of that: they are found in a picture that is a little off, or too bright, as well.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import cv2
import numpy as np

from recorder.pictures import decode_picture
from schemas import InputError

from .clock.scene import Scene
from .pictures.explaining import explained
from .pictures.pointer import CHANGED, TILE, heaviest
from .pictures.position_check import is_in_position
from .pictures.screenshots import full_size
from .pictures.tile_comparison import TileComparison, VisiblePage, compare_tiles
from .turn_window import TurnWindow

Encode = Callable[[np.ndarray], bytes]
UNLIKE = 0.08  # of SSIM below the usual one from which on a picture is not what the frame shows
_DIMMED = 40.0  # grey levels by which all screenshots around are brighter than something that is dimmed
_MIN_PAGE_SHARE = 0.9  # of a page of another time that a frame must show: the rest would be of the screenshot's time
_MIN_PIXELS = 8  # pixels at working size: less is no part of a change
_KNOWN = 0.7  # of what is to be taken in part, that another screenshot must show
_BESIDE = 0.5  # of its weight, by which the rest of the frame may differ clearly
_STRONG = 40.0  # grey levels of a changed pixel at the mean, that are no compression
MIN_EXPLAINING_GAIN = 0.05  # by which a picture explains the elements better than the one taken, to be told by them
_NARROW = 4  # pixels at working size: what is not seen and less wide is the edge of the page
_WORSE = 0.04  # by which another picture explains the elements worse than the one taken


def refuse_worse(scene: Scene, windows: Sequence[TurnWindow], usual: float | None) -> None:
    """Take back captured screenshots that fit better than what was taken, and yet are not what the frame shows, or not
    what the recording says. `usual`: SSIM of good screenshots and their frames."""
    for window in windows:
        verdict, names = window.verdict, {picture.name: picture for picture in window.neighbours}
        if not verdict or not verdict.better or verdict.similarity is None:
            continue
        better = names.get(verdict.better)
        window.gain = _gain(scene, window, full_size(scene.recording, better)) if better else None
        unlike = usual is not None and verdict.better_similarity < usual - UNLIKE
        if unlike or (window.gain or 0.0) < -_WORSE or _may_be_before_its_time(window):
            window.verdict = replace(verdict, better=None)


def cut_pages(scene: Scene, windows: Sequence[TurnWindow], encode: Encode) -> dict[str, bytes]:
    """The page in colour, as a file, for looks whose screenshot no captured one replaces, by their key; those left out
    for which the frame does not show it better."""
    pages: dict[str, bytes] = {}
    due: dict[float, list[TurnWindow]] = {}
    for window in windows:
        verdict = window.verdict
        if verdict and not verdict.better and (verdict.late or window.picture is None or window.picture.blank):
            shown = verdict.number if verdict.page < 0 else verdict.page
            due.setdefault(float(scene.video.times[shown]), []).append(window)
    for shot in scene.video.shots(np.array(sorted(due))):
        for window in due[min(due, key=lambda time: abs(time - shot.time))]:
            cut = scene.layout.pieces[window.spot].rectangle.page(shot.colour(), window.viewport)
            if window.verdict and window.verdict.part is not None and not _is_of_the_page(scene, window, cut):
                window.verdict = replace(window.verdict, late=False)
                continue
            page = _page(scene, window, cut)
            window.gain = _gain(scene, window, cv2.cvtColor(page, cv2.COLOR_BGR2GRAY))
            if window.picture is None or window.picture.blank or (
                    _is_better(scene, window, page) and _is_well_positioned(scene, window, shot.time, cut)):
                pages[window.key] = encode(page)
    return pages


def _page(scene: Scene, window: TurnWindow, shown: np.ndarray) -> np.ndarray:
    """The page as a frame shows it; where the frame's edge cuts it off, something covers it, or nothing has changed,
    as the screenshot that was taken shows it: BGR at the viewport's size."""
    before = window.picture
    captured = None if before is None or before.blank else decode_picture(scene.recording.blob(before.name))
    if captured is None:
        return shown
    captured = cv2.resize(captured, window.viewport, interpolation=cv2.INTER_AREA)
    open_part = _open_part(scene, window) & _due_part(scene, window)
    mask = cv2.resize(open_part.astype(np.uint8), window.viewport, interpolation=cv2.INTER_NEAREST)
    return np.where(mask[..., None] > 0, shown, captured)


def _open_part(scene: Scene, window: TurnWindow) -> np.ndarray:
    """Pixels of the page at working size that frames show: rows x columns, true or false."""
    open_part = np.zeros(window.shape, bool)
    open_part[scene.layout.pieces[window.spot].rectangle.visible_part(window.viewport, scene.video.size,
                                                                      window.shape)] = True
    return open_part & ~scene.hidden(window.viewport, window.spot)


def _may_be_before_its_time(window: TurnWindow) -> bool:
    """Whether the frame may not show yet what came of something that was done right before, as the screenshot that was
    taken rightly does, and the recorded elements do not tell."""
    return window.view.hasty and (window.gain or 0.0) < MIN_EXPLAINING_GAIN


def _due_part(scene: Scene, window: TurnWindow) -> np.ndarray:
    """Pixels of the page at working size that are to be taken from the frame: rows x columns, true or false."""
    due = np.ones(window.shape, bool)
    if window.verdict and window.verdict.part is not None:
        rows, columns = scene.layout.pieces[window.spot].rectangle.visible_part(window.viewport, scene.video.size,
                                                                                window.shape)
        tiles = np.kron(window.verdict.part, np.ones((TILE, TILE), bool))
        due[:] = False
        due[rows, columns] = tiles[:rows.stop - rows.start, :columns.stop - columns.start]
    return due


def _is_better(scene: Scene, window: TurnWindow, page: np.ndarray) -> bool:
    """Whether a page cut out of a frame (BGR, CSS size) is better than the screenshot that was taken."""
    visible = _open_part(scene, window)
    is_complete = window.verdict is not None and window.verdict.part is None
    if (not visible.any() or (is_complete and visible.mean() < _MIN_PAGE_SHARE) or _may_be_before_its_time(window)
            or _mixes_two_times(scene, window, visible)):
        return False
    cut, known = _small(window, page), _known(window)
    if not known or _brightest(cut, visible) < min(_brightest(picture, visible) for picture in known) - _DIMMED:
        return False
    return window.gain is None or window.gain >= -_WORSE


def _mixes_two_times(scene: Scene, window: TurnWindow, visible: np.ndarray) -> bool:
    """Whether what is to be taken from the frame, and is not seen there, has changed since the screenshot before: the
    one that was taken may show another moment of it."""
    if window.picture is None or window.before is None or window.before.shape != window.shape or window.before.blank:
        return False
    changed = cv2.absdiff(VisiblePage.from_page(window.picture.grey).soft,
                          VisiblePage.from_page(window.before.grey).soft) > CHANGED
    due = cv2.dilate(_due_part(scene, window).astype(np.uint8), np.ones((TILE, TILE), np.uint8)) > 0
    unseen = cv2.morphologyEx((~visible).astype(np.uint8), cv2.MORPH_OPEN, np.ones((_NARROW, _NARROW), np.uint8)) > 0
    return int((changed & due & unseen).sum()) >= _MIN_PIXELS


def _is_of_the_page(scene: Scene, window: TurnWindow, shown: np.ndarray) -> bool:
    """Whether what is to be taken, in part, from the page of a frame (BGR, CSS size) is the page's own, seen in another
    screenshot: a pointer, or what else the meeting shows over the page, is in none. And but for a pointer, the rest of
    the frame must show what the screenshot does: it would be of two moments else."""
    grey, visible = _small(window, shown), _open_part(scene, window)
    due = _due_part(scene, window)

    def mask_page(page: np.ndarray, part: np.ndarray) -> VisiblePage:
        return VisiblePage.from_page(np.where(part, page, 0).astype(np.uint8))

    def compare_part(part: np.ndarray, other: np.ndarray) -> TileComparison | None:
        return compare_tiles(mask_page(grey, part), mask_page(captured, part), mask_page(other, part))

    captured, *others = _known(window)
    inside, outside = compare_part(visible & due, captured), compare_part(visible & ~due, captured)
    if inside is None:
        return False
    weight = float(inside.difference.sum())
    if outside is not None:
        other_page = outside.difference > _STRONG * outside.counts
        if outside.difference[other_page & ~heaviest(other_page, outside.difference)].sum() > _BESIDE * weight:
            return False
    matching = [sides.like_first for other in others if (sides := compare_part(visible & due, other))]
    known = float(inside.difference[np.any(matching, axis=0)].sum()) if matching else 0.0
    return known >= _KNOWN * weight


def _is_well_positioned(scene: Scene, window: TurnWindow, time: float, shown: np.ndarray) -> bool:
    """Whether the page of the frame of a time (BGR, CSS size) is known to stand where it is looked for: by what it has
    in common with screenshots, or, where that does not tell, by the frames around."""
    in_position = is_in_position(_small(window, shown), _known(window), _open_part(scene, window))
    return scene.is_certain_at(time) if in_position is None else in_position


def _small(window: TurnWindow, page: np.ndarray) -> np.ndarray:
    """A page (BGR, CSS size) in grey at working size."""
    return cv2.resize(cv2.cvtColor(page, cv2.COLOR_BGR2GRAY), window.shape[::-1], interpolation=cv2.INTER_AREA)


def _known(window: TurnWindow) -> list[np.ndarray]:
    """The screenshot that was taken and others of that size around it: grey, at working size."""
    return [picture.grey for picture in (window.picture, *window.neighbours)
            if picture and picture.shape == window.shape and not picture.blank]


def _brightest(page: np.ndarray, visible: np.ndarray) -> float:
    """How bright the brightest part of a page is."""
    return float(np.percentile(page[visible], 99))


def _gain(scene: Scene, window: TurnWindow, page: np.ndarray) -> float | None:
    """By how much a page (grey, CSS size) explains the recorded elements better than the screenshot that was taken;
    None when that cannot be told."""
    state = window.turn["state"]
    if not state or not state["elements"] or window.picture is None or page.shape != window.viewport[::-1]:
        return None
    captured = full_size(scene.recording, window.picture)
    if captured.shape != page.shape:
        return None
    try:
        rows = json.loads(scene.recording.blob(state["elements"]))
        new, old = explained(rows, page), explained(rows, captured)
    except (InputError, ValueError, LookupError, TypeError):  # checks tell of a damaged table
        return None
    return None if new is None or old is None else new - old
