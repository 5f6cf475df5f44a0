"""Actions in the grammar of computer-use models: a JSON object a line, with coordinates in pixels of the picture."""

from typing import Any

from schemas import InputError

from .action_calls import Act
from .sources import parse_json

_CLICKS = {"left_click": 0, "middle_click": 1, "right_click": 2}
_KEYS = {"Return": "Enter", "space": " ", "BackSpace": "Backspace", "Left": "ArrowLeft", "Right": "ArrowRight",
         "Up": "ArrowUp", "Down": "ArrowDown", "Page_Up": "PageUp", "Page_Down": "PageDown", "plus": "+",
         "ctrl": "Control", "shift": "Shift", "alt": "Alt", "super": "Meta"}
_WHEEL_PX = 100  # CSS pixels that a step of the wheel scrolls
_WAYS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
_BROWSER_KEYS = {"Alt+ArrowLeft": "back", "Alt+ArrowRight": "forward", "F5": "reload"}


def is_computer_use(text: str) -> bool:
    """Whether a text is of this grammar."""
    return text.lstrip().startswith("{")


def translate_computer_use(text: str, intent: str, where: str) -> list[Act]:
    """The action that the lines of one turn say; `intent` as the source has it. Raises InputError."""
    lines = [parse_json(line, where) for line in text.splitlines() if line.strip()]
    if not all(isinstance(line, dict) for line in lines):
        raise InputError(f"{where}: not an action of a computer-use model")
    typed = next((str(line.get("text", "")) for line in lines if line.get("action") == "type"), None)
    if typed is not None:
        if intent == "load":
            return [Act("load", {"url": typed, "transition": "typed"})]
        return [Act("textInput", {"text": typed})]
    if intent == "scroll":
        return [_scroll(lines)]
    return [act for line in lines if (act := _act(line, intent))]


def _act(line: dict[str, Any], intent: str) -> Act | None:
    name = line["action"]
    if name == "send_msg_to_user":
        return Act("say", said=str(line["text"]))
    if name in _CLICKS or name in ("double_click", "mouse_move"):
        pointer = _point(line["coordinate"])
        if name == "mouse_move":
            return Act("hover", pointer)
        modifiers = [_KEYS.get(key, key) for key in str(line.get("text") or "").split("+") if key]
        return Act("dblclick" if name == "double_click" else "click",
                   pointer | {"button": _CLICKS.get(name, 0), "modifiers": modifiers})
    if name == "left_click_drag":
        return Act("drag", {"from": _point(line["start_coordinate"]), "to": _point(line["coordinate"])})
    if name == "scroll":
        return _scroll([line])
    if name == "key":
        keys = "+".join(_KEYS.get(key, key) for key in str(line["text"]).split("+"))
        if intent in ("", _BROWSER_KEYS.get(keys)) and keys in _BROWSER_KEYS:
            return Act(_BROWSER_KEYS[keys])
        return Act("press", {"key": keys})
    return None


def _point(value: Any) -> dict[str, float]:
    return {"x": float(value[0]), "y": float(value[1])}


def _scroll(lines: list[dict[str, Any]]) -> Act:
    x = y = 0.0
    for line in lines:
        way = _WAYS[line["scroll_direction"]]
        far = float(line.get("scroll_amount", 1)) * _WHEEL_PX
        x, y = x + way[0] * far, y + way[1] * far
    return Act("scroll", {"x": max(0.0, x), "y": max(0.0, y), "delta": {"x": x, "y": y},
                          "point": _point(lines[0]["coordinate"])})
