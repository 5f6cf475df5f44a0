"""Two sessions of one task turn by turn, and where they part. Pure functions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from schemas import types
from schemas.addresses import split_address

LONGEST = 1000  # actions of a session that are compared


@dataclass(frozen=True)
class AlignedActions:
    """What the two did at a place of the way, by the turns' ids: None for nothing; `same`: both did the same."""

    first: str | None
    second: str | None
    same: bool


def aligned(first: Sequence[types.Turn], second: Sequence[types.Turn]) -> list[AlignedActions]:
    """The actions of two sessions beside each other, matched by intent and target, in the order of both; what was
    dropped and what was said are left out."""
    first_actions, second_actions = _actions(first), _actions(second)
    matcher = SequenceMatcher(None, [_key(turn) for turn in first_actions], [_key(turn) for turn in second_actions],
                              autojunk=False)
    return [step for _, *bounds in matcher.get_opcodes() for step in _steps(first_actions, second_actions, *bounds)]


def parting(steps: Sequence[AlignedActions]) -> int | None:
    """Where in the steps the first is that the two did not both do; None where they did the same all along."""
    return next((number for number, step in enumerate(steps) if not step.same), None)


def _actions(turns: Sequence[types.Turn]) -> list[types.BrowserTurn]:
    return [turn for turn in turns if turn["type"] == "browser" and not turn["dropped"]][:LONGEST]


def _steps(first_actions: list[types.BrowserTurn], second_actions: list[types.BrowserTurn], begin: int, end: int,
           other_begin: int,
           other_end: int) -> Iterator[AlignedActions]:
    first_slice, second_slice = first_actions[begin:end], second_actions[other_begin:other_end]
    for number in range(max(len(first_slice), len(second_slice))):
        first_turn, second_turn = (actions[number] if number < len(actions) else None
                                   for actions in (first_slice, second_slice))
        yield AlignedActions(first_turn["id"] if first_turn else None, second_turn["id"] if second_turn else None,
                             first_turn is not None and second_turn is not None
                             and _key(first_turn) == _key(second_turn))


def _key(turn: types.BrowserTurn) -> tuple[str, str, str]:
    """The intent, and the target by what a person would call it; of what has none, the path of the address."""
    element = turn["element"]
    if element is None:
        url = turn["arguments"].get("url", "") if turn["intent"] == "load" else ""
        return turn["intent"], "", split_address(str(url)).path
    name = element["name"] or element["text"] or element["attributes"].get("id") or element["css"]
    return turn["intent"], element["role"] or element["tag"], " ".join(name.lower().split())
