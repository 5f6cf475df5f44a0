"""Dates in one of three orders, which only the whole log determines."""

from collections.abc import Callable, Iterable
from datetime import date

Order = Callable[[str, str, str], date | None]


def year_first(year: str, month: str, day: str) -> date | None:
    """2024, 03, 05; None when there is no such day."""
    try:
        return date(int(year) + (2000 if len(year) <= 2 else 0), int(month), int(day))
    except ValueError:
        return None


def day_first(day: str, month: str, year: str) -> date | None:
    """05, 03, 2024."""
    return year_first(year, month, day)


def month_first(month: str, day: str, year: str) -> date | None:
    """03, 05, 2024."""
    return year_first(year, month, day)


def order_of(days: Iterable[tuple[str, str, str]], likely: Order = day_first) -> Order:
    """How the days of a log are written: the year first if it has four digits there; else with the day or the month
    first, whichever gives more days that are and fewer that run backwards; `likely` when both do alike."""
    days = list(days)
    if days and all(len(day[0]) == 4 for day in days):
        return year_first

    def faults(order: Order) -> tuple[int, int]:
        orders = [order(*day) for day in days]
        known = [order_known for order_known in orders if order_known]
        return len(orders) - len(known), sum(later < order_known for order_known,
                                             later in zip(known, known[1:], strict=False))

    other = month_first if likely is day_first else day_first
    return min((likely, other), key=faults)
