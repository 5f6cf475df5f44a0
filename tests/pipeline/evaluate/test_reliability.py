"""Kappa and alpha against published examples, and where there is nothing to tell."""

import pytest

from pipeline.evaluate.reliability import Reliability, kappa_interval, reliability


def said(first: str, second: str) -> list[tuple[str, str, int]]:
    return [(a, b, 1) for a, b in zip(first.split(), second.split(), strict=True)]


def test_published_examples():
    # Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), A (binary) and B (nominal), two observers each
    binary = reliability([said("0 1 0 0 0 0 0 0 0 0", "1 1 1 0 0 1 0 0 1 0")])
    assert (binary.items, binary.agreement, round(binary.alpha, 3)) == (10, 0.6, 0.095)
    nominal = reliability([said("a a b b d c c c e d d a", "b a b b b c c c e d d d")])
    assert round(nominal.alpha, 3) == 0.692
    # Cohen (1960), table 1: proportions of 200 cases, kappa 0.492
    table = [("a", "a", 88), ("a", "b", 14), ("a", "c", 18), ("b", "a", 10), ("b", "b", 40), ("b", "c", 10),
             ("c", "a", 2), ("c", "b", 6), ("c", "c", 12)]
    assert round(reliability([table]).kappa, 3) == 0.492


def test_numbers_that_are_near_disagree_less():
    near, far = said("1 2 3 4", "1 2 3 5"), said("1 2 3 4", "4 2 3 1")
    assert reliability([near], "interval").alpha > reliability([near]).alpha > reliability([far], "interval").alpha
    # by hand: (8 - 1) * 2 * 1 / (2 * (8 * 69 - 21 ** 2)) is what both are apart of what chance leaves
    assert reliability([near], "interval").alpha == pytest.approx(1 - 7 * 2 / (2 * (8 * 69 - 21 ** 2)))
    assert reliability([[("1", "1.0", 1), ("2", "2", 1)]], "interval").agreement == 1


def test_where_there_is_nothing_to_tell_it_is_none():
    assert reliability([]) == reliability([[]]) == Reliability(0)
    for scale in ("nominal", "interval"):
        assert reliability([said("1 1", "1 1")] * 2, scale) == Reliability(4, 1, None, None)
    huge = reliability([said("1e200 1", "-1e300 2")] * 2, "interval")
    assert (huge.agreement, huge.alpha, huge.low) == (0, None, None)


def test_the_interval_is_the_same_each_time_and_narrower_with_more():
    few, many = [said("a b a a", "a b b a"), said("b b a c", "b a a c"), said("c a", "c b")], 10
    once, more = reliability(few), reliability(few * many)
    assert once == reliability(few) and once.low < once.alpha < once.high
    assert more.high - more.low < once.high - once.low
    assert (reliability(few[:1]).low, reliability(few[:1]).high) == (None, None)


def test_the_interval_of_kappa():
    table = [("a", "a", 88), ("a", "b", 14), ("a", "c", 18), ("b", "a", 10), ("b", "b", 40), ("b", "c", 10),
             ("c", "a", 2), ("c", "b", 6), ("c", "c", 12)]
    low, high = kappa_interval(table)
    # about 1.96 standard errors around 0.492; by Fleiss, Cohen and Everitt (1969) one is 0.051 here
    assert low == pytest.approx(0.392, abs=0.015) and high == pytest.approx(0.591, abs=0.015)
    assert (low, high) == kappa_interval(table)
    few = kappa_interval([(a, b, max(1, count // 10)) for a, b, count in table])
    assert few[1] - few[0] > 2 * (high - low)
    assert kappa_interval([("a", "a", 5), ("b", "b", 5)]) == (1.0, 1.0)
    assert kappa_interval([("a", "a", 9)]) == kappa_interval([]) == (None, None)
    low, high = kappa_interval([("a", "b", 1), ("b", "b", 3)])  # kappa is 0 there, and in most draws
    assert (low, high) == (0.0, 0.0)
