"""No regular expression of the package takes more than linear time, whatever the text: a page is somebody else's."""

import re
import time

import pytest

from tests.support.pattern_table import Used, hostile, patterns

LENGTHS = (2_000, 4_000, 8_000, 16_000)
QUICK = 0.004  # seconds for the longest; a quadratic pattern takes a hundred times as long
STEEP = 2.9  # times as long for twice the length, twice in a row: 2 is linear, 4 quadratic
PATTERNS = patterns()


def took(call, text) -> float:
    """Seconds of processor time, the best of two."""
    best = float("inf")
    for _ in range(2):
        began = time.process_time()
        call(text)
        best = min(best, time.process_time() - began)
        if best < QUICK:
            break
    return best


def steepest(pattern: "re.Pattern", call) -> tuple[list[float], str] | None:
    """Times of a text by its lengths, where they rise more than linearly."""
    texts = zip(*(list(hostile(pattern, length)) for length in LENGTHS), strict=True)
    for grown in texts:
        times = []
        for text in grown:
            times.append(max(took(call, text), 0.0005))
            rises = [after / before for before, after in zip(times, times[1:], strict=False)]
            if times[-1] > QUICK and len(rises) > 1 and min(rises[-2:]) > STEEP:
                return times, text[:60]
    return None


@pytest.mark.parametrize("used", PATTERNS, ids=[used.where for used in PATTERNS])
def test_no_pattern_takes_more_than_linear_time(used: Used):
    for call in used.calls():
        assert steepest(used.pattern, call) is None, used


@pytest.mark.parametrize("bad, method", [(r"(a+)+$", "match"), (r"<v[^>]+>", "search"), (r"\s+$", "search"),
                                         (r"(.*):\s*x", "search"), (r'"(.*?)"\n', "search")])
def test_the_test_finds_a_pattern_that_does(bad, method):
    pattern = re.compile(bad)
    if bad == r"(a+)+$":  # exponential: the shortest text is enough
        began = time.process_time()
        pattern.match("a" * 22 + "\0")
        assert time.process_time() - began > QUICK
        return
    # Where a processor goes now faster and now slower, times of one run may rise less steeply.
    assert any(steepest(pattern, getattr(pattern, method)) for _ in range(5))
