"""What takes the place of a late or broken screenshot; never a worse one.

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

from recorder.pictures import decoded
from schemas import InputError

from .explaining import explained
from .look import Look
from .pointer import CHANGED, TILE, heaviest
from .scene import Scene
from .screenshots import full_size
from .sides import Seen, Sides, sides_of
from .standing import stands

Encode = Callable[[np.ndarray], bytes]
UNLIKE = 0.08  # of SSIM below the usual one from which on a picture is not what the frame shows
_DIMMED = 40.0  # grey levels by which all screenshots around are brighter than something that is dimmed
_WHOLE = 0.9  # of a page of another moment, that a frame must show: the rest would be of the screenshot's moment
_LEAST = 8  # pixels at working size: less is no part of a change
_KNOWN = 0.7  # of what is to be taken in part, that another screenshot must show
_BESIDE = 0.5  # of its weight, by which the rest of the frame may differ clearly
_STRONG = 40.0  # grey levels of a changed pixel at the mean, that are no compression
TOLD = 0.05  # by which a picture explains the elements better than the one taken, to be told by them
_NARROW = 4  # pixels at working size: what is not seen and less wide is the edge of the page
_WORSE = 0.04  # by which another picture explains the elements worse than the one taken


def refuse_worse(scene: Scene, looks: Sequence[Look], usual: float | None) -> None:
    """Take back captured screenshots that fit better than what was taken, and yet are not what the frame shows, or not
    what the recording says. `usual`: SSIM of good screenshots and their frames."""
    for look in looks:
        verdict, names = look.verdict, {picture.name: picture for picture in look.neighbours}
        if not verdict or not verdict.better or verdict.similarity is None:
            continue
        better = names.get(verdict.better)
        look.gain = _gain(scene, look, full_size(scene.recording, better)) if better else None
        unlike = usual is not None and verdict.better_similarity < usual - UNLIKE
        if unlike or (look.gain or 0.0) < -_WORSE or _may_be_before_its_time(look):
            look.verdict = replace(verdict, better=None)


def cut_pages(scene: Scene, looks: Sequence[Look], encode: Encode) -> dict[str, bytes]:
    """The page in colour, as a file, for looks whose screenshot no captured one replaces, by their key; those left out
    for which the frame does not show it better."""
    pages: dict[str, bytes] = {}
    due: dict[float, list[Look]] = {}
    for look in looks:
        verdict = look.verdict
        if verdict and not verdict.better and (verdict.late or look.picture is None or look.picture.blank):
            shown = verdict.number if verdict.page < 0 else verdict.page
            due.setdefault(float(scene.video.times[shown]), []).append(look)
    for shot in scene.video.shots(np.array(sorted(due))):
        for look in due[min(due, key=lambda time: abs(time - shot.time))]:
            cut = scene.layout.pieces[look.spot].rectangle.page(shot.colour(), look.viewport)
            if look.verdict and look.verdict.part is not None and not _is_of_the_page(scene, look, cut):
                look.verdict = replace(look.verdict, late=False)
                continue
            page = _page(scene, look, cut)
            look.gain = _gain(scene, look, cv2.cvtColor(page, cv2.COLOR_BGR2GRAY))
            if look.picture is None or look.picture.blank or (
                    _is_better(scene, look, page) and _is_in_place(scene, look, shot.time, cut)):
                pages[look.key] = encode(page)
    return pages


def _page(scene: Scene, look: Look, shown: np.ndarray) -> np.ndarray:
    """The page as a frame shows it; where the frame's edge cuts it off, something covers it, or nothing has changed,
    as the screenshot that was taken shows it: BGR at the viewport's size."""
    taken = None if look.picture is None or look.picture.blank else decoded(scene.recording.blob(look.picture.name))
    if taken is None:
        return shown
    taken = cv2.resize(taken, look.viewport, interpolation=cv2.INTER_AREA)
    open_part = _open_part(scene, look) & _due_part(scene, look)
    mask = cv2.resize(open_part.astype(np.uint8), look.viewport, interpolation=cv2.INTER_NEAREST)
    return np.where(mask[..., None] > 0, shown, taken)


def _open_part(scene: Scene, look: Look) -> np.ndarray:
    """Pixels of the page at working size that frames show: rows x columns, true or false."""
    open_part = np.zeros(look.shape, bool)
    open_part[scene.layout.pieces[look.spot].rectangle.seen(look.viewport, scene.video.size, look.shape)] = True
    return open_part & ~scene.hidden(look.viewport, look.spot)


def _may_be_before_its_time(look: Look) -> bool:
    """Whether the frame may not show yet what came of something that was done right before, as the screenshot that was
    taken rightly does, and the recorded elements do not tell."""
    return look.view.hasty and (look.gain or 0.0) < TOLD


