"""Charts as numbers for SVG: position and length of each bar. The templates draw them."""

from dataclasses import dataclass
from datetime import date

WIDTH, HEIGHT = 560, 120  # of the bars by day, in the SVG's units
GAP = 0.3  # of a day's room


@dataclass(frozen=True)
class Bar:
    """A bar of a chart by day: how many of its series there were on which day."""

    x: float
    y: float
    width: float
    height: float
    series: str
    day: date
    count: int


def by_day(days: list[tuple[date, int, int]], names: tuple[str, str]) -> tuple[list[Bar], int]:
    """Two bars a day, side by side, and the number that the chart's height stands for."""
    top = nice(max((count for _, *counts in days for count in counts), default=0))
    room = WIDTH / max(len(days), 1)
    width = room * (1 - GAP) / 2
    bars = []
    for index, (day, *counts) in enumerate(days):
        for number, (series, count) in enumerate(zip(names, counts, strict=True)):
            height = HEIGHT * count / top
            bars.append(Bar(index * room + room * GAP / 2 + number * width, HEIGHT - height, width, height, series,
                            day, count))
    return bars, top


def nice(number: int) -> int:
    """The next number that is easily read off a scale: 1, 2 or 5 and zeros."""
    step = 1
    while True:
        for factor in (1, 2, 5):
            if factor * step >= number:
                return factor * step
        step *= 10


def shares(rows: list[tuple[str, int]]) -> list[tuple[str, int, float]]:
    """Each with its length from 0 to 1, the longest being 1."""
    top = max((count for _, count in rows), default=0)
    return [(name, count, count / top) for name, count in rows if top]
