"""Preconditions of a new edit; pure.

The fold of edits itself is more lenient: a log that an earlier version stored must open for good. What is new is
refused where it would lose or export what nobody sees, alike in the review page, the API and where a pair is settled,
for all of them append an edit through `edits.append_edit`.
"""

from collections.abc import Sequence
from typing import Any

from schemas import InputError, limits
from schemas.types.recordings import BrowserTurn, Edit, Turn

BY_HAND = ("click", "textInput", "change", "hover", "dblclick", "press", "submit")  # intents that can be added


def require_preconditions(turns: Sequence[Turn], edit: Edit, where: str, recorded: Sequence[Turn] = ()) -> None:
    """Raises InputError naming the edit, the field and the condition that does not hold.

    `turns`: those before the edit; `recorded`: the base turns, where they are known. A turn that does not exist is the
    fold's to refuse.
    """
    if edit["op"] == "merge":
        _require_mergeable(turns, edit, where)
    elif edit["op"] == "split":
        _require_splittable(turns, edit, where)
    elif edit["op"] == "retarget" and edit["element"] is None and recorded:
        _require_recorded_without_target(turns, edit, where, recorded)


def merge_obstacle(turns: Sequence[Turn], first: str, other: str) -> str | None:
    """Why two turns of typing cannot be merged, in any order; None if they can."""
    positions = {turn["id"]: index for index, turn in enumerate(turns)}
    if first not in positions or other not in positions or first == other:
        return "only two turns of typing into the same field can be merged"
    start, end = positions[first], positions[other]
    if _field(turns[start]) is None or _field(turns[start]) != _field(turns[end]):
        return "only two turns of typing into the same field can be merged"
    if turns[start]["dropped"] or turns[end]["dropped"]:
        return "a dropped turn cannot be merged; restore it first"
    low, high = sorted((start, end))
    between = next((turn["id"] for turn in turns[low + 1:high] if not turn["dropped"]), None)
    if between is not None:
        return f"{between!r} is between the two; drop it, or move it, first"
    return None


def _require_mergeable(turns: Sequence[Turn], edit: Edit, where: str) -> None:
    obstacle = merge_obstacle(turns, edit["turn"], edit["other"])
    if obstacle:
        raise InputError(f"{where}: field other: {obstacle}")


def _field(turn: Turn) -> tuple[Any, ...] | None:
    """Which field was typed into; None for what is no typing, or typing into an unknown field."""
    if turn["type"] == "chat" or turn["intent"] != "textInput" or not turn["element"]:
        return None
    element, state = turn["element"], turn["state"]
    return state["tab"] if state else None, tuple(element["frame"]), element["uid"]


def _require_splittable(turns: Sequence[Turn], edit: Edit, where: str) -> None:
    """The second part is of the same field, and dropped if the first is."""
    turn, added = next((turn for turn in turns if turn["id"] == edit["turn"]), None), edit["added"]
    if turn is None or turn["type"] == "chat" or added["type"] == "chat":
        return
    if not added["events"]:
        raise InputError(f"{where}: field added.events: must contain at least one event of the turn that is split")
    if added["element"] != turn["element"]:
        raise InputError(f"{where}: field added.element: must be the target of the turn that is split")
    if added["dropped"] != turn["dropped"]:
        raise InputError(f"{where}: field added.dropped: must be that of the turn that is split")


def _require_recorded_without_target(turns: Sequence[Turn], edit: Edit, where: str, recorded: Sequence[Turn]) -> None:
    turn = next((turn for turn in turns if turn["id"] == edit["turn"]), None)
    if turn is None or turn["type"] == "chat":
        return
    events = set(turn["events"])
    if not any(base["type"] == "browser" and base["element"] is None
               and (base["id"] == turn["id"] or (events and events <= set(base["events"]))) for base in recorded):
        raise InputError(f"{where}: field element: null is only possible for a turn that was recorded without a target")


def require_manual(added: BrowserTurn, where: str) -> None:
    """Raises InputError for an action that cannot be one without events."""
    if added["intent"] not in BY_HAND:
        raise InputError(f"{where}: field added.intent: {added['intent']} cannot be added; choose one of "
                         f"{', '.join(BY_HAND)}")
    if added["events"]:
        raise InputError(f"{where}: field added.events: must be empty, because an added action has no events")
    if not added["state"] or not added["element"]:
        raise InputError(f"{where}: field added: requires the state of the action, and its element")
    if added["intent"] == "change" and not added["arguments"]:
        raise InputError(f"{where}: field added.arguments: a change requires a value, a label or checked")
    for name, value in added["arguments"].items():
        if isinstance(value, str) and len(value) > limits.ADDED_TEXT:
            raise InputError(f"{where}: field added.arguments.{name}: must have at most {limits.ADDED_TEXT} characters")
