"""The rectangle of the page in the frame: found by features that a frame and a screenshot share, then adjusted exactly.

Meeting tools scale the page and move it, they do not turn it: four numbers. Every pair of a frame and a screenshot
votes; a pair of different states of one site still votes rightly by what they have in common.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from pipeline.align.pictures.tone import PLAIN, Tone, dimming, fit
from pipeline.align.pictures.video import Shot

_FEATURES = 900
_ITERATIONS = 600
_TOLERANCE = 2.5  # frame pixels between where a feature is and where it should be
_SCALES = (0.2, 3.2)  # of CSS pixels; beyond, no text could be read
_SUFFICIENT_SUPPORT = (3, 90)  # pairs and features that agree on one rectangle, to stop looking
_MIN_FEATURES = 14  # features of one pair
_RIVALS, _RIVAL = 4, 0.1  # groups of votes that are looked at, and their weight beside the first's
_CLEARLY = 0.7  # of its difference from what frames show, that a rectangle with fewer votes may have to be taken
_MAX_GREY_DIFFERENCE = 12.0  # grey levels between frames and pages where the rectangle is right beyond doubt
_MORE = 30  # pairs that are looked at in doubt
_GLANCE = 160  # pixels: width at which a frame is compared with all pages
_OTHER = 30.0  # grey levels by which a frame may differ from a page, beyond that it shows something else
_ROUNDS, _PAIRS = 3, 6  # times that a tone is looked for, and pairs of frame and page that tell it
_FAR = 60.0  # grey levels: what differs by more is something else
_FULL = np.array([min(255, max(0, round((value - 16) * 255 / 219))) for value in range(256)], np.uint8)


@dataclass(frozen=True)
class Rectangle:
    """A point (x, y) of the page, CSS pixels, is in the frame at (left + x * width, top + y * height).

    `width` and `height` are frame pixels per CSS pixel. `tone`: how bright the frame shows the page.
    """

    left: float
    top: float
    width: float
    height: float
    tone: Tone = PLAIN

    def visible_part(self, viewport: tuple[int, int], frame: tuple[int, int], shape: tuple[int, int]
             ) -> tuple[slice, slice]:
        """Rows and columns, at working size `shape`, of a page with this viewport that lie inside the frame."""
        ends = []
        for start, scale, length, room, size in ((self.top, self.height, viewport[1], frame[1], shape[0]),
                                                 (self.left, self.width, viewport[0], frame[0], shape[1])):
            step = scale * length / size
            first = max(0, int(np.ceil((0.5 - start) / step)))
            last = min(size, int(np.floor((room - 0.5 - start) / step)))
            ends.append(slice(min(first, size), max(last, first, 0)))
        return ends[0], ends[1]

    def cut(self, shot: Shot, viewport: tuple[int, int], shape: tuple[int, int],
            part: tuple[slice, slice] | None = None) -> np.ndarray:
        """The page, or a part of it (rows, columns at working size `shape`), as the frame shows it: uint8, full range.

        What lies outside the frame repeats the frame's edge; `visible_part` tells what does not.
        """
        rows, columns = part or (slice(0, shape[0]), slice(0, shape[1]))
        step_x, step_y = self.width * viewport[0] / shape[1], self.height * viewport[1] / shape[0]
        left, top = self.left + columns.start * step_x, self.top + rows.start * step_y
        size = columns.stop - columns.start, rows.stop - rows.start
        cut = _sample(shot.luma, left, top, step_x, step_y, size, shot.limited)
        return cut if self.tone is PLAIN else cv2.LUT(cut, self.tone.table)

    def page(self, colour: np.ndarray, viewport: tuple[int, int]) -> np.ndarray:
        """The page in colour at the viewport's size, from a frame (BGR); black where the frame does not show it."""
        matrix = np.array([[self.width, 0, self.left + self.width / 2 - 0.5],
                           [0, self.height, self.top + self.height / 2 - 0.5]])
        smaller = min(self.width, self.height) > 1.4
        if smaller:
            colour = cv2.blur(colour, (2, 2))
        page = cv2.warpAffine(colour, matrix, viewport, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
                              borderMode=cv2.BORDER_CONSTANT)
        return page if self.tone is PLAIN else cv2.LUT(page, self.tone.table)


