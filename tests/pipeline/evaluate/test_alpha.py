"""Krippendorff's alpha: as the package krippendorff computes it, and the examples of Krippendorff's paper."""

import random

import krippendorff
import numpy
import pytest

from pipeline.evaluate.alpha import Alpha, krippendorff_alpha
from pipeline.evaluate.reliability import reliability

# Krippendorff (2011), section C: four observers, twelve units, missing data.
PAPER = [[1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
         [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None]]


def units_of(observers: list[list[int | None]]) -> list[list[int]]:
    return [[value for value in values if value is not None] for values in zip(*observers, strict=True)]


@pytest.mark.parametrize("level, expected", [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_the_papers_example(level, expected):
    measured = krippendorff_alpha([units_of(PAPER)], level)
    assert measured.units == 11 and measured.alpha == pytest.approx(expected, abs=0.0005)
    assert measured.low is measured.high is None  # one group


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("seed", range(20))
def test_random_data_as_the_package_computes_them(level, seed):
    rng = random.Random(seed)
    truth = [rng.randint(1, 6) for _ in range(40)]
    observers = [[None if rng.random() < 0.2 else value if rng.random() < 0.7 else rng.randint(1, 6) for value in truth]
                 for _ in range(rng.randint(2, 5))]
    reference = krippendorff.alpha(numpy.array(observers, float), level_of_measurement=level)
    units = units_of(observers)
    measured = krippendorff_alpha([units[:13], units[13:30], units[30:]], level)
    assert measured.alpha == pytest.approx(reference)
    assert measured.low <= measured.high and 0 < measured.agreement < 1


def test_where_there_is_nothing_to_compute_from():
    assert krippendorff_alpha([], "nominal") == krippendorff_alpha([[["a"], []]], "nominal") == Alpha(0)
    assert krippendorff_alpha([[["a", "a"]], [["a", "a"]]], "nominal") == Alpha(2, 1.0)
    assert krippendorff_alpha([[["a", "b"], ["b", "a"]]], "nominal").agreement == 0
    texts = krippendorff_alpha([[[("a", "b"), ("a",)]], [[("a",), ("a",)]]], "nominal")
    assert texts.agreement == 0.5 and texts.alpha == pytest.approx(0)


@pytest.mark.parametrize("level", ["nominal", "interval"])
@pytest.mark.parametrize("seed", range(5))
def test_two_annotators_have_the_alpha_of_codings(level, seed):
    """`reliability` computes it for two people from counts, where a matrix of all their values would be too large."""
    rng = random.Random(seed)
    groups = [[(value, value if rng.random() < 0.6 else rng.randint(1, 5)) for value in rng.choices(range(1, 6), k=20)]
              for _ in range(4)]
    counted = [[(str(first), str(second), 1) for first, second in group] for group in groups]
    one, other = krippendorff_alpha(groups, level), reliability(counted, level)
    assert (one.units, one.agreement) == (other.items, pytest.approx(other.agreement))
    assert (one.alpha, one.low, one.high) == pytest.approx((other.alpha, other.low, other.high))