def _due_part(scene: Scene, look: Look) -> np.ndarray:
    """Pixels of the page at working size that are to be taken from the frame: rows x columns, true or false."""
    due = np.ones(look.shape, bool)
    if look.verdict and look.verdict.part is not None:
        rows, columns = scene.layout.pieces[look.spot].rectangle.seen(look.viewport, scene.video.size, look.shape)
        tiles = np.kron(look.verdict.part, np.ones((TILE, TILE), bool))
        due[:] = False
        due[rows, columns] = tiles[:rows.stop - rows.start, :columns.stop - columns.start]
    return due


def _is_better(scene: Scene, look: Look, page: np.ndarray) -> bool:
    """Whether a page cut out of a frame (BGR, CSS size) is better than the screenshot that was taken."""
    seen = _open_part(scene, look)
    whole = look.verdict is not None and look.verdict.part is None
    if (not seen.any() or (whole and seen.mean() < _WHOLE) or _may_be_before_its_time(look)
            or _is_of_two_moments(scene, look, seen)):
        return False
    cut, known = _small(look, page), _known(look)
    if not known or _brightest(cut, seen) < min(_brightest(picture, seen) for picture in known) - _DIMMED:
        return False
    return look.gain is None or look.gain >= -_WORSE


def _is_of_two_moments(scene: Scene, look: Look, seen: np.ndarray) -> bool:
    """Whether what is to be taken from the frame, and is not seen there, has changed since the screenshot before: the
    one that was taken may show another moment of it."""
    if look.picture is None or look.before is None or look.before.shape != look.shape or look.before.blank:
        return False
    changed = cv2.absdiff(Seen.of(look.picture.grey).soft, Seen.of(look.before.grey).soft) > CHANGED
    due = cv2.dilate(_due_part(scene, look).astype(np.uint8), np.ones((TILE, TILE), np.uint8)) > 0
    unseen = cv2.morphologyEx((~seen).astype(np.uint8), cv2.MORPH_OPEN, np.ones((_NARROW, _NARROW), np.uint8)) > 0
    return int((changed & due & unseen).sum()) >= _LEAST


def _is_of_the_page(scene: Scene, look: Look, shown: np.ndarray) -> bool:
    """Whether what is to be taken, in part, from the page of a frame (BGR, CSS size) is the page's own, seen in another
    screenshot: a pointer, or what else the meeting shows over the page, is in none. And but for a pointer, the rest of
    the frame must show what the screenshot does: it would be of two moments else."""
    grey, seen = _small(look, shown), _open_part(scene, look)
    due = _due_part(scene, look)

    def masked(page: np.ndarray, part: np.ndarray) -> Seen:
        return Seen.of(np.where(part, page, 0).astype(np.uint8))

    def apart_of(part: np.ndarray, other: np.ndarray) -> Sides | None:
        return sides_of(masked(grey, part), masked(taken, part), masked(other, part))

    taken, *others = _known(look)
    inside, outside = apart_of(seen & due, taken), apart_of(seen & ~due, taken)
    if inside is None:
        return False
    weight = float(inside.apart.sum())
    if outside is not None:
        other_page = outside.apart > _STRONG * outside.counts
        if outside.apart[other_page & ~heaviest(other_page, outside.apart)].sum() > _BESIDE * weight:
            return False
    found = [sides.one for other in others if (sides := apart_of(seen & due, other))]
    known = float(inside.apart[np.any(found, axis=0)].sum()) if found else 0.0
    return known >= _KNOWN * weight


def _is_in_place(scene: Scene, look: Look, time: float, shown: np.ndarray) -> bool:
    """Whether the page of the frame of a time (BGR, CSS size) is known to stand where it is looked for: by what it has
    in common with screenshots, or, where that does not tell, by the frames around."""
    told = stands(_small(look, shown), _known(look), _open_part(scene, look))
    return scene.is_sure_at(time) if told is None else told


def _small(look: Look, page: np.ndarray) -> np.ndarray:
    """A page (BGR, CSS size) in grey at working size."""
    return cv2.resize(cv2.cvtColor(page, cv2.COLOR_BGR2GRAY), look.shape[::-1], interpolation=cv2.INTER_AREA)


def _known(look: Look) -> list[np.ndarray]:
    """The screenshot that was taken and others of that size around it: grey, at working size."""
    return [picture.grey for picture in (look.picture, *look.neighbours)
            if picture and picture.shape == look.shape and not picture.blank]


def _brightest(page: np.ndarray, seen: np.ndarray) -> float:
    """How bright the brightest part of a page is."""
    return float(np.percentile(page[seen], 99))


def _gain(scene: Scene, look: Look, page: np.ndarray) -> float | None:
    """By how much a page (grey, CSS size) explains the recorded elements better than the screenshot that was taken;
    None when that cannot be told."""
    state = look.turn["state"]
    if not state or not state["elements"] or look.picture is None or page.shape != look.viewport[::-1]:
        return None
    taken = full_size(scene.recording, look.picture)
    if taken.shape != page.shape:
        return None
    try:
        rows = json.loads(scene.recording.blob(state["elements"]))
        new, old = explained(rows, page), explained(rows, taken)
    except (InputError, ValueError, LookupError, TypeError):  # checks tell of a damaged table
        return None
    return None if new is None or old is None else new - old
