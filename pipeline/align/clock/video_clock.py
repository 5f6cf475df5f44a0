"""The recording's clock on the video's: one drift, and an offset for each part between pauses of the video.

Every bracket says between which two offsets the truth lies, if it is right. The offset and the drift that the most
brackets allow are taken: a wrong bracket (a screenshot that was taken late, a page that looks the same twice) votes for
some offset of its own and changes nothing, even when every second one is wrong. How many allow the best of all other
offsets tells how sure the answer is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .anchors import Bracket
from .coarse_offset import OffsetInterval

_TOLERANCE = 0.006  # seconds by which a bracket may be wrong: the times of painted frames are not exact
_DRIFT = 3e-4  # parts per one, either way
_EARLY = 0.05  # seconds by which a bracket may be early, the less likely the more
_CHANCE = 0.1  # below it, that so many marks in a row are missed is no accident
_EDGE = 0.3  # seconds before the first mark of a piece and after the last one that still lie on it
_ELSEWHERE = 0.15  # seconds from the best offset from which on another is another


@dataclass(frozen=True)
class ClockSegment:
    """A stretch: a time t of the recording is in the video at offset + t + drift * (t - middle).

    `low`, `high`: the first and last time of the recording that a bracket on this piece names. `votes`: brackets that
    agree; `others`: brackets that agree on the best other offset, `other`. `width`: seconds between the offsets that
    would do. `begin`, `end`: of the stretch, in the video. `missed`: times of plain marks of which no bracket agrees;
    `usual`: their share among those between `low` and `high`.
    """

    offset: float
    middle: float
    low: float
    high: float
    votes: float
    others: float
    width: float
    begin: float
    end: float
    missed: tuple[float, ...] = ()
    usual: float = 0.0
    other: float = 0.0

    def with_confirmations(self, times: Sequence[float]) -> "ClockSegment":
        """The same, when the frames at some times are known to show what stood there then, and not what stood there
        before or after. That is no bracket: it may have stood there for long."""
        return replace(self, low=min([self.low, *times]), high=max([self.high, *times]))

    def is_bare(self, time: float) -> bool:
        """Whether more changes that should have been seen were not, between a time and the brackets nearest to it, than
        chance explains."""
        missed = sum(self.high < missed_time <= time or time <= missed_time < self.low for missed_time in self.missed)
        return missed > 0 and self.usual ** missed < _CHANCE


@dataclass(frozen=True)
class VideoClock:
    """Pieces in order, and the drift that they share."""

    pieces: tuple[ClockSegment, ...]
    drift: float

    def video_time(self, time: float, piece: ClockSegment) -> float:
        """Where a time of the recording is in the video, seconds, if it lies on that piece."""
        return piece.offset + time + self.drift * (time - piece.middle)

    def recording_time(self, video_time: float, piece: ClockSegment) -> float:
        """The time of the recording that a time of the video is on that piece, seconds: the inverse of `video_time`."""
        return (video_time - piece.offset + self.drift * piece.middle) / (1 + self.drift)

    def candidates(self, time: float) -> list[ClockSegment]:
        """Pieces on which a time of the recording may lie: none where it was not filmed, two right at a pause."""
        pieces = []
        for number, piece in enumerate(self.pieces):
            before = self.pieces[number - 1] if number else None
            after = self.pieces[number + 1] if number + 1 < len(self.pieces) else None
            begins = not before or time >= min(piece.low - _EDGE, 2 * piece.begin - before.end - piece.offset)
            ends = not after or time <= max(piece.high + _EDGE, after.begin - piece.offset)
            # What brackets of another piece enclose lies on that piece.
            elsewhere = any(other is not piece and other.low <= time <= other.high for other in self.pieces)
            if begins and ends and not elsewhere:
                pieces.append(piece)
        return pieces


def fit(stretches: Sequence[OffsetInterval], brackets: Sequence[Sequence[Bracket]],
        watched: Sequence[Sequence[float]] | None = None, known: VideoClock | None = None,
        settled: Mapping[int, float] | None = None) -> VideoClock:
    """The clock that most brackets allow; `brackets` belong to the stretches one by one, and so do the times of the
    marks that were `watched`. `settled`: offsets that are known to be right, by the stretch's number, under the drift
    of a clock that is `known`: brackets that allow none near them are left out."""
    arrays = [np.array([(b.time, b.after, b.until, b.weight) for b in own]).reshape(-1, 4) for own in brackets]
    if settled and known:
        for number, offset in settled.items():
            lowest, highest = _edges(arrays[number], known.pieces[number].middle, known.drift)
            arrays[number] = arrays[number][(highest >= offset - _ELSEWHERE) & (lowest <= offset + _ELSEWHERE)]
    times = np.concatenate([array[:, 0] for array in arrays]) if arrays else np.zeros(0)
    span = float(np.ptp(times)) if len(times) else 0.0
    steps = int(np.clip(np.ceil(_DRIFT * span / 0.008), 1, 60))
    drifts = np.linspace(-_DRIFT, _DRIFT, 2 * steps + 1)
    middle = float(times.mean()) if len(times) else 0.0
    scores = np.array([sum(_best_offset(array, middle, drift, 0.0)[0] for array in arrays) for drift in drifts])
    best = np.flatnonzero(scores >= scores.max() - 1e-6)
    drift = float(drifts[best[len(best) // 2]]) if span > 10 else 0.0
    watched = watched or [()] * len(arrays)
    return VideoClock(tuple(_piece(stretch, array, middle, drift, times)
                       for stretch, array, times in zip(stretches, arrays, watched, strict=True)), drift)


def _edges(array: np.ndarray, middle: float, drift: float) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest offset that each bracket allows."""
    there = array[:, 0] + drift * (array[:, 0] - middle)
    return array[:, 1] - there - _TOLERANCE, array[:, 2] - there + _TOLERANCE


