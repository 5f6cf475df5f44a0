"""BrowserGym's high-level actions: `click('12')`, `fill('7', 'two lamps')`. Values are literals of Python.

What acts on a place rather than on an element is written with BrowserGym's actions by coordinates (CSS pixels).
"""

from collections.abc import Callable

from .acts import Act, NoForm

ABOUT = """Answer with one action:
click('bid', button='left', modifiers=[]), dblclick('bid'), hover('bid'), fill('bid', 'text'),
select_option('bid', 'label or value'), press('bid', 'key'), keyboard_press('key'), upload_file('bid', 'name'),
mouse_drag_and_drop(from_x, from_y, to_x, to_y), scroll(delta_x, delta_y), goto('url'), go_back(), go_forward(),
new_tab(), tab_focus(index), tab_close(), send_msg_to_user('text')
A bid is that of an element in sight; lengths are CSS pixels; an index is a tab's place among those that are open."""
_BUTTONS = ("left", "middle", "right")


def write(act: Act) -> str:
    """The action; raises NoForm."""
    if act.turn["type"] == "chat":
        return _call("send_msg_to_user", act.turn["utterance"])
    if act.intent not in _FORMS:
        raise NoForm(f"{act.intent}: no equal in BrowserGym")
    return _FORMS[act.intent](act, act.turn["arguments"])


def _call(name: str, *values: object, **named: object) -> str:
    written = [*map(repr, values), *(f"{key}={value!r}" for key, value in named.items())]
    return f"{name}({', '.join(written)})"


def _pointer(act: Act, arguments: dict) -> str:
    if arguments["button"] >= len(_BUTTONS):
        raise NoForm(f"{act.intent}: another mouse button")
    named: dict[str, object] = {"button": _BUTTONS[arguments["button"]]} if arguments["button"] else {}
    return _call(act.intent, act.target(),
                 **named | ({"modifiers": arguments["modifiers"]} if arguments["modifiers"] else {}))


def _change(act: Act, arguments: dict) -> str:
    if "value" not in arguments:
        return _call("click", act.target())
    is_select = act.turn["type"] == "browser" and act.turn["element"] and act.turn["element"]["tag"] == "select"
    if is_select:
        chosen = arguments.get("chosen_values", arguments.get("label") or arguments["value"])
        return _call("select_option", act.target(), chosen)
    return _call("fill", act.target(), arguments["value"])


def _press(act: Act, arguments: dict) -> str:
    return _call("press", act.uid, arguments["key"]) if act.uid is not None else _call("keyboard_press",
                                                                                       arguments["key"])


def _upload(act: Act, arguments: dict) -> str:
    return _call("upload_file", act.target(),
                 arguments["files"][0] if len(arguments["files"]) == 1 else arguments["files"])


def _drag(act: Act, arguments: dict) -> str:
    start, end = arguments["from"], arguments["to"]
    return _call("mouse_drag_and_drop", *(_number(value) for value in (start["x"], start["y"], end["x"], end["y"])))


def _scroll(act: Act, arguments: dict) -> str:
    if act.moved is None:
        raise NoForm("scroll: not known how far")
    if not (act.moved["x"] or act.moved["y"]):
        raise NoForm("scroll: it ended where it began")
    return _call("scroll", _number(act.moved["x"]), _number(act.moved["y"]))


def _new_tab(act: Act, arguments: dict) -> str:
    if act.opened:
        raise NoForm("tabcreate: the page opened it")
    return "new_tab()"


def _focus(act: Act, arguments: dict) -> str:
    if act.tab_index is None:
        raise NoForm("tabswitch: a tab that was closed")
    return _call("tab_focus", act.tab_index)


def _number(value: float) -> float:
    """Whole where it is whole, else with one decimal."""
    return round(value) if value == round(value) else round(value, 1)


_FORMS: dict[str, Callable[[Act, dict], str]] = {
    "click": _pointer, "dblclick": _pointer, "hover": lambda act, arguments: _call("hover", act.target()),
    "textInput": lambda act, arguments: _call("fill", act.target(), arguments["text"]), "change": _change,
    "submit": lambda act, arguments: _call("press", act.target(), "Enter"), "press": _press, "upload": _upload,
    "copy": lambda act, arguments: _call("keyboard_press", "Control+c"),
    "paste": lambda act, arguments: _call("keyboard_press", "Control+v"),
    "drag": _drag, "scroll": _scroll, "load": lambda act, arguments: _call("goto", arguments["url"]),
    "back": lambda act, arguments: "go_back()", "forward": lambda act, arguments: "go_forward()",
    "tabcreate": _new_tab, "tabswitch": _focus, "tabremove": lambda act, arguments: "tab_close()",
}
