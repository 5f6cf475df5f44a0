"""Signals of a live room (handover, request for help, end of the task), their labels, and waiting times by role.

Pure functions.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from schemas.formats.parts import DONE, HELP
from schemas.types.recordings import ChatLine, Demonstration, Signal, Turn

NAVIGATOR, INSTRUCTOR = "navigator", "instructor"
OUTCOME, HELP_LABEL = "outcome", "help"  # names of the labels
_OTHER = {NAVIGATOR: INSTRUCTOR, INSTRUCTOR: NAVIGATOR}


def signals_of(lines: Iterable[ChatLine]) -> list[Signal]:
    """The signals among the lines of chat.jsonl."""
    return [cast(Signal, {name: line[name] for name in ("time", "speaker", "signal", "success") if name in line})
            for line in lines if "signal" in line]


def labels_of(signals: Sequence[Signal]) -> dict[str, list[str]]:
    """What the signals say of the demonstration: its outcome, success or failure, by the last word on it, and who asked
    for help."""
    labels: dict[str, list[str]] = {}
    if outcomes := [signal["success"] for signal in signals if signal["signal"] == DONE]:
        labels[OUTCOME] = ["success" if outcomes[-1] else "failure"]
    if helped := dict.fromkeys(signal["speaker"] for signal in signals if signal["signal"] == HELP):
        labels[HELP_LABEL] = list(helped)
    return labels


def with_signals(demonstration: Demonstration, signals: Sequence[Signal]) -> Demonstration:
    """The demonstration with its signals, and the labels that follow from them."""
    if not signals:
        return demonstration
    labels: Mapping[str, list[str]] = labels_of(signals)
    result: Demonstration = {**demonstration, "signals": list(signals)}
    if labels:
        result["labels"] = {**result.get("labels", {}), **labels}
    return result


def waiting_seconds(turns: Iterable[Turn], signals: Iterable[Signal]) -> dict[str, float]:
    """How many seconds each role was waited for: from a message or signal of the other until their own next message or
    signal, or, of the navigator, their next action. What nobody answered does not count."""
    moves = [(turn["timestamp"], turn["speaker"], True) if turn["type"] == "chat" else
             (turn["timestamp"], NAVIGATOR, False) for turn in turns if not turn["dropped"]]
    moves += [(signal["time"], signal["speaker"], True) for signal in signals]
    seconds, since = {NAVIGATOR: 0.0, INSTRUCTOR: 0.0}, dict[str, float]()
    for time, role, is_message in sorted(moves):
        if role in since:
            seconds[role] += time - since.pop(role)
        if is_message:
            since.setdefault(_OTHER[role], time)
    return seconds