def _best_offset(array: np.ndarray, middle: float, drift: float, expected: float) -> tuple[float, float, float]:
    """How many brackets allow the best offset, the lowest and the highest such offset; of several, those nearest to
    what is expected."""
    if not len(array):
        return 0, 0.0, 0.0
    low, high = _edges(array, middle, drift)
    points = np.concatenate([low, high])
    steps = np.concatenate([array[:, 3], -array[:, 3]])
    order = np.lexsort((-steps, points))
    counts = np.cumsum(steps[order])
    best = np.flatnonzero(counts >= counts.max() - 1e-6)
    index = best[np.abs(points[order][best] - expected).argmin()]
    return float(counts[index]), float(points[order][index]), float(points[order][index + 1])


def _refine(offset: float, lowest: np.ndarray, highest: np.ndarray, weights: np.ndarray) -> float:
    """The offset near this one that suits the brackets best when some are a little early.

    A page is often painted in several frames: what a mark looks at may have been there a frame or two before the
    screenshot, whose time is that of the last. So a bracket errs to one side.
    """
    trial = offset + np.arange(-_EARLY, _EARLY, 0.002)
    beyond = trial[:, None] - highest[None]
    suits = np.where(trial[:, None] < lowest[None], 0.0, np.clip(1 - beyond / _EARLY, 0.0, 1.0))
    totals = suits @ weights
    best = trial[totals >= totals.max() - 0.2]
    return float(best.mean())


def _piece(stretch: OffsetInterval, array: np.ndarray, middle: float, drift: float,
           watched: Sequence[float]) -> ClockSegment:
    votes, low, high = _best_offset(array, middle, drift, stretch.offset)
    if not votes:
        low, high = float(stretch.start - stretch.offset), float(stretch.end - stretch.offset)
        return ClockSegment(float(stretch.offset), middle, low, high, 0, 0, float(2 * stretch.slack),
                     stretch.start, stretch.end)
    lowest, highest = _edges(array, middle, drift)
    offset = _refine((low + high) / 2, lowest, highest, array[:, 3])
    agree = (lowest <= offset) & (offset <= highest)
    far = (highest < offset - _ELSEWHERE) | (lowest > offset + _ELSEWHERE)
    others, *ends = _best_offset(array[far], middle, drift, offset)
    agreeing = set(array[agree, 0].tolist())
    first, last = min(agreeing), max(agreeing)
    inside = {time for time in watched if first <= time <= last}
    usual = len(inside - agreeing) / max(len(inside), 1)
    return ClockSegment(offset, middle, first, last, votes, others, high - low, stretch.start, stretch.end,
                 tuple(sorted({time for time in watched if time not in agreeing})), usual, sum(ends) / 2)
