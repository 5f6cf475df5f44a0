"""Finds the layout: whether the page moves in the frame, gets another size or brightness, and when.

Frames that the first rectangle does not explain are asked by their features where the page is in them. A place that
they agree on is taken only when it explains frames of several screenshots as well as the first does its own: a page
that was scrolled while nobody took a screenshot looks moved as well.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from .layout import Layout, Piece
from .rectangle import Rectangle, Vote, exact, features, toned, vote
from .sampling import Sampled, merged, sample, sample_times
from .screenshots import Picture
from .standing import stands
from .tone import PLAIN
from .video import Shot, Video

_PROBES = 16  # frames that are asked
_ALIKE = 1.0  # grey level at the mean, within which frames show the same
_CANDIDATES = 6  # screenshots that each is held against, those most like it first; and as many of the others
_STRONG, _ENOUGH = 40, 150  # features that must agree, and so many that no other screenshot is tried
_FURTHER = 8  # other rectangles, at most
_SAME = 3.0  # frame pixels by which corners may differ and be in one place
_SWITCH = 6.0  # times the usual difference, that a change of the rectangle costs
_DOUBT = 3.0  # times the usual difference, that a frame costs which is as like any screenshot
_MOST = 20.0  # times the usual difference: more says nothing more
_BETTER = 0.6  # of the other rectangle's difference, that a frame may have to be won clearly
_PICTURES = 2  # screenshots, that a rectangle must explain
_LONGEST = 600  # frames looked at for one change


def lay_out(video: Video, pictures: Sequence[Picture], page_of: Callable[[Picture], np.ndarray], rectangle: Rectangle,
            seconds: float) -> tuple[Layout, Sampled, dict[tuple[int, tuple[int, int]], np.ndarray]]:
    """The layout of a video of which one rectangle is known; its samples, each as the rectangle of its piece shows it;
    and what is covered, by piece and viewport. `page_of`: a screenshot in grey at CSS size.
    `seconds`: that the recording lasts."""
    times, share = sample_times(video), min(1.0, seconds / max(video.duration, 1e-3))
    first, = sample(video, times, pictures, [rectangle], share)
    others = _others(video, first, pictures, page_of, rectangle)
    samples = [first]
    if others:
        every = sample(video, times, pictures, [rectangle, *others], share)
        samples = [every[0], *(other for other in every[1:] if _explains(other, every[0]))]
    path = _path(samples, first.usual)
    layout, order = _layout(video, samples, path, pictures)
    limit = _limit(first.usual)
    covers = {(number, viewport): mask for number, piece in enumerate(layout.pieces)
              for viewport, mask in samples[order[number]].covered(piece.start, piece.end, limit).items()}
    return layout, replace(first, differences=merged(samples, path)), covers


def explained(sampled: Sampled) -> np.ndarray:
    """Times of the samples that show some screenshot."""
    return sampled.times[sampled.least <= _limit(sampled.usual)]


def _limit(usual: float) -> float:
    return 2 * usual + 1.0


def _others(video: Video, first: Sampled, pictures: Sequence[Picture], page_of: Callable[[Picture], np.ndarray],
            rectangle: Rectangle) -> list[Rectangle]:
    """Other rectangles that frames speak for which the first does not explain."""
    odd = np.flatnonzero(first.least > 1.5 * first.usual + 0.5)
    probes = sorted(odd[_different(first.pages[odd], _PROBES)].tolist())
    looks: dict[int, tuple[np.ndarray, tuple]] = {}
    chance = np.random.default_rng(1)
    found = [rectangle]
    for shot in video.shots(first.times[probes]):
        order = first.likeliest(shot)
        if _is_in_place(shot, rectangle, pictures[order[0]]):
            continue  # it shows what no screenshot does
        seen, best = features(shot.luma), None
        for number, index in enumerate([*order[:_CANDIDATES], *order[_CANDIDATES::max(1, len(order) // _CANDIDATES)]]):
            if number == _CANDIDATES and best:
                break  # the others are tried only when none of the likeliest tells anything
            if index not in looks:
                page = page_of(pictures[index])
                looks[index] = page, features(page)
            page, of_page = looks[index]
            told = vote(of_page, seen, chance, (0, 0))
            if told and told.weight >= _STRONG and (best is None or told.weight > best[0].weight):
                best = told, page
            if best and best[0].weight >= _ENOUGH:
                break
        place = best and _place_of(best[0], shot, best[1], found)
        if place is not None and len(found) <= _FURTHER:
            found.append(place)
    return [*found[1:], *_in_other_tones(found)][:_FURTHER]


def _is_in_place(shot: Shot, rectangle: Rectangle, picture: Picture) -> bool:
    """Whether a frame has parts in common with a screenshot, in the places and as bright as a rectangle shows them."""
    seen = np.zeros(picture.shape, bool)
    seen[rectangle.seen(picture.viewport, shot.luma.shape[::-1], picture.shape)] = True
    return bool(stands(rectangle.cut(shot, picture.viewport, picture.shape), [picture.grey], seen))


def _in_other_tones(found: Sequence[Rectangle]) -> list[Rectangle]:
    """Each place in the tones of the others: a window is moved while a video is dimmed, and dimmed where it stands."""
    more: list[Rectangle] = []
    for place in found:
        for tone in (PLAIN, *(one.tone for one in found)):
            other = replace(place, tone=tone)
            if not any(one.tone.is_near(tone) and (one.left, one.top) == (place.left, place.top)
                       for one in (*found, *more)):
                more.append(other)
    return more


def _different(rows: np.ndarray, count: int) -> list[int]:
    """Numbers of rows that differ most from each other, at most so many: what a video shows for long counts once."""
    if not len(rows):
        return []
    chosen, distance = [0], np.abs(rows - rows[0]).mean(axis=1)
    while len(chosen) < count and distance.max() > _ALIKE:
        chosen.append(int(distance.argmax()))
        distance = np.minimum(distance, np.abs(rows - rows[chosen[-1]]).mean(axis=1))
    return chosen


def _place_of(told: Vote, shot: Shot, page: np.ndarray, known: Sequence[Rectangle]) -> Rectangle | None:
    """Where a frame says that the page is; None when that is known."""
    viewport = page.shape[::-1]
    rough = Rectangle(told.left, told.top, told.scale, told.scale)
    same = next((one for one in known if _apart(rough, one, viewport) < _SAME), None)
    if same:
        here = toned(same, [(shot, page)])
        toned_before = [one for one in known if _apart(one, here, viewport) < _SAME]
        return None if any(one.tone.is_near(here.tone) for one in toned_before) else here
    place = exact([told], [shot], [page])
    return None if place and any(_apart(place, one, viewport) < _SAME and place.tone.is_near(one.tone)
                                 for one in known) else place


def _apart(one: Rectangle, other: Rectangle, viewport: tuple[int, int]) -> float:
    """Frame pixels between corners of a page in two places, at most."""
    return max(abs(a + scale * length - b - other_scale * length)
               for a, scale, b, other_scale, side in ((one.left, one.width, other.left, other.width, viewport[0]),
                                                      (one.top, one.height, other.top, other.height, viewport[1]))
               for length in (0, side))


def _explains(other: Sampled, first: Sampled) -> bool:
    """Whether a further rectangle shows several screenshots as well as the first does its own."""
    better = (other.least < _BETTER * first.least) | (other.doubt < _BETTER * first.doubt)
    won = better & (other.least < _limit(first.usual))
    return len(set(other.differences[won].argmin(axis=1).tolist())) >= _PICTURES


def _path(samples: Sequence[Sampled], usual: float) -> np.ndarray:
    """For each sample the number of its rectangle: little difference from one screenshot, which stands out, and few
    changes (Viterbi)."""
    costs = np.minimum([one.least / (usual + 0.3) + _DOUBT * one.doubt for one in samples], _MOST)
    total, came = costs[:, 0].copy() if costs.shape[1] else np.zeros(len(costs)), []
    for column in costs.T[1:]:
        best = int(total.argmin())
        stays = total <= total[best] + _SWITCH
        came.append(np.where(stays, np.arange(len(total)), best))
        total = np.minimum(total, total[best] + _SWITCH) + column
    path = [int(total.argmin())]
    for source in reversed(came):
        path.append(int(source[path[-1]]))
    return np.array(path[::-1][:costs.shape[1]], int)


def _layout(video: Video, samples: Sequence[Sampled], path: np.ndarray, pictures: Sequence[Picture]
            ) -> tuple[Layout, list[int]]:
    """Pieces, and the number of the rectangle of each."""
    changes = np.flatnonzero(np.diff(path)) + 1
    if not len(changes):
        number = int(path[0]) if len(path) else 0
        return Layout.always(samples[number].rectangle), [number]
    starts, ends = [-np.inf], []
    limit = _limit(samples[0].usual)
    for change in changes:
        before, after = samples[path[change - 1]], samples[path[change]]
        last, first = change - 1, change
        while last > 0 and path[last - 1] == path[last] and before.least[last] > limit:
            last -= 1
        while first + 1 < len(path) and path[first + 1] == path[first] and after.least[first] > limit:
            first += 1
        end, start = _change(video, (float(samples[0].times[last]), float(samples[0].times[first])),
                             (before.rectangle, after.rectangle), pictures, limit)
        ends.append(end)
        starts.append(start)
    order = [int(path[0]), *(int(path[change]) for change in changes)]
    pieces = [Piece(start, end, samples[number].rectangle)
              for start, end, number in zip(starts, [*ends, np.inf], order, strict=True)]
    return Layout(tuple(pieces)), order


def _change(video: Video, between: tuple[float, float], rectangles: tuple[Rectangle, Rectangle],
            pictures: Sequence[Picture], limit: float) -> tuple[float, float]:
    """The times of the last frame with one rectangle and of the first with the next, between two samples."""
    low, high = between
    times = video.times[(video.times >= low) & (video.times <= high)]
    if len(times) > _LONGEST:
        return between
    one, other = (sampled.least for sampled in sample(video, times, pictures, rectangles))
    if len(one) < 2:
        return between
    split = int((np.append(0, one.cumsum()) + np.append(other[::-1].cumsum()[::-1], 0)).argmin())
    last, first = max(split - 1, 0), min(split, len(one) - 1)
    while last > 0 and one[last] > limit:
        last -= 1
    while first < len(one) - 1 and other[first] > limit:
        first += 1
    return float(times[last]), float(times[first])
