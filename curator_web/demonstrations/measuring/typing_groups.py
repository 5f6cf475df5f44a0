"""Turns of the same recorded events that two annotators merged or split in different ways; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.turns.programs import recorded_facts
from schemas import types


@dataclass(frozen=True)
class TypingGroup:
    """All turns that share events, of both. `key`: the turn that names the group, if possible one that both have."""

    key: str
    first: list[types.BrowserTurn]
    second: list[types.BrowserTurn]


def typing_groups(first: Sequence[types.Turn], second: Sequence[types.Turn]) -> list[TypingGroup]:
    """The groups whose events are distributed over other turns in the second than in the first."""
    roots: dict[int, int] = {}
    for turn in [*_with_events(first), *_with_events(second)]:
        for event in turn["events"]:
            roots[_root(roots, event)] = _root(roots, turn["events"][0])
    groups: dict[int, tuple[list[types.BrowserTurn], list[types.BrowserTurn]]] = {}
    for side, turns in enumerate((first, second)):
        for turn in _with_events(turns):
            groups.setdefault(_root(roots, turn["events"][0]), ([], []))[side].append(turn)
    return [TypingGroup(_key(*sides), *sides) for sides in groups.values()
            if all(sides) and _distribution(sides[0]) != _distribution(sides[1])]


def _with_events(turns: Sequence[types.Turn]) -> list[types.BrowserTurn]:
    return [turn for turn in turns if turn["type"] == "browser" and turn["events"]]


def _root(roots: dict[int, int], event: int) -> int:
    """The event that stands for all that are connected with this one; paths are halved on the way."""
    roots.setdefault(event, event)
    while roots[event] != event:
        roots[event] = roots[roots[event]]
        event = roots[event]
    return event


def _distribution(turns: Sequence[types.BrowserTurn]) -> dict[str, tuple[Any, ...]]:
    return {turn["id"]: recorded_facts(turn) for turn in turns}


def _key(first: Sequence[types.BrowserTurn], second: Sequence[types.BrowserTurn]) -> str:
    """As `programs.Program.regroup` chooses the turn that stays."""
    names = {turn["id"] for turn in second}
    return next((turn["id"] for turn in first if turn["id"] in names), first[0]["id"])
