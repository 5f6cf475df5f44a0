"""Actions as models with a trained computer tool return them: Anthropic's and OpenAI's calls, as our actions. Pure."""

from collections.abc import Mapping
from typing import Any

from replay.running.action_forms import ParsedAction
from schemas import InputError, limits
from schemas.key_names import KEYS_BY_NAME

_ANTHROPIC_BUTTONS = {"left_click": 0, "middle_click": 1, "right_click": 2}
_OPENAI_BUTTONS = {"left": 0, "wheel": 1, "middle": 1, "right": 2}
_CLICK_PX = 100  # CSS pixels of a notch of Anthropic's scroll amount
_NO_EFFECT = ("screenshot", "wait", "cursor_position")


def parse_call(call: Mapping[str, Any]) -> list[ParsedAction]:
    """The actions of one call; none for one that only looks or waits.

    Anthropic's (`computer_20250124`) has `action`, with `coordinate`, `text`, `scroll_direction`, …; OpenAI's
    (`computer_use_preview`, an item's `action`) has `type`, with `x`, `y`, `keys`, …. Raises InputError, naming the
    field.
    """
    if isinstance(call.get("action"), Mapping):  # an item of OpenAI's around its action
        return parse_call(call["action"])
    if "action" in call:
        return _anthropic(call)
    if "type" in call:
        return _openai(call)
    raise InputError('the call has neither "action" (Anthropic) nor "type" (OpenAI)')


def _anthropic(call: Mapping[str, Any]) -> list[ParsedAction]:
    action = call["action"]
    if action in _ANTHROPIC_BUTTONS:
        return [_click("click", _coordinate(call, "coordinate"), _ANTHROPIC_BUTTONS[action], _modifiers(call))]
    if action in ("double_click", "triple_click"):
        return [_click("dblclick", _coordinate(call, "coordinate"), 0, _modifiers(call))]
    match action:
        case "mouse_move":
            return [_click("hover", _coordinate(call, "coordinate"))]
        case "left_click_drag":
            return [_drag(_coordinate(call, "start_coordinate"), _coordinate(call, "coordinate"))]
        case "type":
            return [ParsedAction("textInput", {"text": _text(call, "text")})]
        case "key":
            return [ParsedAction("press", {"key": _combination(_text(call, "text").split("+"))})]
        case "scroll":
            distance = _number(call, "scroll_amount") * _CLICK_PX
            across, down = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}.get(
                call.get("scroll_direction", ""), (0, 0))
            if not across and not down:
                raise InputError("field scroll_direction: must be up, down, left or right")
            return [_wheel(_coordinate(call, "coordinate"), across * distance, down * distance)]
    return _without_effect(action)


def _openai(call: Mapping[str, Any]) -> list[ParsedAction]:
    kind = call["type"]
    match kind:
        case "click":
            button = call.get("button", "left")
            if button in ("back", "forward"):
                return [ParsedAction(button, {})]
            if button not in _OPENAI_BUTTONS:
                raise InputError(f"field button: must be one of {', '.join([*_OPENAI_BUTTONS, 'back', 'forward'])}")
            return [_click("click", _point(call), _OPENAI_BUTTONS[button])]
        case "double_click":
            return [_click("dblclick", _point(call))]
        case "move":
            return [_click("hover", _point(call))]
        case "drag":
            path = call.get("path")
            if not isinstance(path, list) or len(path) < 2:
                raise InputError("field path: must be a list of at least two points")
            begin, end = ((_point(point) if isinstance(point, Mapping) else _pair(point, "path"))
                          for point in (path[0], path[-1]))
            return [_drag(begin, end)]
        case "type":
            return [ParsedAction("textInput", {"text": _text(call, "text")})]
        case "keypress":
            keys = call.get("keys")
            if not isinstance(keys, list) or not keys or not all(isinstance(key, str) for key in keys):
                raise InputError("field keys: must be a list of key names")
            return [ParsedAction("press", {"key": _combination(keys)})]
        case "scroll":
            return [_wheel(_point(call), _number(call, "scroll_x"), _number(call, "scroll_y"))]
    return _without_effect(kind)


def _without_effect(name: Any) -> list[ParsedAction]:
    if name in _NO_EFFECT:
        return []
    raise InputError(f"unknown computer action {str(name)[:40]!r}")


def _click(intent: str, point: tuple[float, float], button: int = 0, modifiers: list[str] | None = None
           ) -> ParsedAction:
    return ParsedAction(intent, {"x": point[0], "y": point[1], "button": button, "modifiers": modifiers or []})


def _drag(begin: tuple[float, float], end: tuple[float, float]) -> ParsedAction:
    return ParsedAction("drag", {"from": {"x": begin[0], "y": begin[1]}, "to": {"x": end[0], "y": end[1]}})


def _wheel(point: tuple[float, float], across: float, down: float) -> ParsedAction:
    return ParsedAction("scroll", {"x": 0.0, "y": 0.0, "delta": {"x": across, "y": down},
                                   "point": {"x": point[0], "y": point[1]}})


def _point(call: Mapping[str, Any]) -> tuple[float, float]:
    return _number(call, "x"), _number(call, "y")


def _coordinate(call: Mapping[str, Any], field: str) -> tuple[float, float]:
    return _pair(call.get(field), field)


def _pair(value: Any, field: str) -> tuple[float, float]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InputError(f"field {field}: must be two numbers")
    return _number({field: value[0]}, field), _number({field: value[1]}, field)


def _number(call: Mapping[str, Any], field: str) -> float:
    value = call.get(field)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= limits.LENGTH:
        raise InputError(f"field {field}: must be a number")
    return float(value)


def _text(call: Mapping[str, Any], field: str) -> str:
    value = call.get(field)
    if not isinstance(value, str) or not value:
        raise InputError(f"field {field}: must be a text")
    return value


def _modifiers(call: Mapping[str, Any]) -> list[str]:
    """Keys that are held during a press: Anthropic's `text` of a click."""
    text = call.get("text")
    return [_key(name) for name in text.split("+")] if isinstance(text, str) and text else []


def _combination(names: list[str]) -> str:
    return "+".join(_key(name) for name in names)


def _key(name: str) -> str:
    """A key by its name in xdotool or pyautogui, as Playwright names it."""
    known = KEYS_BY_NAME.get(name.strip().lower())
    if known:
        return known
    if len(name.strip()) == 1 or not name.strip():
        return name.strip() or "Space"
    raise InputError(f"unknown key {name[:40]!r}")
