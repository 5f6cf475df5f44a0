"""Tool calls of agents, as actions: names and arguments of the usual browser tools."""

from collections.abc import Mapping
from typing import Any

from schemas.intents import BROWSER_INTENTS
from schemas.types.recordings import Element

from .action_calls import Act, Call, CallTranslator
from .elements import make_element

_PREFIXES = ("browser_", "playwright_", "page_", "page.", "browser.", "computer.", "computer_", "web_", "go_to_")
_SYNONYMS = {
    "click": "click left_click click_element click_element_by_index", "right_click": "right_click",
    "dblclick": "dblclick double_click", "hover": "hover mouse_move",
    "fill": "fill type type_text input input_text textinput",
    "select_option": "select_option select select_dropdown select_dropdown_option",
    "press": "press press_key send_keys key keyboard_press", "check": "check", "uncheck": "uncheck", "clear": "clear",
    "goto": "goto navigate go_to_url open open_url url load visit", "go_back": "go_back back navigate_back",
    "go_forward": "go_forward forward navigate_forward", "reload": "reload refresh", "scroll": "scroll",
    "scroll_down": "scroll_down", "scroll_up": "scroll_up", "new_tab": "new_tab tab_new",
    "tab_close": "tab_close close_tab", "tab_focus": "tab_focus switch_tab tab_select",
    "upload_file": "upload_file file_upload", "drag": "drag drag_and_drop",
    "say": "send_msg_to_user done finish answer stop report_infeasible",
}
_NAMES = {name: action for action, names in _SYNONYMS.items() for name in names.split()}
_TARGETS = ("uid", "bid", "element_id", "ref", "index", "id", "mark", "element_index")
_TEXTS = ("text", "value", "content", "message", "answer", "answer_text", "final_answer", "msg")
_SCROLL_PX = 500  # CSS pixels of a scroll whose length is not stated


def translate_tool(name: str, arguments: Mapping[str, Any], calls: CallTranslator) -> Act | None:
    """The action that a tool call does; None where it has no equal. Raises what odd values raise."""
    own = _own(name, arguments)
    if own is not None:
        return own
    plain = name.strip()
    for prefix in _PREFIXES:
        if plain.lower().startswith(prefix) and plain.lower().removeprefix(prefix) in _NAMES:
            plain = plain[len(prefix):]
    action = _NAMES.get(plain.lower())
    if action is None:
        call = Call(name, (), dict(arguments))
        return calls.translate(call)
    return _translate(action, arguments, calls)


def described_element(arguments: Mapping[str, Any], target: str | None) -> Element | None:
    """The element of a call as demotape's exports describe it; None for other calls. `target`: its uid."""
    described = arguments.get("element")
    if not isinstance(described, dict):
        return None
    tag, role, name, xpath, css = (str(described.get(field) or "") for field in ("tag", "role", "name", "xpath", "css"))
    return make_element(target or "", tag, role, name, box=described.get("bbox"), xpath=xpath, css=css)


def _own(name: str, arguments: Mapping[str, Any]) -> Act | None:
    """An action of demotape's own exports, whose tools are named as intents."""
    if name not in BROWSER_INTENTS or "element" not in arguments and not (
            {"x", "y", "button", "modifiers"} <= arguments.keys() or _is_own_form(name, arguments)):
        return None
    plain = {key: value for key, value in arguments.items() if key not in ("uid", "element")}
    uid = arguments.get("uid")
    return Act(name, plain, None if uid is None else str(uid))


def _is_own_form(name: str, arguments: Mapping[str, Any]) -> bool:
    """Whether the arguments are those of our intent of that name, for intents without an element."""
    fields = {"load": {"url", "transition"}, "tabcreate": {"tab"}, "tabremove": {"tab"}, "scroll": {"x", "y"},
              "tabswitch": {"origin", "target"}, "copy": {"text"}, "paste": {"text"}, "press": {"key"},
              "dialog": {"kind", "message", "accepted"}, "drag": {"from", "to"}, "back": set(), "forward": set(),
              "reload": set()}
    return name in fields and fields[name] == arguments.keys() - {"delta", "point", "text"} | (
        {"text"} & fields[name] & arguments.keys())


