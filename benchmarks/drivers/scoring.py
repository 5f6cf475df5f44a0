"""Compares turns with what a driver did: recall, precision, order and values."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .script import Action

_BY_THE_WAY = {"load", "tabcreate", "tabswitch", "tabremove", "scroll", "hover", "dialog"}  # intents
_PREPARING = {"click", "press", "dblclick"}  # intents by which drivers give an element the focus or empty it


@dataclass(frozen=True)
class Score:
    """`done`: actions; `matched`: of these with a turn in order; `right`: of these with the right value; `wrong`: turns
    that nobody did; `missing`: actions without a turn; `unordered`: how many actions have a turn, whatever the order;
    `unexplained`: checks of that kind."""

    done: int
    matched: int
    right: int
    wrong: list[str]
    missing: list[str]
    unordered: int
    unexplained: list[str]


def score(turns: Sequence[dict[str, Any]], done: Sequence[Action]) -> Score:
    """Match turns with actions by the longest common subsequence of intent and element."""
    keys = [(action.intent, action.id if action.intent not in ("back", "submit") else "") for action in done]
    turn_keys = [(turn["intent"], _id(turn) if turn["intent"] not in ("back", "submit") else "") for turn in turns]
    pairs = common_pairs(keys, turn_keys)
    matched = dict(pairs)
    right = sum(done[first].expected in (None, _value(turns[second])) for first, second in pairs)
    used = set(matched.values())
    wrong = [_text(turn) for index, turn in enumerate(turns) if index not in used
             and turn["intent"] not in _BY_THE_WAY and not _prepares(turn, done)]
    missing = [f"{action.kind} {action.id}" for index, action in enumerate(done) if index not in matched]
    unexplained = [f"{check['reason'].partition(' has changed')[0]} before {_text(turn)}" for turn in turns
                   for check in turn["checks"] if check["kind"] == "unexplained-change"]
    unordered = (Counter(keys) & Counter(turn_keys)).total()
    return Score(len(done), len(pairs), right, wrong, missing, unordered, unexplained)


def _prepares(turn: dict[str, Any], done: Sequence[Action]) -> bool:
    return turn["intent"] in _PREPARING and any(action.id == _id(turn) and action.kind != "click" for action in done)


def common_pairs(first: Sequence[Any], second: Sequence[Any]) -> list[tuple[int, int]]:
    """Index pairs of the longest common subsequence."""
    lengths = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for row in range(len(first) - 1, -1, -1):
        for column in range(len(second) - 1, -1, -1):
            lengths[row][column] = (lengths[row + 1][column + 1] + 1 if first[row] == second[column]
                                    else max(lengths[row + 1][column], lengths[row][column + 1]))
    pairs, row, column = [], 0, 0
    while row < len(first) and column < len(second):
        if first[row] == second[column]:
            pairs.append((row, column))
            row, column = row + 1, column + 1
        elif lengths[row + 1][column] >= lengths[row][column + 1]:
            row += 1
        else:
            column += 1
    return pairs


def _id(turn: dict[str, Any]) -> str:
    return turn["element"]["attributes"].get("id", "") if turn["element"] else ""


def _value(turn: dict[str, Any]) -> Any:
    arguments = turn["arguments"]
    return next((arguments[name] for name in ("text", "files", "checked", "value") if name in arguments), None)


def _text(turn: dict[str, Any]) -> str:
    return f"{turn['intent']} {_id(turn)} {_value(turn)!r}"
