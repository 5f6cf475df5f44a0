"""Agreement of two people's codings beyond chance: Cohen's kappa and Krippendorff's alpha.

Cohen, "A coefficient of agreement for nominal scales" (1960): kappa of the one table of all that a first and a second
person said, whoever they were. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): nominal, and interval
for numbers. The interval of alpha is a bootstrap over groups (demonstrations), as what is said within one hangs
together; its seed is fixed, so the same codings always have the same. That of kappa is one over items.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Literal

import numpy

Group = Sequence[tuple[str, str, int]]  # what the first said, what the second said, how often
Scale = Literal["nominal", "interval"]
RESAMPLES, SEED, PERCENTILES = 1000, 0, (2.5, 97.5)


@dataclass(frozen=True)
class Reliability:
    """`agreement`: share of items of which both said the same. None where there is nothing to tell: no items, or one
    value only, so that chance explains everything. `low`, `high`: 95 % interval of alpha."""

    items: int
    agreement: float | None = None
    kappa: float | None = None
    alpha: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class _DisagreementSums:
    """What alpha is computed from. `items`, `apart`: of each group, how many, and the sum of the squared distances of
    what both said. Then of each value said: the group, the value's place or number, and how often."""

    scale: Scale
    items: numpy.ndarray
    disagreement: numpy.ndarray
    groups: numpy.ndarray
    values: numpy.ndarray
    counts: numpy.ndarray

    def alpha(self, weights: numpy.ndarray) -> float | None:
        """Alpha of the groups, each taken so many times."""
        said, counts = 2 * float(weights @ self.items), self.counts * weights[self.groups]
        there = self.values[counts > 0]
        if there.min() == there.max():
            return None
        if self.scale == "nominal":
            by_chance = said ** 2 - float((numpy.bincount(self.values, counts) ** 2).sum())
        else:
            by_chance = 2 * said * float(counts @ (self.values - counts @ self.values / said) ** 2)
        alpha = 1 - (said - 1) * 2 * float(weights @ self.disagreement) / by_chance if by_chance else nan
        return alpha if isfinite(alpha) else None


def reliability(groups: Sequence[Group], scale: Scale = "nominal") -> Reliability:
    """Measure the agreement of two people. On the interval scale every value is a number."""
    groups = [group for group in groups if group]
    flat = [pair for group in groups for pair in group]
    items = sum(count for _, _, count in flat)
    if not items:
        return Reliability(0)
    agreeing = sum(count for a, b, count in flat if _distance(a, b, scale) == 0)
    sums = _sums(groups, scale)
    with numpy.errstate(all="ignore"):  # numbers may be huge; then alpha is None
        alpha, (low, high) = sums.alpha(numpy.ones(len(groups))), _interval(sums, len(groups))
    return Reliability(items, agreeing / items, _kappa(flat, items, agreeing), alpha, low, high)


def kappa_interval(table: Group) -> tuple[float | None, float | None]:
    """95 % interval of Cohen's kappa: the percentile bootstrap over items (Efron and Tibshirani, "An Introduction to
    the Bootstrap", 1993, section 13.3). To draw items anew is to draw the counts of the table anew. None where kappa
    is none; draws of which it is none are left out."""
    items = sum(count for _, _, count in table)
    if not items or _kappa(table, items, sum(count for a, b, count in table if a == b)) is None:
        return None, None
    values = {value: index for index, value in enumerate(dict.fromkeys(value for a, b, _ in table for value in (a, b)))}
    shares = numpy.zeros((len(values), len(values)))
    for a, b, count in table:
        shares[values[a], values[b]] += count / items
    drawn = numpy.random.default_rng(SEED).multinomial(items, (shares / shares.sum()).ravel(), RESAMPLES) / items
    tables = drawn.reshape(RESAMPLES, *shares.shape)
    agreeing = tables.trace(axis1=1, axis2=2)
    by_chance = (tables.sum(axis=2) * tables.sum(axis=1)).sum(axis=1)
    is_defined = by_chance < 1 - 1e-12  # shares of the only value may add up to a little less than one
    if not is_defined.any():
        return None, None
    low, high = numpy.percentile((agreeing[is_defined] - by_chance[is_defined]) / (1 - by_chance[is_defined]),
                                 PERCENTILES)
    return float(low), float(high)


def _distance(a: str, b: str, scale: Scale) -> float:
    distance = float(a != b) if scale == "nominal" else float(a) - float(b)
    return distance * distance  # of huge numbers infinite, where ** would raise


def _kappa(flat: Group, items: int, agreeing: int) -> float | None:
    first, second = (dict.fromkeys((pair[side] for pair in flat), 0) for side in (0, 1))
    for a, b, count in flat:
        first[a] += count
        second[b] += count
    by_chance = sum(count * second.get(value, 0) for value, count in first.items()) / items ** 2
    return None if by_chance == 1 else (agreeing / items - by_chance) / (1 - by_chance)


def _sums(groups: Sequence[Group], scale: Scale) -> _DisagreementSums:
    items = numpy.array([sum(count for _, _, count in group) for group in groups], float)
    disagreement = numpy.array([sum(_distance(a, b, scale) * count for a, b, count in group) for group in groups])
    said = [(row, value, count) for row, group in enumerate(groups) for a, b, count in group for value in (a, b)]
    rows, counts = numpy.array([row for row, _, _ in said]), numpy.array([count for _, _, count in said], float)
    if scale == "nominal":
        indices = {value: index for index, value in enumerate(dict.fromkeys(value for _, value, _ in said))}
        values = numpy.array([indices[value] for _, value, _ in said])
    else:
        values = numpy.array([float(value) for _, value, _ in said])
    return _DisagreementSums(scale, items, disagreement, rows, values, counts)


def _interval(sums: _DisagreementSums, groups: int) -> tuple[float | None, float | None]:
    if groups < 2 or sums.alpha(numpy.ones(groups)) is None:
        return None, None
    drawn = numpy.random.default_rng(SEED).multinomial(groups, [1 / groups] * groups, RESAMPLES)
    alphas = [alpha for weights in drawn if (alpha := sums.alpha(weights.astype(float))) is not None]
    if not alphas:
        return None, None
    low, high = numpy.percentile(alphas, PERCENTILES)
    return float(low), float(high)