def _sample(luma: np.ndarray, left: float, top: float, step_x: float, step_y: float, size: tuple[int, int],
            limited: bool) -> np.ndarray:
    """`size` (columns, rows) pixels, each the mean of about step_x x step_y pixels of the frame."""
    reduce = max(1, round(min(step_x, step_y)))
    x0, y0 = int(np.floor(left)) - 2 * reduce, int(np.floor(top)) - 2 * reduce
    x1, y1 = (int(np.ceil(start + step * count)) + 2 * reduce
              for start, step, count in ((left, step_x, size[0]), (top, step_y, size[1])))
    height, width = luma.shape
    x0, y0 = min(max(x0, 0), width - 1), min(max(y0, 0), height - 1)
    x1, y1 = max(min(x1, width), x0 + 1), max(min(y1, height), y0 + 1)
    piece = luma[y0:y1, x0:x1]
    if reduce > 1:
        rows, columns = piece.shape[0] // reduce, piece.shape[1] // reduce
        if rows and columns:
            piece = cv2.resize(piece[:rows * reduce, :columns * reduce], (columns, rows), interpolation=cv2.INTER_AREA)
        else:
            reduce = 1
    scale_x, scale_y = step_x / reduce, step_y / reduce
    move_x = (left + step_x / 2 - x0) / reduce - 0.5
    move_y = (top + step_y / 2 - y0) / reduce - 0.5
    matrix = np.array([[scale_x, 0, move_x], [0, scale_y, move_y]])
    out = cv2.warpAffine(piece, matrix, size, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
                         borderMode=cv2.BORDER_REPLICATE)
    return cv2.LUT(out, _FULL) if limited else out


def find(shots: Sequence[Shot], pages: Sequence[np.ndarray]) -> Rectangle | None:
    """The rectangle that frames and pages (grey, at CSS size, all of one shape) agree on; None when they do not."""
    frame_features = [features(shot.luma) for shot in shots]
    page_features = [features(page) for page in pages]
    chance = np.random.default_rng(1)
    votes: list[Vote] = []
    last = None  # pair to stop at, once votes are clear but do not explain the frames
    pairs = sorted(((f, p) for f in range(len(shots)) for p in range(len(pages))),
                   key=lambda pair: ((pair[0] + pair[1]) % max(len(shots), 1), pair))
    for number, (f, p) in enumerate(pairs):
        if vote_cast := vote(page_features[p], frame_features[f], chance, (f, p)):
            votes.append(vote_cast)
            if number > 8 and last is None and _is_clear(votes):
                likely = exact(_clusters(votes)[0], shots, pages)
                if likely and _unlikeness(likely, shots, pages) < _MAX_GREY_DIFFERENCE:
                    return likely
                last = number + _MORE
        if number == last:
            break
    groups = _clusters(votes)
    rivals = [group for group in groups if _weight(group) >= _RIVAL * _weight(groups[0])][:_RIVALS]
    made = [(_unlikeness(rectangle, shots, pages), number, rectangle) for number, group in enumerate(rivals)
            if (rectangle := exact(group, shots, pages))]
    if not made:
        return None
    best = min(made, key=lambda entry: entry[:2])
    return best[2] if best[0] < _CLEARLY * made[0][0] else made[0][2]


def features(picture: np.ndarray) -> tuple:
    """Points of a grey picture that are known again in another, and their looks."""
    detector = cv2.ORB_create(nfeatures=_FEATURES, fastThreshold=12)  # type: ignore[attr-defined]  # not in its types
    return detector.detectAndCompute(np.ascontiguousarray(picture), None)


def _unlikeness(rectangle: Rectangle, shots: Sequence[Shot], pages: Sequence[np.ndarray]) -> float:
    """By how many grey levels the frames differ from the pages, at the median.

    A page that is shown enlarged at times has its own features at two sizes: then votes alone do not tell.
    """
    return float(np.median(_differences(rectangle, shots, pages).min(1)))


def _differences(rectangle: Rectangle, shots: Sequence[Shot], pages: Sequence[np.ndarray]) -> np.ndarray:
    """By how many grey levels each frame differs from each page: frames x pages."""
    viewport = pages[0].shape[::-1]
    shape = max(8, min(round(_GLANCE * viewport[1] / viewport[0]), _GLANCE * _GLANCE)), _GLANCE
    part = rectangle.visible_part(viewport, shots[0].luma.shape[::-1], shape)
    if part[0].stop - part[0].start < 8 or part[1].stop - part[1].start < 8:
        return np.full((len(shots), len(pages)), _FAR)
    small = [np.ascontiguousarray(cv2.resize(page, shape[::-1], interpolation=cv2.INTER_AREA)[part]) for page in pages]
    cuts = [rectangle.cut(shot, viewport, shape, part) for shot in shots]
    return np.array([[cv2.absdiff(cut, page).mean() for page in small] for cut in cuts])


