"""Rules that join a turn to the one before. Each returns whether it did."""

from itertools import takewhile

from schemas.shared import REDACTED
from schemas.types.recordings import Element

from .drafts import Draft, letters
from .gestures import control_kind
from .scrolls import add_deltas

_SCROLL_GAP_S = 1.0  # seconds between scrolls of one element that make two
_STEP_KEYS = {"Home", "End", "PageUp", "PageDown", "Enter", "Backspace", "Delete"}


def _join_typing(drafts: list[Draft], new: Draft) -> bool:
    last = drafts[-1] if drafts else None
    if not (last and new.intent == last.intent == "textInput" and new.uid == last.uid):
        return False
    if "autofill" in new.arguments or _was_removed(last, new):
        return False
    last.arguments |= new.arguments
    last.add_events(new.events)
    return True


def _was_removed(last: Draft, new: Draft) -> bool:
    """Whether the page had removed what was typed last from the field before new text came."""
    before = next((event["data"]["value_before"] for event in new.events if "value_before" in event["data"]), None)
    if before is None or before == REDACTED:
        return False
    typed = letters(last.arguments["text"])
    return bool(last.arguments["text"]) and (not before or typed not in letters(before))


def _join_clicks(drafts: list[Draft], new: Draft) -> bool:
    """A double click is two clicks and a dblclick: one turn, with the state before the first."""
    last = drafts[-1] if drafts else None
    if not (last and new.intent == "dblclick" and last.intent == "click" and new.uid == last.uid):
        return False
    last.intent = "dblclick"
    last.add_events(new.events)
    return True


def _join_scrolls(drafts: list[Draft], new: Draft) -> bool:
    last = drafts[-1] if drafts else None
    if not (last and new.intent == last.intent == "scroll" and new.uid == last.uid
            and new.first["time"] - last.end < _SCROLL_GAP_S):
        return False
    before, turned = last.arguments.get("delta"), new.arguments.get("delta")
    if (before is None) != (turned is None):
        return False
    if before and turned:
        new.arguments["delta"] = add_deltas(before, turned)
    last.arguments = new.arguments
    last.add_events(new.events)
    return True


def _join_control(drafts: list[Draft], new: Draft) -> bool:
    """Opening a list, picking, and stepping through values by keys: one change with the final value."""
    if new.intent != "change" or control_kind(new.element) == "checkable":
        return False
    steps = list(takewhile(lambda draft: _is_part(draft.element, new.element) and _steps_through_values(draft),
                           reversed(drafts)))
    if not steps:
        return False
    del drafts[-len(steps):]
    opened = steps[-1]
    for step in [*reversed(steps[:-1]), new]:
        opened.add_events(step.events)
    opened.intent, opened.arguments = "change", new.arguments
    if opened.uid != new.uid:
        opened.element = new.element
    drafts.append(opened)
    return True


def _is_part(element: Element | None, control: Element | None) -> bool:
    """Whether an element is a control, or an option in it, which has the focus where the page styles the list."""
    if not element or not control or element["frame"] != control["frame"]:
        return False
    return element["uid"] == control["uid"] or (
        control["tag"] == "select" and element["xpath"].startswith(control["xpath"] + "/"))


def _steps_through_values(draft: Draft) -> bool:
    key = draft.arguments.get("key", "")
    return not draft.dropped and (draft.intent in ("change", "click") or (
        draft.intent == "press" and (len(key) == 1 or key in _STEP_KEYS or key.startswith("Arrow"))))


JOINS = (_join_typing, _join_clicks, _join_scrolls, _join_control)
