"""Turns in which a demonstration differs from the recording: edited, added, moved or dropped."""

from collections.abc import Sequence
from typing import Any

from schemas.types.recordings import Turn


def edit_reasons(recorded: Sequence[Turn], turns: Sequence[Turn]) -> dict[str, str]:
    """By the id of each turn that is done: why it is not what the person did there; those that are, are not in it.

    `recorded`: as the events were folded; without any, nothing is known. `turns`: as they are now. A turn that is left
    out is told at the next one that is done, behind the last at that one.
    """
    reasons: dict[str, str] = {}
    known = {tuple(turn["events"]): (index, turn) for index, turn in enumerate(recorded) if turn["type"] == "browser"}
    now: list[Any] = [turn for turn in turns if turn["type"] == "browser"]
    last, latest, missing = None, -1, ""
    for turn in now if known else ():
        index, before = known.get(tuple(turn["events"]), (latest, None))
        if turn["dropped"]:
            if before is None or not before["dropped"]:
                missing = f"{turn['id']}, {turn['intent']}, is dropped"
            continue
        if said := missing or _edited(turn, before) or ("it was moved" if index < latest else ""):
            reasons[turn["id"]] = said
        last, latest, missing = turn["id"], max(latest, index), ""
    if last and missing:
        reasons.setdefault(last, missing)
    return reasons


def _edited(turn: Any, before: Any) -> str:
    if before is None:
        return "it was not recorded"
    if turn["intent"] != before["intent"]:
        return f"{before['intent']} was recorded"
    if _target(turn) != _target(before):
        return "another element was recorded"
    return "" if turn["arguments"] == before["arguments"] else "other arguments were recorded"


def _target(turn: Any) -> tuple[Any, ...] | None:
    element = turn["element"]
    return element and (element["uid"], element["frame"])