@dataclass(frozen=True)
class Vote:
    """What one pair says: scale, left, top; the points of the page and of the frame that agree."""

    scale: float
    left: float
    top: float
    page_points: np.ndarray
    frame_points: np.ndarray
    pair: tuple[int, int]

    @property
    def weight(self) -> int:
        return len(self.page_points)

    def agrees(self, other: "Vote") -> bool:
        return (abs(self.scale / other.scale - 1) < 0.02 and abs(self.left - other.left) < 8
                and abs(self.top - other.top) < 8)


def vote(page: tuple, frame: tuple, chance: np.random.Generator, pair: tuple[int, int]) -> Vote | None:
    """What the features of a page and of a frame say; None when too few agree. `pair`: numbers of frame and page."""
    if page[1] is None or frame[1] is None or min(len(page[1]), len(frame[1])) < _MIN_FEATURES:
        return None
    matches = cv2.BFMatcher(cv2.NORM_HAMMING, crossCheck=True).match(page[1], frame[1])
    matches = [match for match in matches if match.distance < 70]
    if len(matches) < _MIN_FEATURES:
        return None
    source = np.array([page[0][match.queryIdx].pt for match in matches])
    target = np.array([frame[0][match.trainIdx].pt for match in matches])
    first, second = chance.integers(0, len(matches), (2, _ITERATIONS))
    span, reach = source[second] - source[first], target[second] - target[first]
    length = (span ** 2).sum(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = (span * reach).sum(1) / length
        turn = np.abs(span[:, 0] * reach[:, 1] - span[:, 1] * reach[:, 0]) / length
    good = (length > 900) & (scale > _SCALES[0]) & (scale < _SCALES[1]) & (turn < 0.02 * np.abs(scale))
    if not good.any():
        return None
    scale, first = scale[good], first[good]
    move = target[first] - scale[:, None] * source[first]
    error = np.abs(scale[:, None, None] * source[None] + move[:, None] - target[None]).max(2)
    counts = (error < _TOLERANCE).sum(1)
    best = int(counts.argmax())
    if counts[best] < _MIN_FEATURES:
        return None
    inside = error[best] < _TOLERANCE
    return Vote(float(scale[best]), float(move[best, 0]), float(move[best, 1]), source[inside], target[inside], pair)


def _clusters(votes: list[Vote]) -> list[list[Vote]]:
    """Votes that agree, the weightiest group first."""
    groups: list[list[Vote]] = []
    for vote in sorted(votes, key=lambda vote: -vote.weight):
        home = next((group for group in groups if group[0].agrees(vote)), None)
        if home is None:
            groups.append([vote])
        else:
            home.append(vote)
    return sorted(groups, key=lambda group: -_weight(group))


def _weight(group: list[Vote]) -> int:
    return sum(vote.weight for vote in group)


def _is_clear(votes: list[Vote]) -> bool:
    groups = _clusters(votes)
    weights = [_weight(group) for group in groups]
    first = groups[0]
    return (len({vote.pair[0] for vote in first}) >= _SUFFICIENT_SUPPORT[0] and weights[0] >= _SUFFICIENT_SUPPORT[1]
            and (len(weights) == 1 or weights[0] > 3 * weights[1]))


def exact(cluster: Sequence[Vote], shots: Sequence[Shot], pages: Sequence[np.ndarray]) -> Rectangle | None:
    """Least squares over all points that agree, then small steps that make the best pairs more alike."""
    source = np.concatenate([vote.page_points for vote in cluster[:8]])
    target = np.concatenate([vote.frame_points for vote in cluster[:8]])
    lines = []
    for axis in (0, 1):
        spread = np.ptp(source[:, axis]) > 200
        retained = np.ones(len(source), bool)
        for _ in range(3):
            slope, start = (np.polyfit(source[retained, axis], target[retained, axis], 1) if spread else
                            (cluster[0].scale,
                             np.median(target[retained, axis] - cluster[0].scale * source[retained, axis])))
            retained = np.abs(slope * source[:, axis] + start - target[:, axis]) < 1.5
            if retained.sum() < _MIN_FEATURES // 2:
                return None
        lines.append((slope, start))
    (width, left), (height, top) = lines
    if abs(width / height - 1) > 0.05:
        return None
    pairs = [(shots[vote.pair[0]], pages[vote.pair[1]]) for vote in cluster[:3]]
    rough = Rectangle(float(left), float(top), float(width), float(height))
    return polish(_in_best_tone(rough, shots, pages, pairs), pairs)


def _in_best_tone(plain: Rectangle, shots: Sequence[Shot], pages: Sequence[np.ndarray],
                  pairs: Sequence[tuple[Shot, np.ndarray]]) -> Rectangle:
    """The same with the tone, if any, in which the frames are most like the pages; it may be that of some frames only.

    Pairs that agree on the place may show different states of a page, whose colours tell a wrong tone. That is still
    good enough to find the page that each frame is most like, and these tell the right one.
    """
    losses = [(_loss(_differences(plain, shots, pages)), 0, plain)]
    for _ in range(_ROUNDS):
        for trial in (fit_tone(plain, pairs, dimming), fit_tone(plain, pairs)):
            if not any(trial.tone.is_similar(known.tone) for _, _, known in losses):
                losses.append((_loss(_differences(trial, shots, pages)), len(losses), trial))
        best = min(losses, key=lambda entry: entry[:2])[2]
        differences = _differences(best, shots, pages)
        likest = np.argsort(differences.min(1), kind="stable")[:_PAIRS]
        pairs = [(shots[frame], pages[differences[frame].argmin()]) for frame in likest]
    return best


def _loss(differences: np.ndarray) -> float:
    return float(np.minimum(differences.min(1), _OTHER).sum())


def fit_tone(rectangle: Rectangle, pairs: Sequence[tuple[Shot, np.ndarray]],
          fitting: Callable[[list[tuple[np.ndarray, np.ndarray]]], Tone] = fit) -> Rectangle:
    """The same with the tone that frames and the pages in them (grey, at CSS size, all of one shape) tell."""
    plain = replace(rectangle, tone=PLAIN)
    viewport = pairs[0][1].shape[::-1]
    shape = viewport[1] // 2, viewport[0] // 2
    cuts = []
    for shot, page in pairs:
        part = plain.visible_part(viewport, shot.luma.shape[::-1], shape)
        small = cv2.resize(page, shape[::-1], interpolation=cv2.INTER_AREA)
        cuts.append((plain.cut(shot, viewport, shape, part), np.ascontiguousarray(small[part])))
    return replace(rectangle, tone=fitting(cuts))


def polish(rectangle: Rectangle, pairs: list[tuple[Shot, np.ndarray]]) -> Rectangle:
    """Move the four edges by parts of a pixel while that makes the pairs more alike."""
    page_height, page_width = pairs[0][1].shape
    shape = page_height // 2, page_width // 2
    pairs = [(shot, cv2.resize(page, shape[::-1], interpolation=cv2.INTER_AREA)) for shot, page in pairs]
    edges = np.array([rectangle.left, rectangle.left + rectangle.width * page_width,
                      rectangle.top, rectangle.top + rectangle.height * page_height])

    def build(values: np.ndarray) -> Rectangle:
        return Rectangle(float(values[0]), float(values[2]), float((values[1] - values[0]) / page_width),
                         float((values[3] - values[2]) / page_height), rectangle.tone)

    def likeness(values: np.ndarray) -> float:
        candidate, total = build(values), 0.0
        for shot, page in pairs:
            part = candidate.visible_part((page_width, page_height), shot.luma.shape[::-1], shape)
            if part[0].stop - part[0].start < 16 or part[1].stop - part[1].start < 16:
                return -1.0
            cut = candidate.cut(shot, (page_width, page_height), shape, part)
            difference = cv2.absdiff(cut, np.ascontiguousarray(page[part]))
            total -= float(cv2.min(difference, _FAR).mean())  # type: ignore[call-overload]  # its types know no scalars
        return total

    best = likeness(edges)
    for step in (1.0, 0.5, 0.25):
        for _ in range(3):
            moved = False
            for axes in ((0, 1), (2, 3), (0,), (1,), (2,), (3,)):
                for sign in (-step, step):
                    trial = edges.copy()
                    trial[list(axes)] += sign
                    if (value := likeness(trial)) > best + 1e-6:
                        edges, best, moved = trial, value, True
            if not moved:
                break
    return build(edges)
