"""Controls that a person sets through a widget of the page: a date picker, a list of suggestions, a drawn check box."""

from collections.abc import Iterator, Sequence

from pipeline.pages.dom import Element
from schemas import UID_ATTRIBUTE
from schemas.shared import CONTROLS
from schemas.types.recordings import BrowserTurn, State

from .material import Control, Material

_MIN_SHOWN_PX = 3.0  # width and height of a control that is shown; widgets leave a pixel of the one they replace
_DRAWN = ("checkbox", "radio")  # kinds that pages draw themselves: the control is there, and transparent
_MAX_ACTIONS_IN_POPUP = 6  # presses in what a field has opened, until it has its value: a month, a day, an hour
_PRESSES = ("click", "dblclick", "hover", "press", "drag", "scroll")
_BUTTONS = ("button", "a")


def is_set_by_widget(material: Material, uid: str, control: Control, before: int, end: int,
                     states: tuple[State, State]) -> bool:
    """Whether a person may have set a control through a widget, in the actions from the one numbered `before` up to
    `end`. `states`: before and after them.

    It is not shown, and so stands behind the widget; or the person pressed something around it that contains no other
    control and is no button; or pressed in what opened after an action on it, and it has a value now.
    """
    actions = [turn for turn in material.actions[before:end] if turn.get("trusted", True)]
    if not actions:
        return False
    if control.kind not in _DRAWN and _is_hidden(material, uid, states):
        return True
    if any(_is_around(material, turn, uid) for turn in actions):
        return True
    return bool(control.value) and _is_in_popup(material, uid, end)


def _is_hidden(material: Material, uid: str, states: Sequence[State]) -> bool:
    tables = [material.table(state["elements"]) for state in states if state["elements"]]
    return len(tables) == len(states) and not any(
        row["uid"] == uid and row["visible"] and min(row["bbox"]["width"], row["bbox"]["height"]) >= _MIN_SHOWN_PX
        for table in tables for row in table)


def _is_around(material: Material, turn: BrowserTurn, uid: str) -> bool:
    """Whether what was pressed and the control are in an element that contains no other control."""
    element, state = turn["element"], turn["state"]
    if turn["intent"] not in ("click", "dblclick", "drag") or not element or not state or not state["dom"]:
        return False
    if element["tag"] in _BUTTONS or element["role"] in ("button", "link"):
        return False
    nodes = material.nodes(state["dom"])
    pressed, control = nodes.get(element["uid"]), nodes.get(uid)
    if pressed is None or control is None or pressed.tag in CONTROLS:
        return False
    around = [control, *control.iterancestors()]
    shared = next((node for node in (pressed, *pressed.iterancestors()) if node in around), None)
    return shared is not None and len(list(_controls_in(shared))) == 1


def _controls_in(root: Element) -> Iterator[Element]:
    return (node for node in root.iter(*CONTROLS) if node.get(UID_ATTRIBUTE))


def _is_in_popup(material: Material, uid: str, end: int) -> bool:
    """Whether the last actions before `end` were presses, by hand and not on other controls, since one on the control
    itself."""
    for turn in reversed(material.actions[max(0, end - _MAX_ACTIONS_IN_POPUP):end]):
        element = turn["element"]
        if not turn.get("trusted", True) or element is None:
            return False
        if element["uid"] == uid:
            return True
        if turn["intent"] not in _PRESSES or (element["tag"] in CONTROLS and turn["intent"] != "press"):
            return False
    return False
