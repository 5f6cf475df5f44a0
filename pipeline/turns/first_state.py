"""The state of a session's beginning."""

from collections.abc import Iterable
from typing import TypeVar

from schemas.types.recordings import State, TurnState

Known = TypeVar("Known", State, TurnState)


def first_state(states: Iterable[Known | None]) -> Known | None:
    """The first state that has a page, else the first at all: the empty page of a new tab may not have the size that
    its context gives it."""
    known = [state for state in states if state]
    return next((state for state in known if state["dom"]), known[0] if known else None)
