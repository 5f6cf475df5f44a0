"""Calls of Playwright's API in traces, as actions."""

from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from .playwright_snapshots import DrawnPage

_BUTTONS = {"left": 0, "middle": 1, "right": 2}
_MODIFIERS = {"ControlOrMeta": "Control"}
# Calls that read, wait or set up: they act on nothing.
IGNORED = frozenset({
    "newPage", "newContext", "close", "textContent", "innerText", "innerHTML", "getAttribute", "inputValue",
    "isVisible", "isHidden", "isEnabled", "isDisabled", "isEditable", "isChecked", "evaluateExpression",
    "evaluateExpressionHandle", "evalOnSelector", "evalOnSelectorAll", "querySelector", "querySelectorAll",
    "queryCount", "screenshot", "title", "content", "url", "boundingBox", "ariaSnapshot", "setViewportSize",
    "setDefaultTimeoutNoReply", "setDefaultNavigationTimeoutNoReply", "setNetworkInterceptionPatterns",
    "addInitScript", "exposeBinding", "highlight", "pdf", "requests", "bringToFront", "scrollIntoViewIfNeeded",
    "scrollIntoView", "tracingStart", "tracingStop", "tracingStartChunk", "tracingStopChunk", "tracingGroup",
    "tracingGroupEnd", "storageState", "cookies", "addCookies", "clearCookies", "grantPermissions", "fetch",
    "dispose", "consoleMessages", "pageErrors", "frameElement", "ownerFrame", "contentFrame", "resolveSelector",
    "setExtraHTTPHeaders", "emulateMedia", "updateSubscription", "blur", "focus", "keyboardUp", "mouseUp",
})
_ON_ELEMENT = frozenset({
    "click", "dblclick", "tap", "hover", "fill", "type", "press", "check", "uncheck", "selectOption", "setInputFiles",
    "setInputFilePaths", "dragAndDrop", "selectText", "dispatchEvent", "setChecked"})


@dataclass
class Call:
    """One call: what it was, when, where it pointed, whether it failed. Times in milliseconds of the trace's clock."""

    id: str
    kind: str
    method: str
    start: float
    parameters: dict[str, Any]
    page: str = ""
    failed: bool = False
    point: dict[str, Any] | None = None
    box: dict[str, Any] | None = None
    result: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, event: dict[str, Any]) -> "Call":
        """The call that begins with an event; raises what odd fields raise."""
        parameters = event.get("params")
        call = cls(str(event["callId"]), str(event.get("class") or ""), str(event.get("method") or ""),
                   float(event["startTime"]), parameters if isinstance(parameters, dict) else {},
                   str(event.get("pageId") or ""))
        call.add(event)
        return call

    def add(self, event: dict[str, Any]) -> None:
        """Take in what a later event says of it."""
        self.failed = self.failed or bool(event.get("error"))
        if isinstance(point := event.get("point"), dict):
            self.point = point
        if isinstance(box := event.get("box"), dict):
            self.box = box

    @property
    def has_target(self) -> bool:
        """Whether it acts on an element."""
        return self.method in _ON_ELEMENT


def translate(call: Call, before: DrawnPage | None, after: DrawnPage | None) -> tuple[str, dict[str, Any]] | None:
    """Intent and arguments of a call; None for one without an equal."""
    if call.method in ("click", "tap", "dblclick", "hover"):
        intent = "click" if call.method == "tap" else call.method
        if call.method == "click" and call.parameters.get("clickCount") == 2:
            intent = "dblclick"
        return intent, _pointer(call)
    if call.method in _TRANSLATIONS:
        return _TRANSLATIONS[call.method](call, before, after)
    return None


def _pointer(call: Call) -> dict[str, Any]:
    point = call.point or {}
    pointer = {"x": float(point["x"]), "y": float(point["y"])} if "x" in point and "y" in point else {}
    modifiers = call.parameters.get("modifiers") or []
    return {**pointer, "button": _BUTTONS.get(call.parameters.get("button", "left"), 0),
            "modifiers": [_MODIFIERS.get(key, str(key)) for key in modifiers]}


def _value_after(before: DrawnPage | None, after: DrawnPage | None) -> str | None:
    """What the target holds after the call, if the page has it at the same place then."""
    if not before or not after or not before.target_path:
        return None
    return after.values.get(before.target_path)


