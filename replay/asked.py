"""What an action string means in a recorded state, and a demonstration that does it there."""

from typing import Any

from pipeline.export.model_input.set_of_marks import number_marks
from pipeline.pages.targets import candidates, element_of
from recorder.reader import Recording
from schemas import InputError
from schemas.types import Demonstration, Element, State

from .action_forms import Asked
from .action_strings import parse

_NOTHING = ("say", "wait")
_SCREENS = 2 / 3  # of the viewport's height, that "down" scrolls, as in WebVoyager


def with_action(demonstration: Demonstration, recording: Recording, number: int, text: str,
                grammar: str | None = None) -> tuple[Demonstration, State | None]:
    """The demonstration up to its turn `number` (from 1, without dropped ones), with what an action string asks for
    instead of that turn; and the recorded state after it. Raises InputError for a string or a number that is wrong."""
    turns: list[Any] = [turn for turn in demonstration["turns"] if turn["type"] == "browser" and not turn["dropped"]]
    if not 1 <= number <= len(turns):
        raise InputError(f"there is no turn {number}; they are numbered from 1 to {len(turns)}")
    asked, instead = parse(text, grammar), turns[number - 1]
    if asked.intent in _NOTHING:
        raise InputError(f"{asked.intent}: does nothing in a page")
    state = instead["state"]
    if state is None:
        raise InputError(f"of turn {number} no state is known, in which the action could be done")
    element = target_of(asked, recording, state)
    made = [instead | {"intent": asked.intent, "element": element,
                       "arguments": arguments_of(asked, recording, state, element)}]
    if asked.grammar == "webvoyager" and asked.intent == "textInput":  # there, typing ends with Enter
        made.append(instead | {"id": f"{instead['id']}-enter", "intent": "press", "arguments": {"key": "Enter"},
                               "element": element})
    after = turns[number]["state"] if number < len(turns) else recording.manifest.get("last_state")
    return demonstration | {"turns": [*turns[:number - 1], *made]}, after


def target_of(asked: Asked, recording: Recording, state: State) -> Element | None:
    """The element that an action is about; None where it has none. Raises InputError when there is no such element in
    sight, or several are described so."""
    if asked.uid is not None:
        return element_of(recording, state, asked.uid)
    if asked.number is not None:
        rows = {row["uid"]: row for row in candidates(recording, state)}
        marks = number_marks(rows, state["viewport"])
        uid = next((mark.uid for mark in marks if mark.number == asked.number), None)
        if uid is None:
            raise InputError(f"there is no box {asked.number}; they are numbered from 1 to {len(marks)}"
                             if marks else f"there is no box {asked.number}, as nothing in sight can be acted on")
        return element_of(recording, state, uid)
    if asked.described is not None:
        kind, name = asked.described
        said = [row for row in candidates(recording, state)
                if kind in (row["role"], row["tag"]) and row["name"] == name]
        if len(said) != 1:
            raise InputError(f"{len(said) or 'no'} elements in sight are a {kind[:40]} named {name[:80]!r}")
        return element_of(recording, state, said[0]["uid"])
    return None


def arguments_of(asked: Asked, recording: Recording, state: State, element: Element | None) -> dict[str, Any]:
    """The arguments of the intent, as a turn has them. Raises InputError where an element has no place."""
    told = dict(asked.arguments)
    match asked.intent:
        case "click" | "dblclick" | "hover":
            return {"x": None, "y": None, "button": 0, "modifiers": []} | told
        case "scroll":
            height = state["viewport"]["height"] * _SCREENS
            down = {"up": -height, "down": height}.get(told.get("direction", ""), told.get("dy", 0))
            here = state["scroll"] if element is None else {"x": 0.0, "y": 0.0}
            return {"x": told.get("x", here["x"] + told.get("dx", 0)), "y": told.get("y", here["y"] + down)}
        case "tabswitch":
            return {"target": told.get("target", told.get("place", 0) + 1), "origin": None}
        case "tabcreate" | "tabremove":
            return {"tab": state["tab"] + (asked.intent == "tabcreate")} | told
        case "drag" if "to_uid" in told:
            return {"from": _middle(element), "to": _middle(element_of(recording, state, told["to_uid"]))}
    return told


def _middle(element: Element | None) -> dict[str, float]:
    if element is None or (box := element["bbox"]) is None:
        raise InputError("a drag needs two elements that are shown")
    return {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
