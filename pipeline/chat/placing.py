"""Placing utterances among the actions."""

from collections.abc import Iterator

from schemas.types import ChatTurn, Check, Demonstration, Turn

from .log import MINUTE, ChatLine, ChatLog

_ROUNDING = 1.0  # seconds: up to here a written time is truncated rather than vague


def place(demonstration: Demonstration, log: ChatLog) -> Demonstration:
    """The demonstration with one chat turn a line; turns that it has keep their order.

    Written times are truncated, so the truth lies up to `precision` later. An instructor's utterance goes to the
    earliest place, so that it stands before the action that answers it. A navigator cannot type and act at once and
    mostly tells what was just done, so a navigator's goes to the latest place that does not overtake the log's order.
    """
    turns = demonstration["turns"]
    lines = sorted(log.lines, key=lambda line: line.time)  # stable: equal times keep the log's order
    places = _places(turns, lines)
    numbers = _free_numbers(turns)
    merged: list[Turn] = []
    done = 0
    for line, position in zip(lines, places, strict=True):
        merged += turns[done:position]
        done = position
        merged.append(_turn(line, f"chat-{next(numbers)}", merged))
    return {**demonstration, "turns": merged + turns[done:]}


def _places(turns: list[Turn], lines: list[ChatLine]) -> list[int]:
    """Before which turn each line stands."""
    places, lowest = [], 0
    for line in lines:
        latest = line.time + (line.precision if line.role == "navigator" and line.precision <= _ROUNDING else 0)
        while lowest < len(turns) and turns[lowest]["timestamp"] < line.time:
            lowest += 1
        position = lowest
        while position < len(turns) and turns[position]["timestamp"] < latest:
            position += 1
        places.append(position)
    for index in range(len(places) - 2, -1, -1):
        places[index] = min(places[index], places[index + 1])
    return places


def _turn(line: ChatLine, name: str, before: list[Turn]) -> ChatTurn:
    """A chat turn; within what its time leaves open, its timestamp follows the turn before it."""
    previous = before[-1]["timestamp"] if before else 0.0
    moment = max(line.time, 0.0)
    if moment < previous < line.time + line.precision:
        moment = previous
    checks: list[Check] = [{"kind": "coarse-time", "reason": "The chat log tells only the minute of this utterance."}]
    return {"id": name, "type": "chat", "timestamp": round(moment, 3), "speaker": line.role,
            "utterance": line.utterance, "checks": checks if line.precision >= MINUTE else [], "dropped": False}


def _free_numbers(turns: list[Turn]) -> Iterator[int]:
    taken = {turn["id"] for turn in turns}
    number = 0
    while True:
        number += 1
        if f"chat-{number}" not in taken:
            yield number
