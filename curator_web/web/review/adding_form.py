"""The form that adds an action, in two steps as Mind2Web's annotators do it: the element, then the operation."""

import hashlib
from typing import Any

from curator_web.demonstrations.library.library import Review
from curator_web.demonstrations.workflow.added_actions import Chosen, Page, chosen, page_of, time_range
from curator_web.errors import ErrorText, InputError
from curator_web.web.shell.forms import parse_arguments
from pipeline.turns.edits import BY_HAND, WITH_POINTER
from recorder.reader import Recording
from schemas import types

_AFTER_LAST_TURN_S = 1.0


def edit_of(review: Review, turn_id: str, form: Any, recording: Recording) -> types.Edit:
    """The edit that a sent form (a MultiDict) means: `seen`, `uid`, `intent` and its arguments. Raises InputError
    naming the field that is wrong."""
    page = page_of(review, turn_id, recording, form.get("seen", ""))
    intent = form.get("intent", "")
    if intent not in BY_HAND:
        raise InputError(ErrorText("field intent: unknown intent %(intent)r; choose one from the "
                                   "list", intent=intent[:40]))
    target = chosen(recording, page.state, form.get("uid", ""))
    name = _name(review, turn_id, page, target.element["uid"])
    low, high = time_range(review, turn_id, recording)
    is_last = review.turns[-1]["id"] == turn_id
    timestamp = min(low + _AFTER_LAST_TURN_S, high) if is_last else (low + high) / 2
    added: types.BrowserTurn = {
        "id": name, "type": "browser", "timestamp": round(timestamp, 3),
        "intent": intent, "arguments": _arguments(intent, form, target, page.state), "element": target.element,
        "state": page.state, "events": [], "checks": [], "dropped": False}
    return {"op": "add", "turn": name, "after": turn_id, "added": added}


def _name(review: Review, turn_id: str, page: Page, uid: str) -> str:
    """The same for the same action at the same place, so that two people who add it are told to agree."""
    used_ids = {turn["id"] for part in (review.turns, *review.elsewhere) for turn in part}
    for count in range(len(used_ids) + 1):
        said = "\n".join((turn_id, page.state["dom"] or "", page.state["elements"] or "", uid, str(count)))
        name = f"added-{hashlib.sha256(said.encode('utf-8', 'replace')).hexdigest()[:12]}"
        if name not in used_ids:
            break
    return name


def _arguments(intent: str, form: Any, target: Chosen, state: types.TurnState) -> dict[str, Any]:
    if intent in WITH_POINTER:
        return {**_middle(target.element["bbox"], state["viewport"]), "button": 0, "modifiers": [], "keyboard": False}
    arguments = parse_arguments(intent, form, {})
    if intent == "change" and not arguments.get("label"):
        label = next((label for value, label in target.options if value == arguments.get("value")), "")
        arguments |= {"label": label} if label else {}
    if intent == "textInput" and not arguments["text"]:
        raise InputError(ErrorText("field text: enter the typed text"))
    if intent == "press" and not arguments["key"]:
        raise InputError(ErrorText("field key: enter the key that was pressed"))
    if intent == "change" and not arguments:
        raise InputError(ErrorText("field value: enter the selected value"))
    return arguments


def _middle(box: types.Box | None, viewport: types.Size) -> dict[str, float | None]:
    """The middle of what is in sight of a box."""
    if box is None:
        return {"x": None, "y": None}
    across = _clipped(box["x"], box["width"], viewport["width"])
    down = _clipped(box["y"], box["height"], viewport["height"])
    return {"x": round(across, 2), "y": round(down, 2)}


def _clipped(start: float, length: float, limit: float) -> float:
    low, high = (min(max(end, 0), limit) for end in (start, start + length))
    return (low + high) / 2
