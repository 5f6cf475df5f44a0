"""The editor's form for a turn's arguments: which fields an intent has, and what a sent form means.

Both follow the formats in `schemas`; a new intent or argument there needs no change here.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from flask_babel import lazy_gettext as _l
from marshmallow import Schema, fields

from curator_web.errors import ErrorText
from schemas import InputError, types
from schemas.formats.arguments import ARGUMENTS

MODIFIERS = ("Alt", "Control", "Meta", "Shift")
MULTILINE = ("text", "message")
LABELS = {
    "x": "X", "y": "Y", "url": _l("Address"), "files": _l("Files, one per line"), "keyboard": _l("By keyboard"),
    "from.x": _l("From X"), "from.y": _l("From Y"), "to.x": _l("To X"), "to.y": _l("To Y"), "tab": _l("Tab"),
    "delta.x": _l("Wheel X"), "delta.y": _l("Wheel Y"), "point.x": _l("Pointer X"), "point.y": _l("Pointer Y"),
    "chosen_values": _l("Chosen values, one per line"), "autofill": _l("Filled in by the browser"),
    "origin": _l("From tab"), "target": _l("To tab"), "label": _l("Option's label"),
}
_CAPITALISED = {  # errors have these names as they are
    "button": _l("Button"), "text": _l("Text"), "value": _l("Value"), "checked": _l("Checked"),
    "message": _l("Message"), "accepted": _l("Accepted"), "key": _l("Key"), "modifiers": _l("Modifiers"),
}
_DIGITS = 1  # of a number that is shown
_USUAL: dict[str, Any] = {"button": 0, "keyboard": "false", "modifiers": []}  # what nearly every action has
TEXTS = {"textInput": "text", "change": "value", "paste": "text", "copy": "text"}  # the text that such a turn carries


@dataclass(frozen=True)
class FormField:
    """One field of the form; `kind` is number, integer, flag, text, lines or modifiers.

    `value` is what stands in it; a flag that is not needed has "", "true" or "false".
    """

    name: str
    label: str
    kind: str
    value: Any
    required: bool
    hint: str

    @property
    def is_collapsed(self) -> bool:
        """Whether it is hidden until the form is expanded: it has the usual value, or is optional and empty."""
        usual = _USUAL.get(self.name, None if self.required else "")
        return self.value == usual or (self.value == "" and not self.required)


def argument_fields(intent: str, arguments: dict[str, Any]) -> list[FormField]:
    """The form of one turn's arguments."""
    return [FormField(name, _label(name), kind,
                      _shown(kind, _get(arguments, name)), required, field.metadata.get("description", ""))
            for name, kind, required, field in _leaves(ARGUMENTS[intent]())]


def _label(name: str) -> str:
    return str(LABELS.get(name) or _CAPITALISED.get(name) or name.replace("_", " ").capitalize())


def parse_arguments(intent: str, form: Any, before: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments from a sent form (a MultiDict); raises InputError naming the field that is wrong.

    `before`: those that the form showed; a number that stands there as it was shown, rounded, stays as it was.
    """
    arguments: dict[str, Any] = {}
    for name, kind, required, field in _leaves(ARGUMENTS[intent]()):
        if kind == "modifiers":
            value: Any = [key for key in MODIFIERS if key in form.getlist(f"argument.{name}")]
        else:
            text, known = form.get(f"argument.{name}", ""), _get(before, name)
            is_unchanged = kind == "number" and known is not None and text == str(_shown(kind, known))
            value = known if is_unchanged else _parse(kind, text, LABELS.get(name, name), field)
        if value == [] and not required:
            value = None
        if value is not None or (required and field.allow_none):
            _set(arguments, name, value)
        elif required:
            raise InputError(ErrorText("field %(get)s: is required", get=LABELS.get(name, name)))
    return arguments


def converted(turn: types.BrowserTurn, intent: str) -> dict[str, Any]:
    """Arguments of a turn for another intent: what both have is kept, the rest gets an empty value."""
    old = turn["arguments"]
    arguments: dict[str, Any] = {}
    text = old.get(TEXTS.get(turn["intent"], ""))
    for name, kind, required, field in _leaves(ARGUMENTS[intent]()):
        value = _get(old, name)
        if value is None and text is not None and TEXTS.get(intent) == name:
            value = text
        if value is None and required and not field.allow_none:
            value = {"number": 0, "integer": 0, "flag": False, "text": "", "lines": [], "modifiers": []}[kind]
        if value is not None or required:
            _set(arguments, name, value)
    return arguments


def _leaves(schema: Schema, prefix: str = "", required: bool = True) -> Iterator[tuple[str, str, bool, fields.Field]]:
    """Every argument: its dotted name, kind, whether it is needed, and its field."""
    for attribute, field in schema.fields.items():
        name = prefix + (field.data_key or attribute)
        needed = required and field.required
        if isinstance(field, fields.Nested):
            yield from _leaves(field.schema, f"{name}.", needed)
        else:
            yield name, _kind(name, field), needed, field


def _kind(name: str, field: fields.Field) -> str:
    if isinstance(field, fields.List):
        return "modifiers" if name == "modifiers" else "lines"
    for type_, kind in ((fields.Boolean, "flag"), (fields.Integer, "integer"), (fields.Float, "number")):
        if isinstance(field, type_):
            return kind
    return "text"


def _shown(kind: str, value: Any) -> Any:
    if kind == "modifiers":
        return value or []
    if kind == "lines":
        return "\n".join(value or [])
    if value is None:
        return ""
    if kind == "flag":
        return "true" if value else "false"
    if kind == "number":
        value = round(value, _DIGITS)
        return int(value) if float(value).is_integer() and abs(value) < 1e15 else value
    return value


def _parse(kind: str, text: str, label: str, field: fields.Field) -> Any:
    text = text.replace("\r\n", "\n")
    if kind == "lines":
        return [line for line in text.split("\n") if line.strip()]
    if kind == "text":
        return text if text or field.required else None
    if not text.strip():
        return None
    if kind == "flag":
        return text == "true"
    try:
        value = int(text) if kind == "integer" else float(text)
    except ValueError:
        raise InputError(
            ErrorText("field %(name)s: %(text)r is not a whole number", name=label, text=text[:40])
            if kind == "integer" else
            ErrorText("field %(name)s: %(text)r is not a number", name=label, text=text[:40])) from None
    if not math.isfinite(value):
        raise InputError(ErrorText("field %(label)s: %(text)r is not a valid number", label=label,
                                   text=text[:40]))
    return value


def _get(arguments: Mapping[str, Any], name: str) -> Any:
    value: Any = arguments
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _set(arguments: dict[str, Any], name: str, value: Any) -> None:
    *parents, last = name.split(".")
    for part in parents:
        arguments = arguments.setdefault(part, {})
    arguments[last] = value
