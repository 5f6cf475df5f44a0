"""Finds the layout: whether and when position, size or brightness of the page in the frame change.

Frames that the first rectangle does not explain are asked by their features where the page is in them. A place that
they agree on is taken only when it explains frames of several screenshots as well as the first does its own: a page
that was scrolled while nobody took a screenshot looks moved as well.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from pipeline.align.pictures.position_check import is_in_position
from pipeline.align.pictures.screenshots import Picture
from pipeline.align.pictures.tone import PLAIN
from pipeline.align.pictures.video import Shot, Video

from .layout import Layout, LayoutSegment
from .rectangle import Rectangle, Vote, exact, features, fit_tone, vote
from .sampling import Sampled, merge_samples, sample, sample_times

_PROBES = 16  # frames that are asked
_MAX_GREY_DIFFERENCE = 1.0  # grey level at the mean, within which frames show the same
_CANDIDATES = 6  # screenshots that each is held against, those most like it first; and as many of the others
_STRONG, _SUFFICIENT_FEATURES = 40, 150  # features that must agree, and so many that no other screenshot is tried
_FURTHER = 8  # other rectangles, at most
_MAX_CORNER_SHIFT = 3.0  # frame pixels by which corners may differ and be in one place
_SWITCH = 6.0  # times the usual difference, that a change of the rectangle costs
_DOUBT = 3.0  # times the usual difference, that a frame costs which is as like any screenshot
_MAX_COST = 20.0  # times the usual difference: more says nothing more
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
              for viewport, mask in samples[order[number]].covered_masks(piece.start, piece.end, limit).items()}
    return layout, replace(first, differences=merge_samples(samples, path)), covers


def explained(sampled: Sampled) -> np.ndarray:
    """Times of the samples that show some screenshot."""
    return sampled.times[sampled.smallest <= _limit(sampled.usual)]


def _limit(usual: float) -> float:
    return 2 * usual + 1.0


def _others(video: Video, first: Sampled, pictures: Sequence[Picture], page_of: Callable[[Picture], np.ndarray],
            rectangle: Rectangle) -> list[Rectangle]:
    """Other rectangles that frames speak for which the first does not explain."""
    odd = np.flatnonzero(first.smallest > 1.5 * first.usual + 0.5)
    probes = sorted(odd[_different(first.pages[odd], _PROBES)].tolist())
    pages: dict[int, tuple[np.ndarray, tuple]] = {}
    chance = np.random.default_rng(1)
    rectangles = [rectangle]
    for shot in video.shots(first.times[probes]):
        order = first.likeliest(shot)
        if _is_at_rectangle(shot, rectangle, pictures[order[0]]):
            continue  # it shows what no screenshot does
        frame_features, best = features(shot.luma), None
        for number, index in enumerate([*order[:_CANDIDATES], *order[_CANDIDATES::max(1, len(order) // _CANDIDATES)]]):
            if number == _CANDIDATES and best:
                break  # the others are tried only when none of the likeliest tells anything
            if index not in pages:
                page = page_of(pictures[index])
                pages[index] = page, features(page)
            page, of_page = pages[index]
            vote_cast = vote(of_page, frame_features, chance, (0, 0))
            if vote_cast and vote_cast.weight >= _STRONG and (best is None or vote_cast.weight > best[0].weight):
                best = vote_cast, page
            if best and best[0].weight >= _SUFFICIENT_FEATURES:
                break
        located = best and _new_rectangle(best[0], shot, best[1], rectangles)
        if located is not None and len(rectangles) <= _FURTHER:
            rectangles.append(located)
    return [*rectangles[1:], *_in_other_tones(rectangles)][:_FURTHER]


def _is_at_rectangle(shot: Shot, rectangle: Rectangle, picture: Picture) -> bool:
    """Whether a frame has parts in common with a screenshot, in the places and as bright as a rectangle shows them."""
    visible = np.zeros(picture.shape, bool)
    visible[rectangle.visible_part(picture.viewport, shot.luma.shape[::-1], picture.shape)] = True
    return bool(is_in_position(rectangle.cut(shot, picture.viewport, picture.shape), [picture.grey], visible))


def _in_other_tones(rectangles: Sequence[Rectangle]) -> list[Rectangle]:
    """Each place in the tones of the others: a window is moved while a video is dimmed, and dimmed where it stands."""
    more: list[Rectangle] = []
    for candidate in rectangles:
        for tone in (PLAIN, *(known_rectangle.tone for known_rectangle in rectangles)):
            other = replace(candidate, tone=tone)
            if not any(candidate_tone.tone.is_similar(tone)
                       and (candidate_tone.left, candidate_tone.top) == (candidate.left, candidate.top)
                       for candidate_tone in (*rectangles, *more)):
                more.append(other)
    return more


def _different(rows: np.ndarray, count: int) -> list[int]:
    """Numbers of rows that differ most from each other, at most so many: what a video shows for long counts once."""
    if not len(rows):
        return []
    chosen, distance = [0], np.abs(rows - rows[0]).mean(axis=1)
    while len(chosen) < count and distance.max() > _MAX_GREY_DIFFERENCE:
        chosen.append(int(distance.argmax()))
        distance = np.minimum(distance, np.abs(rows - rows[chosen[-1]]).mean(axis=1))
    return chosen


def _new_rectangle(vote_cast: Vote, shot: Shot, page: np.ndarray, known: Sequence[Rectangle]) -> Rectangle | None:
    """The rectangle of a page in the frame that votes for it; None when it is known in that tone, or cannot be fitted.
    """
    viewport = page.shape[::-1]
    rough = Rectangle(vote_cast.left, vote_cast.top, vote_cast.scale, vote_cast.scale)
    in_position = [candidate for candidate in known if _has_same_corners(rough, candidate, viewport)]
    rectangle = (fit_tone(in_position[0], [(shot, page)]) if in_position  # moved no further, perhaps dimmed
                 else exact([vote_cast], [shot], [page]))
    is_known = rectangle and any(_has_same_corners(rectangle, candidate, viewport)
                                 and rectangle.tone.is_similar(candidate.tone) for candidate in known)
    return None if is_known else rectangle


def _has_same_corners(first: Rectangle, other: Rectangle, viewport: tuple[int, int]) -> bool:
    return _corner_distance(first, other, viewport) < _MAX_CORNER_SHIFT


def _corner_distance(first: Rectangle, other: Rectangle, viewport: tuple[int, int]) -> float:
    """Frame pixels between corners of a page in two places, at most."""
    return max(abs(a + scale * length - b - other_scale * length)
               for a, scale, b, other_scale, side in ((first.left, first.width, other.left, other.width, viewport[0]),
                                                      (first.top, first.height, other.top, other.height, viewport[1]))
               for length in (0, side))


def _explains(other: Sampled, first: Sampled) -> bool:
    """Whether a further rectangle shows several screenshots as well as the first does its own."""
    better = (other.smallest < _BETTER * first.smallest) | (other.doubt < _BETTER * first.doubt)
    won = better & (other.smallest < _limit(first.usual))
    return len(set(other.differences[won].argmin(axis=1).tolist())) >= _PICTURES


def _path(samples: Sequence[Sampled], usual: float) -> np.ndarray:
    """For each sample the number of its rectangle: little difference from one screenshot, which stands out, and few
    changes (Viterbi)."""
    costs = np.minimum([sampled.smallest / (usual + 0.3) + _DOUBT * sampled.doubt for sampled in samples], _MAX_COST)
    total, predecessors = costs[:, 0].copy() if costs.shape[1] else np.zeros(len(costs)), []
    for column in costs.T[1:]:
        best = int(total.argmin())
        stays = total <= total[best] + _SWITCH
        predecessors.append(np.where(stays, np.arange(len(total)), best))
        total = np.minimum(total, total[best] + _SWITCH) + column
    path = [int(total.argmin())]
    for source in reversed(predecessors):
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
        while last > 0 and path[last - 1] == path[last] and before.smallest[last] > limit:
            last -= 1
        while first + 1 < len(path) and path[first + 1] == path[first] and after.smallest[first] > limit:
            first += 1
        end, start = _change(video, (float(samples[0].times[last]), float(samples[0].times[first])),
                             (before.rectangle, after.rectangle), pictures, limit)
        ends.append(end)
        starts.append(start)
    order = [int(path[0]), *(int(path[change]) for change in changes)]
    pieces = [LayoutSegment(start, end, samples[number].rectangle)
              for start, end, number in zip(starts, [*ends, np.inf], order, strict=True)]
    return Layout(tuple(pieces)), order


def _change(video: Video, between: tuple[float, float], rectangles: tuple[Rectangle, Rectangle],
            pictures: Sequence[Picture], limit: float) -> tuple[float, float]:
    """The times of the last frame with one rectangle and of the first with the next, between two samples."""
    low, high = between
    times = video.times[(video.times >= low) & (video.times <= high)]
    if len(times) > _LONGEST:
        return between
    before, after = (sampled.smallest for sampled in sample(video, times, pictures, rectangles))
    if len(before) < 2:
        return between
    split = int((np.append(0, before.cumsum()) + np.append(after[::-1].cumsum()[::-1], 0)).argmin())
    last, first = max(split - 1, 0), min(split, len(before) - 1)
    while last > 0 and before[last] > limit:
        last -= 1
    while first < len(before) - 1 and after[first] > limit:
        first += 1
    return float(times[last]), float(times[first])
