"""Changes of one turn that an edit makes: its target, its picture, its checks; pure."""

from typing import Any

from schemas import InputError
from schemas.formats.arguments import ARGUMENTS, PointerArguments
from schemas.types.recordings import Edit

Unchecked = dict[str, Any]  # a turn that an edit is made to; its schema looks at it afterwards
WITH_POINTER = tuple(intent for intent, arguments in ARGUMENTS.items() if arguments is PointerArguments)


def set_screenshot_status(turn: Unchecked, edit: Edit) -> Unchecked:
    """Mark the picture of a turn good or broken; raises InputError for a turn without a state."""
    if not turn.get("state"):
        raise InputError("edit: field turn: this turn has no screenshot")
    return turn | {"state": turn["state"] | {"screenshot_status": edit["status"]}}


def settle(turn: Unchecked, edit: Edit) -> Unchecked:
    """Dismiss the checks of a kind."""
    return turn | {"checks": [check for check in turn["checks"] if check["kind"] != edit["check"]]}


def set_screenshot(turn: Unchecked, edit: Edit) -> Unchecked:
    """Another picture; raises InputError for a turn without a state."""
    if not turn.get("state"):
        raise InputError("edit: field turn: this turn has no state, so it cannot have a screenshot")
    state = turn["state"]
    captured = state.get("screenshot_taken", state["screenshot"])  # the first one that was taken stays known
    changed = state | {"screenshot": edit["screenshot"], "screenshot_time": edit["screenshot_time"],
                       "screenshot_status": "good"}
    if edit["screenshot"] == captured and edit["source"] == "captured":  # as it was taken: nothing is replaced any more
        changed = {name: value for name, value in changed.items() if name not in ("screenshot_source",
                                                                                  "screenshot_taken")}
    else:
        changed |= {"screenshot_source": edit["source"], "screenshot_taken": captured}
    return turn | {"state": changed}


def retarget(turn: Unchecked, edit: Edit) -> Unchecked:
    """Another target; a pointer that was not on it is moved to its middle. None: no target, as it was recorded."""
    if turn["type"] == "chat":
        raise InputError("edit: field turn: only an action has a target")
    if edit["element"] is None:
        return turn | {"element": None}
    box, arguments = edit["element"]["bbox"], turn["arguments"]
    x, y = arguments.get("x"), arguments.get("y")
    if box and turn["intent"] in WITH_POINTER and x is not None and y is not None and not (
            box["x"] <= x <= box["x"] + box["width"] and box["y"] <= y <= box["y"] + box["height"]):
        middle = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        arguments = arguments | {name: round(value, 2) for name, value in middle.items()}
    return turn | {"element": edit["element"], "arguments": arguments}
