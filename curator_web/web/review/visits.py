"""Visits: turns in a row on one page."""

from collections.abc import Sequence

from schemas import types


def visit_starts(turns: Sequence[types.Turn]) -> list[int]:
    """The index of the first turn of each visit: of one tab at one address, whatever its fragment."""
    starts: list[int] = []
    now: tuple[int, str] | None = None
    for index, turn in enumerate(turns):
        state = turn["state"] if turn["type"] == "browser" else None
        page = (state["tab"], state["url"].partition("#")[0]) if state else now
        if not starts or (now is not None and page != now):
            starts.append(index)
        now = page
    return starts