def _translate(action: str, arguments: Mapping[str, Any], calls: CallTranslator) -> Act | None:
    target = next((str(arguments[name]) for name in _TARGETS if arguments.get(name) is not None), None)
    if action == "say":
        return Act("say", said=next((str(arguments[name]) for name in _TEXTS if arguments.get(name)), ""))
    if action in ("click", "right_click", "dblclick", "hover"):
        extra = _point(arguments) | ({"button": 2} if action == "right_click" else {})
        return Act("click" if action == "right_click" else action, extra, target)
    if action == "fill":
        text = next((str(arguments[name]) for name in _TEXTS if arguments.get(name) is not None), "")
        return Act("textInput", {"text": text}, target)
    if action == "select_option":
        options = next((arguments[name] for name in ("options", "values", "value", "option", "label", "text")
                        if arguments.get(name)), "")
        return calls.translate(Call("select_option", (), {"bid": target, "options": options}))
    if action == "press":
        keys = next((arguments[name] for name in ("key", "keys", "key_comb", "text") if arguments.get(name)), "")
        keys = "+".join(map(str, keys)) if isinstance(keys, list) else str(keys)
        return Act("press", {"key": keys}, target)
    if action in ("scroll", "scroll_down", "scroll_up"):
        return calls.translate(Call("scroll", _scrolled(action, arguments), {}))
    if action == "reload":
        return Act("reload")
    if action == "goto":
        address = next((str(arguments[name]) for name in ("url", "address", "href") if arguments.get(name)), None)
        return None if address is None else calls.translate(Call("goto", (address,), {}))
    if action == "tab_focus":
        index = next((arguments[name] for name in ("index", "tab_index", "page_id", "tab_id")
                      if isinstance(arguments.get(name), int)), 0)
        return calls.translate(Call("tab_focus", (index,), {}))
    if action == "upload_file":
        files: Any = next((arguments[name] for name in ("file", "files", "paths", "path") if arguments.get(name)), [])
        return calls.translate(Call("upload_file", (), {"bid": target, "file": files}))
    if action == "drag":
        return _drag(arguments)
    named: dict[str, Any] = {"bid": target} if target is not None else {}
    return calls.translate(Call(action, (), named))


def _point(arguments: Mapping[str, Any]) -> dict[str, Any]:
    coordinate = arguments.get("coordinate") or arguments.get("coordinates") or arguments.get("position")
    if isinstance(coordinate, list | tuple) and len(coordinate) == 2:
        return {"x": float(coordinate[0]), "y": float(coordinate[1])}
    pair = coordinate if isinstance(coordinate, dict) else arguments
    if isinstance(pair.get("x"), int | float) and isinstance(pair.get("y"), int | float):
        return {"x": float(pair["x"]), "y": float(pair["y"])}
    return {}


def _scrolled(action: str, arguments: Mapping[str, Any]) -> tuple[float, float]:
    """By how much, in CSS pixels."""
    if "delta_y" in arguments or "delta_x" in arguments:
        return float(arguments.get("delta_x") or 0), float(arguments.get("delta_y") or 0)
    if isinstance(arguments.get("dy"), int | float):
        return float(arguments.get("dx") or 0), float(arguments["dy"])
    far = next((float(arguments[name]) for name in ("amount", "pixels", "num_pixels")
                if isinstance(arguments.get(name), int | float)), float(_SCROLL_PX))
    way = str(arguments.get("direction") or arguments.get("scroll_direction") or action.rpartition("_")[2]).lower()
    if way in ("left", "right"):
        return (far if way == "right" else -far), 0.0
    return 0.0, -far if way == "up" or arguments.get("down") is False else far


def _drag(arguments: Mapping[str, Any]) -> Act | None:
    values = [arguments.get(name) for name in ("from_x", "from_y", "to_x", "to_y")]
    if not all(isinstance(value, int | float) for value in values):
        return None
    x, y, to_x, to_y = (float(value) for value in values if value is not None)
    return Act("drag", {"from": {"x": x, "y": y}, "to": {"x": to_x, "y": to_y}})
