"""The grammar of computer-use models: JSON objects with coordinates in pixels of the picture, one for each line.

The actions are those of Anthropic's computer tool (`left_click`, `type`, `key`, `scroll`, …; keys as xdotool names
them). What belongs to the browser's own window, which the picture does not show, is written as the keys that do it.
"""

import json
from collections.abc import Callable, Iterator

from schemas.types.recordings import Point

from .acts import Act, NoForm, split_keys

ABOUT = """Answer with one or more actions, a JSON object each, one a line:
{"action": "left_click", "coordinate": [x, y]}, also right_click, middle_click, double_click and mouse_move;
{"action": "left_click_drag", "start_coordinate": [x, y], "coordinate": [x, y]},
{"action": "scroll", "coordinate": [x, y], "scroll_direction": "down", "scroll_amount": 3},
{"action": "type", "text": "…"}, {"action": "key", "text": "ctrl+a"}, {"action": "send_msg_to_user", "text": "…"}
Coordinates are pixels of the picture, from its upper left corner; a click may have "text", the keys held meanwhile.
The window's own controls are not in the picture: use ctrl+l, alt+Left, alt+Right, F5, ctrl+t, ctrl+w, ctrl+1 to 8."""
_CLICKS = ("left_click", "middle_click", "right_click")
_WHEEL = 100  # CSS pixels that a step of the wheel scrolls
_KEYS = {"Enter": "Return", " ": "space", "Backspace": "BackSpace", "ArrowLeft": "Left", "ArrowRight": "Right",
         "ArrowUp": "Up", "ArrowDown": "Down", "PageUp": "Page_Up", "PageDown": "Page_Down", "+": "plus",
         "Control": "ctrl", "Shift": "shift", "Alt": "alt", "Meta": "super"}

Actions = Iterator[dict[str, object]]


def write(act: Act) -> str:
    """The actions, one a line; raises NoForm."""
    return "\n".join(json.dumps(action, ensure_ascii=False) for action in actions(act))


def actions(act: Act) -> list[dict[str, object]]:
    """The actions, in order; raises NoForm."""
    if act.turn["type"] == "chat":
        return [{"action": "send_msg_to_user", "text": act.turn["utterance"]}]
    if act.intent not in _FORMS:
        raise NoForm(f"{act.intent}: what it acts on is not in the picture")
    return list(_FORMS[act.intent](act, act.turn["arguments"]))


def _to_screen(act: Act, point: Point) -> list[int]:
    """A point of the page as a pixel of the picture."""
    if act.picture is None:
        raise NoForm(f"{act.intent}: no good picture for its coordinates")
    x, y = round(point["x"] * act.scale), round(point["y"] * act.scale)
    if not (0 <= x < act.picture["width"] and 0 <= y < act.picture["height"]):
        raise NoForm(f"{act.intent}: outside of the picture")
    return [x, y]


def _middle(act: Act) -> list[int]:
    """The middle of the target's box as a pixel of the picture."""
    if (box := act.box) is None:
        raise NoForm(f"{act.intent}: no coordinates")
    return _to_screen(act, {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2})


def _pointed(act: Act, arguments: dict) -> list[int]:
    if arguments["x"] is None or arguments["y"] is None:  # a click made by a key
        return _middle(act)
    return _to_screen(act, {"x": arguments["x"], "y": arguments["y"]})


def _modifiers(arguments: dict) -> dict[str, object]:
    return {"text": "+".join(_KEYS.get(name, name)
                             for name in arguments["modifiers"])} if arguments["modifiers"] else {}


def _click(act: Act, arguments: dict) -> Actions:
    if arguments["button"] >= len(_CLICKS):
        raise NoForm(f"{act.intent}: another mouse button")
    yield {"action": _CLICKS[arguments["button"]], "coordinate": _pointed(act, arguments)} | _modifiers(arguments)


def _double(act: Act, arguments: dict) -> Actions:
    if arguments["button"]:
        raise NoForm(f"{act.intent}: another mouse button")
    yield {"action": "double_click", "coordinate": _pointed(act, arguments)} | _modifiers(arguments)


def _type(act: Act, arguments: dict) -> Actions:
    """The field's final value; first a click into the field, unless the action before was there."""
    if not act.focused:
        yield {"action": "left_click", "coordinate": _middle(act)}
    yield _text(arguments["text"])


def _change(act: Act, arguments: dict) -> Actions:
    if "checked" not in arguments:
        raise NoForm("change: the browser's own list or chooser is not in the picture")
    yield {"action": "left_click", "coordinate": _middle(act)}


def _hover(act: Act, arguments: dict) -> Actions:
    yield {"action": "mouse_move", "coordinate": _pointed(act, arguments)}


def _drag(act: Act, arguments: dict) -> Actions:
    yield {"action": "left_click_drag", "start_coordinate": _to_screen(act, arguments["from"]),
           "coordinate": _to_screen(act, arguments["to"])}


def _scroll(act: Act, arguments: dict) -> Actions:
    if act.moved is None:
        raise NoForm("scroll: not known how far")
    if act.picture is None:
        raise NoForm("scroll: no good picture for its coordinates")
    size = act.picture
    position = _middle(act) if act.box and act.box["height"] * act.scale <= size["height"] else [
        size["width"] // 2, size["height"] // 2]
    if point := arguments.get("point"):
        position = _to_screen(act, point)
    ways = [(act.moved["x"], "right", "left"), (act.moved["y"], "down", "up")]
    if not any(far for far, _, _ in ways):
        raise NoForm("scroll: it ended where it began")
    for far, on, back in ways:
        if far:
            yield {"action": "scroll", "coordinate": position, "scroll_direction": on if far > 0 else back,
                   "scroll_amount": max(1, round(abs(far) / _WHEEL))}


def _press(act: Act, arguments: dict) -> Actions:
    modifiers, key = split_keys(arguments["key"])
    yield _key("+".join(_KEYS.get(name, name) for name in (*modifiers, key)))


def _dialog(act: Act, arguments: dict) -> Actions:
    if arguments.get("text"):
        yield _text(arguments["text"])
    yield _key("Return" if arguments["accepted"] else "Escape")


def _load(act: Act, arguments: dict) -> Actions:
    yield from (_key("ctrl+l"), _text(arguments["url"]), _key("Return"))


def _new_tab(act: Act, arguments: dict) -> Actions:
    if act.opened:
        raise NoForm("tabcreate: the page opened it")
    yield _key("ctrl+t")


def _switch(act: Act, arguments: dict) -> Actions:
    if act.tab_index is None or act.tab_index > 7:  # ctrl+9 is the last one, whichever that is
        raise NoForm("tabswitch: no key shows that tab")
    yield _key(f"ctrl+{act.tab_index + 1}")


def _text(text: str) -> dict[str, object]:
    return {"action": "type", "text": text}


def _key(keys: str) -> dict[str, object]:
    return {"action": "key", "text": keys}


def _always(keys: str) -> Callable[[Act, dict], Actions]:
    return lambda act, arguments: iter([_key(keys)])


_FORMS: dict[str, Callable[[Act, dict], Actions]] = {
    "click": _click, "dblclick": _double, "textInput": _type, "change": _change, "drag": _drag, "scroll": _scroll,
    "hover": _hover, "press": _press, "dialog": _dialog, "load": _load, "tabcreate": _new_tab, "tabswitch": _switch,
    "submit": _always("Return"), "copy": _always("ctrl+c"), "paste": _always("ctrl+v"), "back": _always("alt+Left"),
    "forward": _always("alt+Right"), "reload": _always("F5"), "tabremove": _always("ctrl+w"),
}
