"""Records console messages of pages, uncaught errors, and messages of the browser about them.

By what the browser tells by itself to a session with `Runtime.enable`, which arming needs anyway, and `Log.enable`:
nothing is asked of the objects that a page writes, so no getter of a page runs that does not run without.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from recorder.building.console_log import ConsoleMessage
from recorder.building.recording_clock import as_if_never_set
from recorder.building.tab_observer import TabObserver
from recorder.privacy.secret_values import is_secret_name
from schemas.shared import REDACTED

_LEVELS = {"error": "error", "assert": "error", "warning": "warning", "info": "info", "debug": "debug",
           "verbose": "debug"}
_SILENT = frozenset(("clear", "endGroup", "profile", "profileEnd"))  # calls that show no line
_DIRECTIVE = re.compile("%[sdifoOc%]")  # Console Standard, 2.2.1 Formatter
_ABRIDGED = 100  # characters from which on a preview's text may lack its middle, which may stand in a secret
_MAX_ARGUMENTS = 200  # arguments, and members of each, that are looked at


def listeners(tab: int, page: Callable[[], str], observer: TabObserver) -> dict[str, Callable[[dict[str, Any]], None]]:
    """What a session has to listen to. `page`: the address of the page that the tab shows.

    Only what is written in the pages' own worlds counts: neither what the capture script does in its own, nor others.
    """
    worlds: set[int] = set()

    def created(event: dict[str, Any]) -> None:
        context = event["context"]
        if context.get("auxData", {}).get("isDefault"):
            worlds.add(context["id"])

    def report(milliseconds: float, kind: str, level: str, describe: Callable[[], ConsoleMessage]) -> None:
        if observer.seconds(milliseconds / 1000):  # else the browser has kept it from before the recording
            epoch = as_if_never_set(observer, milliseconds / 1000, f"console of tab {tab}")
            observer.console.add_line(epoch, tab, page(), kind, level, describe)

    def called(event: dict[str, Any]) -> None:
        if event["executionContextId"] in worlds and event["type"] not in _SILENT:
            report(event["timestamp"], "call", _LEVELS.get(event["type"], "log"), lambda: _call_message(event))

    def thrown(event: dict[str, Any]) -> None:
        details = event["exceptionDetails"]
        if details.get("executionContextId", 0) in worlds:
            report(event["timestamp"], "uncaught", "error", lambda: _error_message(details))

    def added(event: dict[str, Any]) -> None:
        entry = event["entry"]
        report(entry["timestamp"], "browser", _LEVELS.get(entry["level"], "log"), lambda: _entry_message(entry))

    return {"Runtime.executionContextCreated": created, "Runtime.consoleAPICalled": called,
            "Runtime.exceptionThrown": thrown, "Log.entryAdded": added,
            "Runtime.executionContextDestroyed": lambda event: worlds.discard(event["executionContextId"]),
            "Runtime.executionContextsCleared": lambda _: worlds.clear()}


def _call_message(event: dict[str, Any]) -> ConsoleMessage:
    return _with_location(text_of(event["args"]), _caller(event.get("stackTrace")))


def _error_message(details: dict[str, Any]) -> ConsoleMessage:
    """An error tells what it is with the place of each call, anything else that was thrown as it would be shown."""
    thrown = details.get("exception")
    text = details["text"] if thrown is None else f"{details['text']} {text_of([thrown])}"
    return _with_location(text, _caller(details.get("stackTrace")) or details)


def _entry_message(entry: dict[str, Any]) -> ConsoleMessage:
    return _with_location(entry["text"], _caller(entry.get("stackTrace")) or entry)


def _caller(trace: dict[str, Any] | None) -> dict[str, Any]:
    """The innermost call, if it is told."""
    return trace["callFrames"][0] if trace and trace["callFrames"] else {}


def _with_location(text: str, location: dict[str, Any]) -> ConsoleMessage:
    line, column = location.get("lineNumber"), location.get("columnNumber")
    return ConsoleMessage(text, location.get("url", ""), None if line is None else line + 1,
                   None if column is None else column + 1)


def text_of(arguments: list[dict[str, Any]]) -> str:
    """What a console shows of arguments (Runtime.RemoteObject), as plain text."""
    rest = iter(arguments[:_MAX_ARGUMENTS])
    first = next(rest, None)
    parts = []
    if first is not None:
        begins = first["type"] == "string" and len(arguments) > 1
        parts.append(_format(first["value"], rest) if begins else _describe_value(first))
    return " ".join((*parts, *map(_describe_value, rest)))


def _format(text: str, rest: Iterator[dict[str, Any]]) -> str:
    """A first text with the arguments put in that it asks for: `%s`, `%d` and the like; styles (`%c`) are left out."""
    def put_in(match: re.Match[str]) -> str:
        if match[0] == "%%":
            return "%"
        value = next(rest, None)
        return match[0] if value is None else "" if match[0] == "%c" else _describe_value(value)

    return _DIRECTIVE.sub(put_in, text)


def _describe_value(value: dict[str, Any]) -> str:
    """A Runtime.RemoteObject: a text as it is, of an object its preview."""
    if value["type"] == "string":
        return value["value"]
    if (preview := value.get("preview")) and value.get("subtype") not in ("error", "node", "regexp", "date", "proxy"):
        return _preview(preview)
    if value["type"] == "undefined" or value.get("subtype") == "null":
        return value.get("subtype", "undefined")
    text = value.get("description", value.get("unserializableValue", value.get("value", "")))
    return ("true" if text else "false") if isinstance(text, bool) else str(text)


def _preview(preview: dict[str, Any]) -> str:
    """A Runtime.ObjectPreview, such as `Array(2) [1, "a"]`, `{a: 1, …}`, `Map(1) {"a" => 1}`."""
    listed = preview.get("subtype") in ("array", "typedarray")
    if (entries := preview.get("entries")) is not None:
        members = [" => ".join(_entry(member[part]) for part in ("key", "value") if part in member)
                   for member in entries[:_MAX_ARGUMENTS]]
    else:
        members = [_member(property_) if listed and property_["name"].isdecimal()
                   else f"{_member_name(property_['name'])}: {_member(property_)}"
                   for property_ in preview["properties"][:_MAX_ARGUMENTS]]
    inside = ", ".join([*members, *(["…"] if preview["overflow"] else [])])
    name = preview.get("description", "")
    return f"{name + ' ' if name not in ('', 'Object') else ''}{'[' if listed else '{'}{inside}{']' if listed else '}'}"


def _member_name(name: str) -> str:
    """The name of an object's member as it is shown: none that the browser may have cut, as it may be part of a secret.
    """
    return name if len(name) < _ABRIDGED else "…"


def _entry(preview: dict[str, Any]) -> str:
    """A key or value of a map or a set: an object's preview, or of anything else its description."""
    if preview["type"] == "object" and preview.get("subtype") != "null":
        return _preview(preview)
    return _value(preview["type"], preview.get("description", ""))


def _member(member: dict[str, Any]) -> str:
    """A Runtime.PropertyPreview; what the member is called may say that it is secret."""
    if member["type"] == "accessor":
        return "(…)"
    if is_secret_name(member["name"]) and member["type"] in ("string", "number", "bigint"):
        return REDACTED
    return "ƒ" if member["type"] == "function" else _value(member["type"], member.get("value", ""))


def _value(kind: str, text: str) -> str:
    abridged = len(text) >= _ABRIDGED and "…" in text
    shown = "…" if abridged else text
    return f'"{shown}"' if kind == "string" else shown