def _fill(call: Call, before: DrawnPage | None, after: DrawnPage | None) -> tuple[str, dict[str, Any]]:
    return "textInput", {"text": str(call.parameters.get("value") or "")}


def _type(call: Call, before: DrawnPage | None, after: DrawnPage | None) -> tuple[str, dict[str, Any]]:
    value = _value_after(before, after)
    return "textInput", {"text": value if value is not None else str(call.parameters.get("text") or "")}


def _press(call: Call, before: DrawnPage | None, after: DrawnPage | None) -> tuple[str, dict[str, Any]]:
    keys = str(call.parameters.get("key") or "").replace("ControlOrMeta", "Control")
    return "press", {"key": keys}


def _select(call: Call, before: DrawnPage | None, after: DrawnPage | None) -> tuple[str, dict[str, Any]]:
    options = [option for option in call.parameters.get("options") or [] if isinstance(option, dict)]
    chosen = [str(option.get("label") or option.get("valueOrLabel") or option.get("value") or "") for option in options]
    if len(chosen) > 1:
        return "change", {"value": chosen[0], "chosen_values": chosen}
    if not chosen:  # by an element or a number: the value that the list has then
        return "change", {"value": _value_after(before, after) or ""}
    if options[0].get("index") is not None and not chosen[0]:
        return "change", {"value": _value_after(before, after) or ""}
    return "change", {"label": chosen[0]}


def _check(call: Call, before: DrawnPage | None, after: DrawnPage | None) -> tuple[str, dict[str, Any]]:
    return "change", {"checked": call.method == "check"}


def _upload(call: Call, before: DrawnPage | None, after: DrawnPage | None) -> tuple[str, dict[str, Any]]:
    parameters = call.parameters
    names = [str(one.get("name") or "") for one in parameters.get("payloads") or [] if isinstance(one, dict)]
    names += [PurePath(str(path).replace("\\", "/")).name for path in parameters.get("localPaths") or []]
    return "upload", {"files": names}


def _drag(call: Call, before: DrawnPage | None, after: DrawnPage | None) -> tuple[str, dict[str, Any]] | None:
    if not call.point:
        return None
    start = {"x": float(call.point["x"]), "y": float(call.point["y"])}
    end = call.parameters.get("targetPosition")
    return ("drag", {"from": start, "to": {"x": float(end["x"]), "y": float(end["y"])}}) if end else None


def _load(call: Call, before: DrawnPage | None, after: DrawnPage | None) -> tuple[str, dict[str, Any]]:
    return "load", {"url": str(call.parameters.get("url") or ""), "transition": "typed"}


def _wheel(call: Call, before: DrawnPage | None, after: DrawnPage | None) -> tuple[str, dict[str, Any]]:
    """The offsets of the page after it, where a snapshot has them; otherwise as far as it was turned."""
    delta = {"x": float(call.parameters.get("deltaX") or 0), "y": float(call.parameters.get("deltaY") or 0)}
    from_ = before.scroll if before else (0.0, 0.0)
    to = after.scroll if after and after.scroll != from_ else (
        max(0.0, from_[0] + delta["x"]), max(0.0, from_[1] + delta["y"]))
    return "scroll", {"x": to[0], "y": to[1]}


def _mouse_click(call: Call, before: DrawnPage | None, after: DrawnPage | None) -> tuple[str, dict[str, Any]]:
    clicks = call.parameters.get("clickCount")
    return ("dblclick" if clicks == 2 else "click"), {
        "x": float(call.parameters["x"]), "y": float(call.parameters["y"]),
        "button": _BUTTONS.get(call.parameters.get("button", "left"), 0)}


def _keyboard_text(call: Call, before: DrawnPage | None, after: DrawnPage | None) -> tuple[str, dict[str, Any]]:
    return "textInput", {"text": str(call.parameters.get("text") or "")}


_TRANSLATIONS = {
    "fill": _fill, "type": _type, "press": _press, "keyboardPress": _press, "selectOption": _select, "check": _check,
    "uncheck": _check, "setInputFiles": _upload, "setInputFilePaths": _upload, "dragAndDrop": _drag, "goto": _load,
    "mouseWheel": _wheel, "mouseClick": _mouse_click, "touchscreenTap": _mouse_click,
    "keyboardType": _keyboard_text, "keyboardInsertText": _keyboard_text,
    "goBack": lambda call, before, after: ("back", {}), "goForward": lambda call, before, after: ("forward", {}),
    "reload": lambda call, before, after: ("reload", {}),
}
