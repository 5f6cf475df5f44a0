"""Actions written as calls, such as BrowserGym's `fill('12', 'two lamps')` and WebLINX's `click(uid="12")`.

They are parsed as Python's literals and never executed.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from schemas import InputError

MAX_CALL_CHARS = 1 << 20
_BUTTONS = {"left": 0, "middle": 1, "right": 2}
_MODIFIERS = {"ControlOrMeta": "Control"}


@dataclass(frozen=True)
class Call:
    """One call: its name, and its values by name; those without a name by their position."""

    name: str
    values: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)

    def value(self, position: int, name: str, default: Any = None) -> Any:
        """A value by its position or name."""
        return self.values[position] if position < len(self.values) else self.named.get(name, default)


@dataclass(frozen=True)
class Act:
    """An action in our words, before its state is known. `said`: it is an utterance instead."""

    intent: str
    arguments: dict[str, Any] = field(default_factory=dict)
    target: str | None = None
    said: str | None = None


def parse_calls(text: str, where: str) -> list[Call]:
    """The calls in a text, in order; raises InputError for anything else."""
    if len(text) > MAX_CALL_CHARS:
        raise InputError(f"{where}: an action of more than {MAX_CALL_CHARS} characters")
    try:
        body = ast.parse(text.strip()).body
        return [_call(statement) for statement in body]
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise InputError(f"{where}: {text[:60]!r} is not an action such as click('12')") from None


def _call(statement: ast.stmt) -> Call:
    if not isinstance(statement, ast.Expr) or not isinstance(call := statement.value, ast.Call) or not isinstance(
            call.func, ast.Name):
        raise ValueError("not a call")
    named = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg}
    return Call(call.func.id, tuple(ast.literal_eval(value) for value in call.args), named)


class CallTranslator:
    """Translates the calls of one session, of which tabs and scroll offsets are counted along."""

    def __init__(self) -> None:
        self.tabs, self.shown = [1], 1
        self._newest = self._opener = 1
        self._offset = [0.0, 0.0]

    def translate(self, call: Call, intent: str = "") -> Act | None:
        """The action; None for one that has no equal, such as waiting. `intent`: that of the source, where it has it.

        Raises InputError's causes (TypeError, ValueError) for values of the wrong type.
        """
        if call.name in _BY_ELEMENT:
            return _by_element(call, intent)
        if call.name in ("send_msg_to_user", "report_infeasible", "say"):
            return Act("say", said=str(call.value(1 if call.name == "say" and not call.named else 0,
                                                  "utterance" if call.name == "say" else "text", "")))
        handler = getattr(self, f"_{call.name}", None) if call.name in _OF_SESSION else None
        return handler(call) if handler else None

    def observe_tabs(self, count: int, shown: int) -> None:
        """Take how many tabs the source says there are, and which of them is shown, from 0: the page may have opened
        or closed some."""
        while len(self.tabs) < count:
            self._newest += 1
            self.tabs.append(self._newest)
        del self.tabs[max(count, 1):]
        tab = self.tabs[min(max(shown, 0), len(self.tabs) - 1)]
        if tab != self.shown:
            self._opener, self.shown = self.shown, tab

    def observe_scroll(self, x: float, y: float) -> None:
        """Take how far the source says that the page is scrolled, in CSS pixels."""
        self._offset = [x, y]

    def _scroll(self, call: Call) -> Act:
        if "x" in call.named or "y" in call.named:  # WebLINX's: the offsets that it reaches
            self._offset = [float(call.named.get("x", 0)), float(call.named.get("y", 0))]
            return Act("scroll", {"x": self._offset[0], "y": self._offset[1]})
        delta = float(call.value(0, "delta_x", 0)), float(call.value(1, "delta_y", 0))
        self._offset = [max(0.0, self._offset[0] + delta[0]), max(0.0, self._offset[1] + delta[1])]
        return Act("scroll", {"x": self._offset[0], "y": self._offset[1], "delta": {"x": delta[0], "y": delta[1]}})

    def _goto(self, call: Call) -> Act:
        self._offset = [0.0, 0.0]
        return Act("load", {"url": str(call.value(0, "url", "")), "transition": "typed"})

    _load = _goto

    def _go_back(self, call: Call) -> Act:
        return Act("back")

    def _go_forward(self, call: Call) -> Act:
        return Act("forward")

    def _new_tab(self, call: Call) -> Act:
        self._newest += 1
        self.tabs.append(self._newest)
        self._opener, self.shown = self.shown, self._newest
        return Act("tabcreate", {"tab": self._newest})

    def _tabcreate(self, call: Call) -> Act:
        return self._new_tab(call)

    def _tab_focus(self, call: Call) -> Act | None:
        index = int(call.value(0, "index", 0))
        if not 0 <= index < len(self.tabs):  # the page has opened it
            self._newest += 1
            self.tabs.append(self._newest)
            index = len(self.tabs) - 1
        origin, self.shown = self.shown, self.tabs[index]
        if origin == self.shown == self._newest:  # it was opened just now
            origin = self._opener
        return Act("tabswitch", {"origin": origin, "target": self.shown})

    def _tabswitch(self, call: Call) -> Act:
        origin, self.shown = int(call.named.get("origin", self.shown)), int(call.named["target"])
        return Act("tabswitch", {"origin": origin, "target": self.shown})

    def _tab_close(self, call: Call) -> Act:
        closed = self.shown
        self.tabs = [tab for tab in self.tabs if tab != closed] or [1]
        self.shown = self.tabs[-1]
        return Act("tabremove", {"tab": closed})

    def _tabremove(self, call: Call) -> Act:
        return Act("tabremove", {"tab": int(call.named["target"])})

    def _keyboard_press(self, call: Call) -> Act:
        return Act("press", {"key": str(call.value(0, "key", ""))})

    def _keyboard_type(self, call: Call) -> Act:
        return Act("textInput", {"text": str(call.value(0, "text", ""))})

    _keyboard_insert_text = _keyboard_type

    def _mouse_click(self, call: Call) -> Act:
        point = {"x": float(call.value(0, "x")), "y": float(call.value(1, "y"))}
        return Act("dblclick" if call.name == "mouse_dblclick" else "click",
                   point | {"button": _BUTTONS.get(call.value(2, "button", "left"), 0)})

    _mouse_dblclick = _mouse_click

    def _mouse_move(self, call: Call) -> Act:
        return Act("hover", {"x": float(call.value(0, "x")), "y": float(call.value(1, "y"))})

    def _mouse_drag_and_drop(self, call: Call) -> Act:
        x, y, to_x, to_y = (float(call.value(position, name)) for position, name in enumerate(
            ("from_x", "from_y", "to_x", "to_y")))
        return Act("drag", {"from": {"x": x, "y": y}, "to": {"x": to_x, "y": to_y}})

    def _copy(self, call: Call) -> Act:
        return Act(call.name, {"text": str(call.value(0, "text", ""))})

    _paste = _copy


_OF_SESSION = frozenset(name[1:] for name in vars(CallTranslator) if name.startswith("_") and name[1:2] != "_")
_BY_ELEMENT = frozenset({"click", "dblclick", "hover", "fill", "textInput", "select_option", "change", "press", "check",
                         "uncheck", "clear", "upload_file", "submit"})


def _by_element(call: Call, intent: str) -> Act:
    """An action on an element, whose id is the first value or is named."""
    named = next((call.named[name] for name in ("bid", "uid") if name in call.named), None)
    target = named if named is not None else call.values[0] if call.values else None
    target = None if target is None else str(target)
    second = call.value(0 if named is not None else 1, "")
    name = call.name
    if name in ("click", "dblclick", "hover"):
        button = call.named.get("button", call.value(1, "button", "left")) if name != "hover" else "left"
        modifiers = call.value(2, "modifiers", [])
        return Act(name, {"button": _BUTTONS.get(button, 0),
                          "modifiers": [_MODIFIERS.get(key, str(key)) for key in modifiers]}, target)
    if name == "submit" or (name == "press" and intent == "submit"):
        return Act("submit", {}, target)
    if name in ("fill", "textInput", "clear"):
        text = "" if name == "clear" else call.named.get("text", call.named.get("value", second))
        if name == "fill" and intent == "change":
            return Act("change", {"value": str(text)}, target)
        return Act("textInput", {"text": str(text or "")}, target)
    if name in ("select_option", "change"):
        return Act("change", _chosen(call.named.get("options", call.named.get("value", second))), target)
    if name == "press":
        return Act("press", {"key": str(call.named.get("key_comb", second) or "")}, target)
    if name == "upload_file":
        files = call.named.get("file", second)
        return Act("upload", {"files": [str(file).rpartition("/")[2] for file in (
            files if isinstance(files, list | tuple) else [files])]}, target)
    return Act("change", {"checked": name == "check"}, target)


def _chosen(options: Any) -> dict[str, Any]:
    if isinstance(options, list | tuple) and len(options) != 1:
        values = [str(option) for option in options]
        return {"value": values[0] if values else "", "chosen_values": values}
    option = options[0] if isinstance(options, list | tuple) else options
    return {"label": str(option)}
