"""Matches the steps in an agent's own log with the turns that were recorded meanwhile. Pure.

Both are sequences of turns in the order in which they happened. Pairs are chosen so that the order is kept and the
sum of their scores is greatest (Needleman and Wunsch 1970, without a cost of gaps). Two actions are a pair only where
something besides their kind agrees, and nothing contradicts: a report at another turn is worse than none.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urldefrag

from schemas import REDACTED
from schemas.types.recordings import BrowserTurn, Element, Turn

from .agent_steps import LATE_EFFECTS_S

_SAME_INTENT, _RELATED_INTENT = 2.0, 1.0
_MIN_SCORE = 2.0  # of a pair: a related intent needs something else that agrees
_NEAR_S, _FAR_S = 3.0, 15.0  # between the times of an action in the log and in the recording: evidence, and a hint
_CONTRADICTION = -10.0
# Intents by which an agent's log names actions that are recorded as another, in both directions.
_RELATED = [{"click", "dblclick"}, {"click", "change"}, {"click", "submit"}, {"press", "submit"}, {"click", "hover"},
            {"textInput", "change"}, {"textInput", "press"}, {"textInput", "paste"}, {"load", "tabcreate"},
            {"load", "reload"}, {"back", "load"}, {"forward", "load"}, {"change", "press"}]
_WITHOUT_TARGET = ("back", "forward", "reload", "scroll", "tabcreate", "tabremove", "tabswitch", "dialog")
_EFFECTS = ("load", "submit", "tabcreate", "tabremove", "tabswitch", "dialog")  # of an action, as turns
_VALUES = {"textInput": ("text",), "change": ("label", "value", "checked"), "press": ("key",), "load": ("url",),
           "paste": ("text",)}
_NAMING = ("id", "name", "data-testid", "href", "aria-label", "placeholder")


def match_steps(logged: Sequence[Turn], recorded: Sequence[Turn], shift: float | None) -> list[list[str]]:
    """For each step of a log, in order, the ids of its recorded turns; empty where none matches.

    A step is a turn with a report and the turns after it without one. `shift`: seconds to be added to times of the log
    for those of the recording; None where the log has no times. Loads, submits, tabs and dialogs within a second of a
    matched turn belong to its step.
    """
    actions = [turn for turn in logged if turn["type"] == "browser"]
    turns = [turn for turn in recorded if turn["type"] == "browser" and not turn["dropped"]]
    scores = [[_score(action, turn, shift) for turn in turns] for action in actions]
    matches = dict(_best_pairs(scores))
    last: tuple[float, int] | None = None  # time of the newest matched turn, and its step
    of_turn = {turn: action for action, turn in matches.items()}
    numbers = _step_numbers(actions)
    steps: list[list[str]] = [[] for _ in range(max(numbers, default=-1) + 1)]
    for index, turn in enumerate(turns):
        if index in of_turn:
            last = turn["timestamp"], numbers[of_turn[index]]
        elif turn["intent"] not in _EFFECTS:
            last = None
        if last and last[1] >= 0 and turn["timestamp"] <= last[0] + LATE_EFFECTS_S:
            steps[last[1]].append(turn["id"])
    return steps


def _step_numbers(actions: Sequence[BrowserTurn]) -> list[int]:
    """By action the number of its step, from 0; -1 before the first report."""
    numbers, number = [], -1
    for action in actions:
        number += "agent" in action
        numbers.append(number)
    return numbers


def _best_pairs(scores: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """The pairs of rows and columns, both ascending, with the greatest sum of scores."""
    width = len(scores[0]) if scores else 0
    best = [[0.0] * (width + 1) for _ in range(len(scores) + 1)]
    for row in range(len(scores) - 1, -1, -1):
        for column in range(width - 1, -1, -1):
            score = scores[row][column]
            paired = score + best[row + 1][column + 1] if score >= _MIN_SCORE else 0.0
            best[row][column] = max(paired, best[row + 1][column], best[row][column + 1])
    pairs, row, column = [], 0, 0
    while row < len(scores) and column < width:
        score = scores[row][column]
        if score >= _MIN_SCORE and best[row][column] == score + best[row + 1][column + 1]:
            pairs.append((row, column))
            row, column = row + 1, column + 1
        elif best[row][column] == best[row + 1][column]:
            row += 1
        else:
            column += 1
    return pairs


def _score(action: BrowserTurn, turn: BrowserTurn, shift: float | None) -> float:
    """How well an action of a log fits a recorded turn; below `_MIN_SCORE` where they are not a pair."""
    intent, other = action["intent"], turn["intent"]
    if intent != other and {intent, other} not in _RELATED:
        return 0.0
    evidence = [_target_evidence(action, turn), _time_evidence(action, turn, shift)]
    if intent == other:
        evidence.append(_value_evidence(action["arguments"], turn["arguments"], intent))
    score = (_SAME_INTENT if intent == other else _RELATED_INTENT) + sum(evidence)
    return score if intent in _WITHOUT_TARGET or any(part > 0 for part in evidence) else 0.0


def _value_evidence(arguments: Mapping[str, Any], others: Mapping[str, Any], intent: str) -> float:
    """Whether both typed, chose, pressed or loaded the same."""
    names = [name for name in _VALUES.get(intent, ()) if arguments.get(name) is not None
             and others.get(name) is not None]
    if not names:
        return 0.0
    one, other = (_plain(values[names[0]]) for values in (arguments, others))
    if _plain(REDACTED) in (one, other):
        return 0.5
    if one == other:
        return 2.0
    return 0.5 if one and other and (one in other or other in one) else _CONTRADICTION


def _plain(value: Any) -> str:
    text = " ".join(str(value).split()).casefold()
    return urldefrag(text).url.rstrip("/") if "://" in text else text


def _target_evidence(action: BrowserTurn, turn: BrowserTurn) -> float:
    """Whether both acted on the same element, as far as the log describes it."""
    logged, recorded = action["element"], turn["element"]
    if recorded is None:
        return 0.0
    if logged is None:
        return _point_evidence(action["arguments"], recorded)
    attributes, others = logged["attributes"], recorded["attributes"]
    named = [name for name in _NAMING if attributes.get(name) and others.get(name)]
    same = [name for name in named if attributes[name] == others[name]]
    score = 1.0 * len(same) - 1.0 * (len(named) - len(same))
    if logged["name"] and recorded["name"]:
        score += 2.0 if _plain(logged["name"]) == _plain(recorded["name"]) else -1.0
    if logged["xpath"] and logged["xpath"].strip("/") == recorded["xpath"].strip("/"):
        score += 1.0
    if logged["tag"] and recorded["tag"] and logged["tag"].lower() != recorded["tag"].lower():
        score -= 1.0
    return score if score >= 0 else _CONTRADICTION


def _point_evidence(arguments: Mapping[str, Any], element: Element) -> float:
    """Whether a point in the log is in the recorded target's box."""
    box, x, y = element["bbox"], arguments.get("x"), arguments.get("y")
    if box is None or x is None or y is None:
        return 0.0
    is_inside = box["x"] <= x <= box["x"] + box["width"] and box["y"] <= y <= box["y"] + box["height"]
    return 2.0 if is_inside else _CONTRADICTION


def _time_evidence(action: BrowserTurn, turn: BrowserTurn, shift: float | None) -> float:
    if shift is None:
        return 0.0
    distance = abs(action["timestamp"] + shift - turn["timestamp"])
    return 1.0 if distance <= _NEAR_S else 0.25 if distance <= _FAR_S else 0.0
