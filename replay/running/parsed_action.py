"""The meaning of an action string in a state, recorded or live, and a demonstration that performs it in a recorded one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.export.model_input.set_of_marks import number_marks
from pipeline.pages.targets import candidates, element_of
from recorder.reader import Recording
from schemas import InputError
from schemas.types.recordings import Demonstration, Element, State, TableRow

from .action_forms import ParsedAction
from .action_strings import parse

_NO_PAGE_EFFECT = ("say", "wait")
_SCREENS = 2 / 3  # of the viewport's height, that "down" scrolls, as in WebVoyager


@dataclass(frozen=True)
class VisibleElements:
    """A state with the rows of its element table that can be seen. `element`: all that is known of an element by its
    uid; it raises InputError for one that is not there."""

    state: State
    rows: Sequence[TableRow]
    element: Callable[[str], Element]


def of_recorded(recording: Recording, state: State) -> VisibleElements:
    """The elements of a recorded state."""
    return VisibleElements(state, candidates(recording, state), lambda uid: element_of(recording, state, uid))


def with_action(demonstration: Demonstration, recording: Recording, number: int, text: str,
                grammar: str | None = None) -> tuple[Demonstration, State | None]:
    """The demonstration up to its turn `number` (from 1, without dropped ones), with what an action string asks for
    instead of that turn; and the recorded state after it. Raises InputError for a string or a number that is wrong."""
    turns: list[Any] = [turn for turn in demonstration["turns"] if turn["type"] == "browser" and not turn["dropped"]]
    if not 1 <= number <= len(turns):
        raise InputError(f"unknown turn {number}; turns are numbered from 1 to {len(turns)}")
    action, instead = parse(text, grammar), turns[number - 1]
    if action.intent in _NO_PAGE_EFFECT:
        raise InputError(f"{action.intent}: does nothing in a page")
    state = instead["state"]
    if state is None:
        raise InputError(f"turn {number} has no state in which the action could be performed")
    visible = of_recorded(recording, state)
    element = target_of(action, visible)
    made = [instead | {"intent": action.intent, "element": element,
                       "arguments": arguments_of(action, visible, element)}]
    if action.grammar == "webvoyager" and action.intent == "textInput":  # there, typing ends with Enter
        made.append(instead | {"id": f"{instead['id']}-enter", "intent": "press", "arguments": {"key": "Enter"},
                               "element": element})
    after = turns[number]["state"] if number < len(turns) else recording.manifest.get("last_state")
    return demonstration | {"turns": [*turns[:number - 1], *made]}, after


def target_of(action: ParsedAction, visible: VisibleElements) -> Element | None:
    """The element that an action is about; None where it has none. Raises InputError when there is no such element in
    sight, or several are described so."""
    if action.uid is not None:
        return visible.element(action.uid)
    if action.number is not None:
        rows = {row["uid"]: row for row in visible.rows}
        marks = number_marks(rows, visible.state["viewport"])
        uid = next((mark.uid for mark in marks if mark.number == action.number), None)
        if uid is None:
            raise InputError(f"unknown box {action.number}; boxes are numbered from 1 to {len(marks)}"
                             if marks else f"unknown box {action.number}; no visible element is interactive")
        return visible.element(uid)
    if action.described is not None:
        kind, name = action.described
        said = [row for row in visible.rows if kind in (row["role"], row["tag"]) and row["name"] == name]
        if len(said) != 1:
            raise InputError(f"{len(said) or 'no'} visible elements are a {kind[:40]} named {name[:80]!r}")
        return visible.element(said[0]["uid"])
    return None


def arguments_of(action: ParsedAction, visible: VisibleElements, element: Element | None) -> dict[str, Any]:
    """The arguments of the intent, as a turn has them. Raises InputError where an element has no place."""
    arguments, state = dict(action.arguments), visible.state
    match action.intent:
        case "click" | "dblclick" | "hover":
            return {"x": None, "y": None, "button": 0, "modifiers": []} | arguments
        case "scroll":
            height = state["viewport"]["height"] * _SCREENS
            down = {"up": -height, "down": height}.get(arguments.get("direction", ""), arguments.get("dy", 0))
            offsets = state["scroll"] if element is None else {"x": 0.0, "y": 0.0}
            return {"x": arguments.get("x", offsets["x"] + arguments.get("dx", 0)),
                    "y": arguments.get("y", offsets["y"] + down)}
        case "tabswitch":
            return {"target": arguments.get("target", arguments.get("place", 0) + 1), "origin": None}
        case "tabcreate" | "tabremove":
            return {"tab": state["tab"] + (action.intent == "tabcreate")} | arguments
        case "drag" if "to_uid" in arguments:
            return {"from": _middle(element), "to": _middle(visible.element(arguments["to_uid"]))}
    return arguments


def _middle(element: Element | None) -> dict[str, float]:
    if element is None or (box := element["bbox"]) is None:
        raise InputError("a drag needs two elements that are shown")
    return {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
