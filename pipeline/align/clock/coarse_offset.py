"""The approximate time of each sampled frame in the recording: the path through time that best explains all of them.

A frame alone is often ambiguous, as pages look alike and are seen again. A sequence is not: the recording's time goes
on as the video's does, but where the video was paused it jumps ahead. The best path is found by dynamic programming
(Viterbi) over a grid of recording times.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

STEP = 0.2  # seconds between two times of the grid
_FLOOR = 0.1  # grey levels by which a frame may differ from the best picture and count as the same
_UNKNOWN = 1.5  # grey levels: a moment of which the recording has no picture is taken to differ by so much
_LATE, _LATE_COST = 1.5, 0.3  # seconds that a screenshot may have been taken late, and what that costs
_JUMP = 18.0  # what a pause costs: about seven frames that fit much better
_SHORTEST_PAUSE = 1.0  # seconds; shorter ones are found by the exact fit
_SLIP = 4.0  # what one step of drift costs: an hour at 200 ppm takes four
_MAX_LOSS = 1.0  # loss of likelihood within which another offset is as good


@dataclass(frozen=True)
class ShownInterval:
    """A picture was on the screen from one time of the recording to another, at least."""

    start: float
    end: float
    picture: int


@dataclass(frozen=True)
class OffsetInterval:
    """A part of the video without a pause: first and last sampled video time; the video's time less the recording's
    lies within `slack` of `offset`."""

    start: float
    end: float
    offset: float
    slack: float


def fit_offset(times: np.ndarray, differences: np.ndarray, shown: Sequence[ShownInterval],
               duration: float) -> list[OffsetInterval]:
    """Stretches of a video that show the recording, in order; empty when none does.

    `times`: of K sampled frames, seconds of the video, growing. `differences`: K x J, grey levels by which frame k
    differs from picture j. `shown`: the recording's pictures over time. `duration`: of the video, seconds.
    """
    if not len(times) or not shown:
        return []
    share = min(1.0, length(shown) / max(duration, 1e-3))
    likely = _likelihood(differences, share)
    first, last = -duration - 1.0, max(entry.end for entry in shown) + duration + 1.0
    grid = np.arange(np.floor(first / STEP), np.ceil(last / STEP) + 1) * STEP
    scores = _emissions(likely, shown, grid)
    path = _best_path(scores, times)
    return [stretch for stretch in _intervals(times, grid[path], scores, grid)
            if stretch is not None]


def length(shown: Sequence[ShownInterval]) -> float:
    """Seconds from the first picture of a recording to the last."""
    return max(entry.end for entry in shown) - min(entry.start for entry in shown)


def _likelihood(differences: np.ndarray, share: float) -> np.ndarray:
    """Log-likelihood, K x J: 0 for the picture that is most alike, less for others, and less for all where a frame is
    like none. `share`: of the frames, that can show the recording at most."""
    minima = differences.min(axis=1)
    usual = np.percentile(minima, 30 * share)
    noise = np.minimum(minima, 1.5 * usual + 0.5)[:, None]
    return -np.log1p(np.maximum(differences - noise, 0) / _FLOOR)


def _emissions(likely: np.ndarray, shown: Sequence[ShownInterval], grid: np.ndarray) -> np.ndarray:
    """Log-likelihood of each frame at each time of the grid, K x T."""
    scores = np.full((len(likely), len(grid)), -np.log1p(_UNKNOWN / _FLOOR))
    for entry, after in zip(shown, [*shown[1:], None], strict=True):
        own = likely[:, entry.picture, None]
        start, end, late = np.searchsorted(grid, (entry.start - STEP, entry.end + STEP / 2, entry.end + _LATE))
        np.maximum(scores[:, start:end], own, out=scores[:, start:end])
        np.maximum(scores[:, end:late], own - _LATE_COST, out=scores[:, end:late])
        if after and (between := np.searchsorted(grid, after.start)) > end:
            # The screen shows the one or the other, or something that nobody kept.
            both = np.maximum(likely[:, entry.picture], likely[:, after.picture])[:, None] - 2 * _LATE_COST
            np.maximum(scores[:, end:between], both, out=scores[:, end:between])
    return scores


def _best_path(scores: np.ndarray, times: np.ndarray) -> np.ndarray:
    """For each frame the grid's index on the best path."""
    count, size = scores.shape
    total = scores[0].copy()
    predecessor = np.zeros((count, size), np.int32)
    index = np.arange(size)
    steps = np.round(times / STEP).astype(int)  # rounded as a whole: the rests must not add up
    for k in range(1, count):
        shift = int(steps[k] - steps[k - 1])
        best, source = np.full(size, -np.inf), np.zeros(size, np.int32)
        for slip, cost in ((0, 0.0), (-1, _SLIP), (1, _SLIP)):
            moved = max(1, shift + slip)
            if moved < size:
                value = total[:-moved] - cost
                better = value > best[moved:]
                best[moved:][better] = value[better]
                source[moved:][better] = index[:-moved][better]
        jump = shift + round(_SHORTEST_PAUSE / STEP)
        if jump < size:
            highest = np.maximum.accumulate(total[:-jump])
            sources = np.maximum.accumulate(np.where(total[:-jump] >= highest, index[:-jump], 0))
            value = highest - _JUMP
            better = value > best[jump:]
            best[jump:][better] = value[better]
            source[jump:][better] = sources[better]
        predecessor[k] = source
        total = best + scores[k]
    path = [int(total.argmax())]
    for k in range(count - 1, 0, -1):
        path.append(int(predecessor[k, path[-1]]))
    return np.array(path[::-1])


def _intervals(times: np.ndarray, path: np.ndarray, scores: np.ndarray, grid: np.ndarray) -> list[OffsetInterval]:
    """Cut the path where it jumps, and find how far each piece can be moved without explaining less."""
    offsets = times - path
    breaks = np.flatnonzero(offsets[:-1] - offsets[1:] > _SHORTEST_PAUSE - 1.5 * STEP) + 1
    stretches = []
    for piece in np.split(np.arange(len(times)), breaks):
        middle = float(np.median(offsets[piece]))
        moves = np.arange(-30, 31) * STEP
        columns = np.round((times[piece][None] - (middle + moves[:, None]) - grid[0]) / STEP).astype(int)
        inside = np.clip(columns, 0, len(grid) - 1)
        totals = scores[piece[None], inside].sum(axis=1)
        as_good = np.flatnonzero(totals >= totals.max() - _MAX_LOSS)
        low, high = moves[as_good[0]], moves[as_good[-1]]
        stretches.append(OffsetInterval(float(times[piece[0]]), float(times[piece[-1]]), middle + (low + high) / 2,
                             (high - low) / 2 + STEP))
    return stretches
