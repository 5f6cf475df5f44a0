"""The actions that WebLINX and BrowserGym have by name: which values each takes, and what it is here. Pure.

A value that a string does not tell is not in the arguments. Beyond those of schemas/formats/demonstration.py there are,
as some strings tell no more: scroll `dx` and `dy` (by how far, CSS pixels) or `direction` (up or down); tabswitch
`place` (among the open tabs, from 0); change `values` (several options of a list; `value` may be an option's value or
its label); drag `to_uid` (the element to drop it on); click `focus_only` (give it the focus, without pressing); upload
`x` and `y` (where the field is); wait `seconds`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from schemas import limits

_NAME = 200  # characters of a uid, a key or a file's name
_MAX_TEXTS = 1000  # texts in a list
_WAIT = 600_000  # milliseconds
_BUTTONS = ("left", "middle", "right")
_MODIFIERS = {"Alt": "Alt", "Control": "Control", "ControlOrMeta": "Control", "Meta": "Meta", "Shift": "Shift"}
_NO_UID, _NO_ADDRESS = re.compile(r"""[\s"'()<>\0]"""), re.compile(r'[\s"\0]')
_SPEAKERS = ("instructor", "navigator")


@dataclass(frozen=True)
class ParsedAction:
    """An action parsed from a string.

    `intent`: one of ours (schemas/shared.json), or wait. The target is given by its `uid`, by the `number` of a box in
    the picture (WebVoyager, which presses Enter after typing by itself), or as it is `described`: role or tag, and name
    (Mind2Web). All are None for what has no target.
    """

    intent: str
    arguments: dict[str, Any]
    uid: str | None = None
    number: int | None = None
    described: tuple[str, str] | None = None
    grammar: str = ""


class ActionSyntaxError(Exception):
    """A syntax error in an action string: its `offset` from 0, the problem, and an `example` of a valid call."""

    def __init__(self, offset: int, message: str, example: str):
        super().__init__(message)
        self.offset, self.problem, self.example = offset, message, example


@dataclass(frozen=True)
class Value:
    """A value in a call, with its offset in the string."""

    offset: int
    value: Any


@dataclass(frozen=True)
class Call:
    """An action as it is written: `name(positional, key=value)`. `end`: where its last bracket stands."""

    name: str
    positional: tuple[Value, ...]
    named: tuple[tuple[str, Value], ...]
    end: int


Arguments = Mapping[str, Any]
IntentArguments = tuple[str, dict[str, Any], str | None]  # intent, arguments, uid


@dataclass(frozen=True)
class Form:
    """An action by name. `parameters`: their names in order, `?` after optional ones; `example`: a valid call."""

    parameters: str
    make: Callable[[Arguments], IntentArguments]
    example: str


def parsed_action(call: Call, forms: Mapping[str, Form], grammar: str) -> ParsedAction:
    """The action that a call means; raises ActionSyntaxError."""
    form = find(call.name, forms, grammar)
    intent, arguments, uid = _build(call, form)
    return ParsedAction(intent, arguments, uid, grammar=grammar)


def find(name: str, forms: Mapping[str, Form], grammar: str) -> Form:
    """An action by its name; raises ActionSyntaxError with an example of the action with the most similar name."""
    if name in forms:
        return forms[name]
    likest = get_close_matches(name[:40], forms, 1) or ["click"]
    raise ActionSyntaxError(0, f"{name[:40]!r} is not an action of {grammar}", forms[likest[0]].example)


def _build(call: Call, form: Form) -> IntentArguments:
    names = form.parameters.replace("?", "").split()
    arguments: dict[str, Any] = {}
    if len(call.positional) > len(names):
        odd = call.positional[len(names)]
        raise ActionSyntaxError(odd.offset, f"{call.name} takes {_count(len(names))}", form.example)
    for name, value in (*zip(names, call.positional, strict=False), *call.named):
        if name not in names:
            raise ActionSyntaxError(value.offset, f"{call.name} takes no {name[:40]!r}", form.example)
        if name in arguments:
            raise ActionSyntaxError(value.offset, f"{name} occurs twice", form.example)
        try:
            arguments[name] = _KINDS[name](value.value)
        except ValueError as error:
            raise ActionSyntaxError(value.offset, f"{name} {error}", form.example) from None
    for name in form.parameters.split():
        if not name.endswith("?") and name not in arguments:
            raise ActionSyntaxError(call.end, f"{name} is missing", form.example)
    try:
        return form.make(arguments)
    except ValueError as error:
        raise ActionSyntaxError(call.end, str(error), form.example) from None


