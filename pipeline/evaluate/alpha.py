"""Krippendorff's alpha of any number of annotators, who each answered some of the units.

Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), by the matrix of coincidences; nominal, ordinal and
interval. The package krippendorff is the reference in tests, but not used here: its licence (GPL-3.0-or-later) does not
fit this one, and an interval of alpha needs the matrices of groups. `reliability.py` computes it for two people from
counts: they may name thousands of values, for which these matrices are too large.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy

Level = Literal["nominal", "ordinal", "interval"]
Unit = Sequence[Hashable]  # what annotators answered about one thing
RESAMPLES, SEED, PERCENTILES = 1000, 0, (2.5, 97.5)


@dataclass(frozen=True)
class Alpha:
    """`units`: those with two answers or more; `agreement`: the share of pairs of answers to a unit that are equal,
    each unit with equal weight per answer. `low`, `high`: 95 % interval of `alpha`, a bootstrap over groups. None where
    there is nothing to compute from: no units, or one value only."""

    units: int
    agreement: float | None = None
    alpha: float | None = None
    low: float | None = None
    high: float | None = None


def krippendorff_alpha(groups: Sequence[Sequence[Unit]], level: Level) -> Alpha:
    """Alpha of units in groups, such as the turns of demonstrations. Values are numbers on all levels but nominal."""
    pairable = [[unit for unit in group if len(unit) > 1] for group in groups]
    pairable = [group for group in pairable if group]
    units = sum(map(len, pairable))
    if not units:
        return Alpha(0)
    values: list[Any] = list({value for group in pairable for unit in group for value in unit})
    if level != "nominal":
        values.sort()
    matrices = numpy.array([_coincidences(group, values) for group in pairable])
    total = matrices.sum(axis=0)
    agreement = float(numpy.trace(total) / total.sum())
    alpha = _alpha(total, values, level)
    low, high = (None, None) if alpha is None else _interval(matrices, values, level)
    return Alpha(units, agreement, alpha, low, high)


def _coincidences(units: Sequence[Unit], values: Sequence[Hashable]) -> numpy.ndarray:
    """How often each two values were given to one unit, each unit weighted by its number of answers; shape (values,
    values)."""
    index = {value: number for number, value in enumerate(values)}
    matrix = numpy.zeros((len(values), len(values)))
    for unit in units:
        counts = numpy.bincount([index[value] for value in unit], minlength=len(values)).astype(float)
        matrix += (numpy.outer(counts, counts) - numpy.diag(counts)) / (len(unit) - 1)
    return matrix


def _alpha(matrix: numpy.ndarray, values: Sequence[Any], level: Level) -> float | None:
    counts = matrix.sum(axis=0)
    distances = _distances(counts, values, level)
    by_chance = float((numpy.outer(counts, counts) * distances).sum())
    if not by_chance:
        return None
    return 1 - (float(counts.sum()) - 1) * float((matrix * distances).sum()) / by_chance


def _distances(counts: numpy.ndarray, values: Sequence[Any], level: Level) -> numpy.ndarray:
    """The squared distance of each two values."""
    if level == "nominal":
        return 1 - numpy.eye(len(values))
    # ordinal: by the number of answers between the middles of two values
    points = numpy.array(values, float) if level == "interval" else numpy.cumsum(counts) - counts / 2
    return (points[:, None] - points[None, :]) ** 2


def _interval(matrices: numpy.ndarray, values: Sequence[Any], level: Level) -> tuple[float | None, float | None]:
    """By drawing groups anew; draws in which alpha is not defined are left out."""
    count = len(matrices)
    if count < 2:
        return None, None
    drawn = numpy.random.default_rng(SEED).multinomial(count, [1 / count] * count, RESAMPLES)
    alphas = [alpha for weights in drawn
              if (alpha := _alpha(numpy.tensordot(weights, matrices, 1), values, level)) is not None]
    if not alphas:
        return None, None
    low, high = numpy.percentile(alphas, PERCENTILES)
    return float(low), float(high)
