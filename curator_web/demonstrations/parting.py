"""Two sessions of one task turn by turn, and where they part. Pure functions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from schemas import types
from schemas.addresses import split_address

LONGEST = 1000  # actions of a session that are compared


@dataclass(frozen=True)
class Step:
    """What the two did at a place of the way, by the turns' ids: None for nothing; `same`: both did the same."""

    first: str | None
    second: str | None
    same: bool


def aligned(first: Sequence[types.Turn], second: Sequence[types.Turn]) -> list[Step]:
    """The actions of two sessions beside each other, matched by intent and target, in the order of both; what was
    dropped and what was said are left out."""
    ours, theirs = _actions(first), _actions(second)
    matcher = SequenceMatcher(None, [_key(turn) for turn in ours], [_key(turn) for turn in theirs], autojunk=False)
    return [step for _, *places in matcher.get_opcodes() for step in _steps(ours, theirs, *places)]


def parting(steps: Sequence[Step]) -> int | None:
    """Where in the steps the first is that the two did not both do; None where they did the same all along."""
    return next((number for number, step in enumerate(steps) if not step.same), None)


def _actions(turns: Sequence[types.Turn]) -> list[types.BrowserTurn]:
    return [turn for turn in turns if turn["type"] == "browser" and not turn["dropped"]][:LONGEST]


def _steps(ours: list[types.BrowserTurn], theirs: list[types.BrowserTurn], begin: int, end: int, other_begin: int,
           other_end: int) -> Iterator[Step]:
    one, two = ours[begin:end], theirs[other_begin:other_end]
    for number in range(max(len(one), len(two))):
        left, right = (each[number] if number < len(each) else None for each in (one, two))
        yield Step(left["id"] if left else None, right["id"] if right else None,
                   left is not None and right is not None and _key(left) == _key(right))


def _key(turn: types.BrowserTurn) -> tuple[str, str, str]:
    """The intent, and the target by what a person would call it; of what has none, the path of the address."""
    element = turn["element"]
    if element is None:
        url = turn["arguments"].get("url", "") if turn["intent"] == "load" else ""
        return turn["intent"], "", split_address(str(url)).path
    name = element["name"] or element["text"] or element["attributes"].get("id") or element["css"]
    return turn["intent"], element["role"] or element["tag"], " ".join(name.lower().split())