def _count(number: int) -> str:
    return {0: "no value", 1: "one value"}.get(number, f"{number} values at most")


def number(value: Any) -> float:
    """A length; raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("has to be a number")
    if not abs(value) <= limits.LENGTH:  # NaN is not, either
        raise ValueError(f"has to be between -{limits.LENGTH} and {limits.LENGTH}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("has to be a text in quotes")
    return value


def _named(value: Any) -> str:
    if not _text(value).strip():
        raise ValueError("is empty")
    if len(value) > _NAME:
        raise ValueError(f"is longer than {_NAME} characters")
    return value if len(value) == 1 else value.strip()


def _uid(value: Any) -> str:
    """A uid has no quotes, blanks or brackets: where it seems to, the string is not what it seems."""
    if _NO_UID.search(_named(value)):
        raise ValueError("has characters that no uid has")
    return _named(value)


def _key(value: Any) -> str:
    return " " if value == " " else _named(value)


def _address(value: Any) -> str:
    if not _text(value).strip():
        raise ValueError("is empty")
    if _NO_ADDRESS.search(value.strip()):
        raise ValueError("has blanks or quotes in it")
    return value.strip()


def _integer(value: Any) -> int:
    if (isinstance(value, bool) or not isinstance(value, int | float)
            or not abs(value) <= limits.MAX_INTEGER or value % 1):
        raise ValueError("has to be a whole number")
    return int(value)


def _index(value: Any) -> int:
    if _integer(value) < 0:
        raise ValueError("has to be 0 or more")
    return _integer(value)


def _texts(value: Any) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not 0 < len(texts) <= _MAX_TEXTS or not all(
            isinstance(text, str) for text in texts):
        raise ValueError("has to be a text in quotes or a list of them")
    return list(texts)


def _files(value: Any) -> list[str]:
    """Names alone: where they lay is nothing to the page, and no file of this machine is ever sent."""
    return [_named(text.replace("\\", "/").rstrip("/").rpartition("/")[2]) for text in _texts(value)]


def _button(value: Any) -> int:
    if value not in _BUTTONS:
        raise ValueError("has to be 'left', 'middle' or 'right'")
    return _BUTTONS.index(value)


def _modifiers(value: Any) -> list[str]:
    if not isinstance(value, list | tuple) or not all(isinstance(key, str) and key in _MODIFIERS for key in value):
        raise ValueError(f"has to be a list of {', '.join(_MODIFIERS)}")
    return [_MODIFIERS[key] for key in value]


def _speaker(value: Any) -> str:
    if value not in _SPEAKERS:
        raise ValueError("has to be 'navigator' or 'instructor'")
    return str(value)


def _milliseconds(value: Any) -> float:
    if not 0 <= number(value) <= _WAIT:
        raise ValueError(f"has to be between 0 and {_WAIT}")
    return number(value) / 1000


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("has to be True or False")
    return value


_KINDS: dict[str, Callable[[Any], Any]] = {
    "bid": _uid, "from_bid": _uid, "to_bid": _uid, "uid": _uid, "value": _text, "text": _text, "reason": _text,
    "utterance": _text, "speaker": _speaker, "key": _key, "key_comb": _key, "url": _address, "options": _texts,
    "file": _files, "button": _button, "modifiers": _modifiers, "index": _index, "target": _integer, "origin": _integer,
    "wait_ms": _milliseconds, "enable_autocomplete_menu": _flag,
} | dict.fromkeys(("x", "y", "delta_x", "delta_y", "from_x", "from_y", "to_x", "to_y"), number)
NUMBERS = frozenset(name for name, kind in _KINDS.items() if kind in (number, _integer))


def _subset(arguments: Arguments, *names: str) -> dict[str, Any]:
    return {name: arguments[name] for name in names if name in arguments}


def _pointer(intent: str) -> Callable[[Arguments], IntentArguments]:
    return lambda arguments: (intent, _subset(arguments, "x", "y", "button", "modifiers"), arguments.get("bid"))


def _pointed(intent: str) -> Callable[[Arguments], IntentArguments]:
    """WebLINX: on an element, or at a place."""
    def make(arguments: Arguments) -> IntentArguments:
        if "uid" not in arguments and not {"x", "y"} <= arguments.keys():
            raise ValueError("uid is missing")
        return intent, _subset(arguments, "x", "y"), arguments.get("uid")
    return make


def _no_more(intent: str) -> Callable[[Arguments], IntentArguments]:
    return lambda arguments: (intent, {}, arguments.get("uid"))


def said(text: str, speaker: str = "navigator") -> dict[str, Any]:
    """Arguments of say."""
    return {"speaker": speaker, "utterance": text}


def _choose(arguments: Arguments) -> IntentArguments:
    options = arguments["options"]
    return "change", {"value": options[0]} if len(options) == 1 else {"values": options}, arguments["bid"]


def _drag(arguments: Arguments) -> IntentArguments:
    begin, end = ({"x": arguments[f"{side}_x"], "y": arguments[f"{side}_y"]} for side in ("from", "to"))
    return "drag", {"from": begin, "to": end}, None


def _partial(arguments: Arguments) -> IntentArguments:
    raise ValueError("this is only a part of an action")


_BUTTONS_TOO = "x y button?"
BROWSERGYM: dict[str, Form] = {
    "click": Form("bid button? modifiers?", _pointer("click"), "click('12')"),
    "dblclick": Form("bid button? modifiers?", _pointer("dblclick"), "dblclick('12')"),
    "hover": Form("bid", _pointer("hover"), "hover('12')"),
    "focus": Form("bid", lambda arguments: ("click", {"focus_only": True}, arguments["bid"]), "focus('12')"),
    "fill": Form("bid value enable_autocomplete_menu?",
                 lambda arguments: ("textInput", {"text": arguments["value"]}, arguments["bid"]),
                 "fill('12', 'two lamps')"),
    "clear": Form("bid", lambda arguments: ("textInput", {"text": ""}, arguments["bid"]), "clear('12')"),
    "check": Form("bid", lambda arguments: ("change", {"checked": True}, arguments["bid"]), "check('12')"),
    "uncheck": Form("bid", lambda arguments: ("change", {"checked": False}, arguments["bid"]), "uncheck('12')"),
    "select_option": Form("bid options", _choose, "select_option('12', 'Price')"),
    "press": Form("bid key_comb", lambda arguments: ("press", {"key": arguments["key_comb"]}, arguments["bid"]),
                  "press('12', 'Enter')"),
    "drag_and_drop": Form("from_bid to_bid",
                          lambda arguments: ("drag", {"to_uid": arguments["to_bid"]}, arguments["from_bid"]),
                          "drag_and_drop('12', '13')"),
    "upload_file": Form("bid file", lambda arguments: ("upload", {"files": arguments["file"]}, arguments["bid"]),
                        "upload_file('12', 'letter.pdf')"),
    "scroll": Form("delta_x delta_y",
                   lambda arguments: ("scroll", {"dx": arguments["delta_x"], "dy": arguments["delta_y"]}, None),
                   "scroll(0, 200)"),
    "mouse_move": Form("x y", _pointer("hover"), "mouse_move(10, 20)"),
    "mouse_click": Form(_BUTTONS_TOO, _pointer("click"), "mouse_click(10, 20)"),
    "mouse_dblclick": Form(_BUTTONS_TOO, _pointer("dblclick"), "mouse_dblclick(10, 20)"),
    "mouse_drag_and_drop": Form("from_x from_y to_x to_y", _drag, "mouse_drag_and_drop(10, 20, 30, 40)"),
    "mouse_upload_file": Form("x y file",
                              lambda arguments: ("upload", _subset(arguments, "x", "y") | {"files": arguments["file"]},
                                                 None),
                              "mouse_upload_file(10, 20, 'letter.pdf')"),
    "mouse_down": Form(_BUTTONS_TOO, _partial, "mouse_drag_and_drop(10, 20, 30, 40)"),
    "mouse_up": Form(_BUTTONS_TOO, _partial, "mouse_drag_and_drop(10, 20, 30, 40)"),
    "keyboard_press": Form("key", lambda arguments: ("press", {"key": arguments["key"]}, None),
                           "keyboard_press('Control+a')"),
    "keyboard_down": Form("key", _partial, "keyboard_press('Control+a')"),
    "keyboard_up": Form("key", _partial, "keyboard_press('Control+a')"),
    "keyboard_type": Form("text", lambda arguments: ("textInput", {"text": arguments["text"]}, None),
                          "keyboard_type('lamps')"),
    "keyboard_insert_text": Form("text", lambda arguments: ("textInput", {"text": arguments["text"]}, None),
                                 "keyboard_insert_text('lamps')"),
    "goto": Form("url", lambda arguments: ("load", {"url": arguments["url"]}, None), "goto('https://shop.example/')"),
    "go_back": Form("", _no_more("back"), "go_back()"),
    "go_forward": Form("", _no_more("forward"), "go_forward()"),
    "new_tab": Form("", _no_more("tabcreate"), "new_tab()"),
    "tab_close": Form("", _no_more("tabremove"), "tab_close()"),
    "tab_focus": Form("index", lambda arguments: ("tabswitch", {"place": arguments["index"]}, None), "tab_focus(1)"),
    "send_msg_to_user": Form("text", lambda arguments: ("say", said(arguments["text"]), None),
                             "send_msg_to_user('It is done.')"),
    "report_infeasible": Form("reason", lambda arguments: ("say", said(arguments["reason"]), None),
                              "report_infeasible('There is no such field.')"),
    "noop": Form("wait_ms?", lambda arguments: ("wait", {"seconds": arguments.get("wait_ms", 1.0)}, None), "noop()"),
}


def _texted(intent: str, name: str) -> Callable[[Arguments], IntentArguments]:
    return lambda arguments: (intent, {name: arguments[name]}, arguments.get("uid"))


def _offsets(arguments: Arguments) -> IntentArguments:
    if not {"x", "y"} & arguments.keys():
        raise ValueError("x and y are missing")
    return "scroll", {"x": arguments.get("x", 0), "y": arguments.get("y", 0)}, arguments.get("uid")


def _tab(intent: str) -> Callable[[Arguments], IntentArguments]:
    return lambda arguments: (intent, {"tab": arguments["target"]} if "target" in arguments else {}, None)


def _switch(arguments: Arguments) -> IntentArguments:
    origin = {"origin": None if arguments["origin"] < 0 else arguments["origin"]} if "origin" in arguments else {}
    return "tabswitch", origin | {"target": arguments["target"]}, None


WEBLINX: dict[str, Form] = {  # by names in lower case, without _
    "click": Form("uid? x? y?", _pointed("click"), 'click(uid="12")'),
    "hover": Form("uid? x? y?", _pointed("hover"), 'hover(uid="12")'),
    "textinput": Form("text uid", _texted("textInput", "text"), 'textInput(text="two lamps", uid="12")'),
    "change": Form("value uid", _texted("change", "value"), 'change(value="Price", uid="12")'),
    "submit": Form("uid", _no_more("submit"), 'submit(uid="12")'),
    "load": Form("url", _texted("load", "url"), 'load(url="https://shop.example/")'),
    "scroll": Form("x? y? uid?", _offsets, "scroll(x=0, y=200)"),
    "copy": Form("text uid?", _texted("copy", "text"), 'copy(text="two lamps")'),
    "paste": Form("text uid?", _texted("paste", "text"), 'paste(text="two lamps")'),
    "tabcreate": Form("target? origin?", _tab("tabcreate"), "tabcreate()"),
    "tabremove": Form("target? origin?", _tab("tabremove"), "tabremove(target=2)"),
    "tabswitch": Form("target origin?", _switch, "tabswitch(origin=1, target=2)"),
    "say": Form("utterance speaker?",
                lambda arguments: ("say", said(arguments["utterance"], arguments.get("speaker", "navigator")), None),
                'say(speaker="navigator", utterance="It is done.")'),
}
