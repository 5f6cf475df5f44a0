"""Parses the output of a model as an action: `click(uid="12")`, `say(speaker="navigator", utterance="Done")`.

As the public evaluation of WebLINX reads it, so that the scores are the same.
"""

from typing import Any

INTENTS = frozenset({"say", "click", "hover", "textinput", "submit", "change", "load", "scroll", "copy", "paste",
                     "tabcreate", "tabremove", "tabswitch", "action"})
UNKNOWN = "<unk>"
_EDGES = ("top", "left", "right", "bottom")


def read_action(text: str) -> tuple[str, dict[str, Any]]:
    """Intent (in lower case, UNKNOWN when it is none) and arguments; numbers are read as such."""
    name, inside = _call(text)
    arguments = {}
    for part in _split(inside):
        key, equals, value = part.strip().partition("=")
        if equals:
            arguments[key.strip()] = _value(value)
    intent = intent_of(name)
    if intent == "action":  # a form that other data sets use: the intent is an argument
        intent = intent_of(str(arguments["intent"])) if "intent" in arguments else UNKNOWN
    return intent, _with_coordinates(arguments)


def intent_of(name: str) -> str:
    """An intent by the name that a model or a replay gives it."""
    name = name.lower().strip().replace("_", "")
    return name if name in INTENTS else UNKNOWN


def _call(text: str) -> tuple[str, str]:
    """The name before the first bracket, and what is in the brackets; brackets within quotes do not count."""
    opening = text.find("(")
    if opening == -1:
        return "", ""
    start = opening
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    quoted, end = False, len(text)
    for index in range(opening, len(text)):
        if text[index] == '"':
            quoted = not quoted
        elif text[index] == ")" and not quoted:
            end = index
            break
    return text[start:opening].strip(), text[opening + 1:end]


def _split(text: str) -> list[str]:
    """Parts between commas that are not in quotes."""
    parts: list[str] = []
    for piece in text.split(","):
        if parts and parts[-1].count('"') % 2:
            parts[-1] += "," + piece
        else:
            parts.append(piece)
    return parts


def _value(text: str) -> str | float | int:
    text = text.strip()
    if text.startswith('"') and text.endswith('"'):
        text = text[1:-1]
    if "." in text:
        return _number(text, text)
    if text.isdigit() or (text.startswith("-") and text[1:].isdigit()):
        try:
            return int(text)
        except ValueError:
            return text
    return text


def _with_coordinates(arguments: dict[str, Any]) -> dict[str, Any]:
    """Coordinates as numbers; None where they are none, or one of the two is missing."""
    for axis, other_axis in (("x", "y"), ("y", "x")):
        if axis in arguments and other_axis not in arguments:
            first, separator, second = str(arguments[axis]).partition(f"{other_axis}=")
            together = separator and isinstance(arguments[axis], str)
            arguments[axis], arguments[other_axis] = (first, second) if together else (None, None)
    for name in {"x", "y", *_EDGES} & arguments.keys():
        arguments[name] = _number(arguments[name], None)
    return arguments


def _number(value, otherwise):
    try:
        return float(value.strip() if isinstance(value, str) else value)
    except (TypeError, ValueError):
        return otherwise
