"""Recorded scripts: flows of Chrome DevTools' Recorder and tests of Selenium IDE. They have no pages and no times."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import urljoin

from pipeline.importing.contract import Action, Importer, Item, Session, Utterance
from pipeline.importing.sources import explained, head, parse_json, read_content
from schemas import InputError, limits
from schemas.types.recordings import Element

_MODIFIERS = ("Control", "Shift", "Alt", "Meta")
_BUTTONS = {"primary": 0, "auxiliary": 1, "secondary": 2, "back": 3, "forward": 4}
_SILENT = ("setViewport", "waitForElement", "waitForExpression", "emulateNetworkConditions", "customStep", "close")
_ARIA_ROLE = re.compile(r"\[role=\"(\w+)\"\]$")  # of a selector such as aria/Order[role="button"]
_IDE_KEYS = {"KEY_ENTER": "Enter", "KEY_TAB": "Tab", "KEY_ESC": "Escape", "KEY_ESCAPE": "Escape",
             "KEY_BACKSPACE": "Backspace", "KEY_BKSP": "Backspace", "KEY_DEL": "Delete", "KEY_DELETE": "Delete",
             "KEY_UP": "ArrowUp", "KEY_DOWN": "ArrowDown", "KEY_LEFT": "ArrowLeft", "KEY_RIGHT": "ArrowRight",
             "KEY_HOME": "Home", "KEY_END": "End", "KEY_PAGE_UP": "PageUp", "KEY_PAGE_DOWN": "PageDown"}
_IDE_SILENT = ("setWindowSize", "waitFor", "assert", "verify", "echo", "store", "pause", "mouseOut", "mouseUp",
               "mouseDownAt", "mouseMoveAt", "debugger", "//")


def _document(path: Path) -> dict[str, Any]:
    document = parse_json(read_content(path, limits.JSON), str(path))
    if not isinstance(document, dict):
        raise InputError(f"{path}: not a JSON object")
    return document


def _is_flow(path: Path) -> bool:
    start = head(path).lstrip()
    return start.startswith(b"{") and b'"steps"' in start and b'"title"' in start and b'"type"' in start and (
        b"selectors" in start or b'"navigate"' in start)


def _read_flow(item: Item) -> Session:
    flow = _document(item.path)
    with explained(str(item.path), "a flow of Chrome DevTools' Recorder"):
        session = Session(str(flow.get("title") or ""), ())
        session.steps = _flow_steps(list(flow["steps"]), session, str(item.path))
    return session


def _flow_steps(steps: list[dict[str, Any]], session: Session, where: str) -> Iterator[Action]:
    modifiers: list[str] = []
    for number, step in enumerate(steps):
        with explained(f"{where}: steps.{number}", "a step of a flow"):
            kind = step["type"]
            if kind in ("keyDown", "keyUp") and step["key"] in _MODIFIERS:
                modifiers = [key for key in modifiers if key != step["key"]]
                modifiers += [step["key"]] if kind == "keyDown" else []
                continue
            action = _flow_action(step, modifiers)
            if action is not None:
                yield action
            elif kind not in (*_SILENT, "keyUp"):
                session.left_out[f"{str(kind)[:40]}: no equal here"] += 1


def _flow_action(step: dict[str, Any], modifiers: list[str]) -> Action | None:
    kind, element = step["type"], _flow_element(step)
    if kind == "navigate":
        return Action("load", {"url": str(step["url"]), "transition": "typed"})
    if kind in ("click", "doubleClick", "hover"):
        button = _BUTTONS.get(str(step.get("button") or "primary"), 0)
        return Action({"doubleClick": "dblclick"}.get(kind, kind), {"button": button, "modifiers": list(modifiers)},
                      element=element)
    if kind == "change":
        return Action("textInput", {"text": str(step["value"])}, element=element)
    if kind == "keyDown":
        return Action("press", {"key": "+".join([*modifiers, str(step["key"])])})
    if kind == "scroll":
        return Action("scroll", {"x": float(step.get("x") or 0), "y": float(step.get("y") or 0)}, element=element)
    return None


def _flow_element(step: dict[str, Any]) -> Element | None:
    """The element by the selectors of a step, each a text or a list of texts through shadow roots."""
    selectors = [one if isinstance(one, str) else " >> ".join(map(str, one)) for one in step.get("selectors") or ()]
    if not selectors:
        return None
    named = {kind: next((one.removeprefix(f"{kind}/") for one in selectors if one.startswith(f"{kind}/")), "")
             for kind in ("aria", "xpath", "text")}
    css = next((one for one in selectors if not one.startswith(("aria/", "xpath/", "text/", "pierce/"))), "")
    name, role = _ARIA_ROLE.sub("", named["aria"]), _ARIA_ROLE.search(named["aria"])
    # numbers of the frames in each other; that they have uids is not known
    frames = [f"frame {number}" for number in step.get("frame") or ()]
    return _element(css, named["xpath"], name, named["text"], role=role[1] if role else "", frames=frames)


def _element(css: str, xpath: str, name: str = "", text: str = "", attributes: dict[str, str] | None = None, *,
             role: str = "", frames: Sequence[str] = ()) -> Element:
    tag = xpath.rpartition("/")[2].partition("[")[0].strip("*") or css.rpartition(" ")[2].partition(".")[0].partition(
        "#")[0].partition("[")[0].partition(":")[0]
    return {"uid": "", "tag": tag if tag.replace("-", "").isalnum() else "", "role": role, "name": name[:200],
            "text": text[:200], "attributes": attributes or {}, "xpath": xpath, "css": css, "frame": list(frames),
            "bbox": None}


def _is_side(path: Path) -> bool:
    start = head(path).lstrip()
    return start.startswith(b"{") and b'"tests"' in start and b'"commands"' in start


def _side_items(path: Path) -> Iterator[Item]:
    for number, test in enumerate(_document(path)["tests"]):
        name = str(test.get("id") or f"{path.stem}-{number}")
        yield Item(path, name, (number,))


def _read_side(item: Item) -> Session:
    document = _document(item.path)
    where = f"{item.path}: tests.{item.position[0]}"
    with explained(where, "a test of Selenium IDE"):
        test = document["tests"][item.position[0]]
        session = Session(str(test.get("name") or ""), (), version=str(document.get("version") or ""))
        session.steps = _side_steps(list(test["commands"]), str(document.get("url") or ""), session, where)
    return session


def _side_steps(commands: list[dict[str, Any]], base: str, session: Session, where: str
                ) -> Iterator[Utterance | Action]:
    for number, command in enumerate(commands):
        with explained(f"{where}.commands.{number}", "a command of Selenium IDE"):
            name = str(command["command"])
            actions = list(_side_actions(name, str(command.get("target") or ""), str(command.get("value") or ""),
                                         command, base))
            yield from actions
            if not actions and not name.startswith(_IDE_SILENT):
                session.left_out[f"{name[:40]}: no equal here"] += 1


def _side_actions(name: str, target: str, value: str, command: dict[str, Any], base: str) -> Iterator[Action]:
    element = _side_element(target, command.get("targets") or [])
    if name == "open":
        yield Action("load", {"url": urljoin(base, target), "transition": "typed"})
    elif name in ("click", "clickAt", "doubleClick", "doubleClickAt", "mouseOver"):
        intent = {"d": "dblclick", "m": "hover"}.get(name[0], "click")
        yield Action(intent, {}, element=element)
    elif name == "type" and element and "file" in str(element["attributes"].get("type")):
        yield Action("upload", {"files": [PurePath(value.replace("\\", "/")).name]}, element=element)
    elif name in ("type", "editContent"):
        yield Action("textInput", {"text": value}, element=element)
    elif name == "sendKeys":
        yield from _sent_keys(value, element)
    elif name in ("select", "addSelection"):
        kind, _, option = value.partition("=")
        yield Action("change", {"label" if kind == "label" else "value": option or value}, element=element)
    elif name in ("check", "uncheck"):
        yield Action("change", {"checked": name == "check"}, element=element)


def _sent_keys(value: str, element: Element | None) -> Iterator[Action]:
    """Text, and keys such as `${KEY_ENTER}`."""
    for number, part in enumerate(value.replace("${", "\0").replace("}", "\0").split("\0")):
        if part and number % 2:
            yield Action("press", {"key": _IDE_KEYS.get(part, part.removeprefix("KEY_").capitalize())}, element=element)
        elif part:
            yield Action("textInput", {"text": part}, element=element)


def _side_element(target: str, targets: list[Any]) -> Element | None:
    """The element by the target and its alternatives, each `kind=value`."""
    listed = [target, *(str(one[0]) for one in targets if isinstance(one, list) and one)]
    by_kind: dict[str, str] = {}
    for one in listed:
        kind, _, text = one.partition("=")
        by_kind.setdefault("xpath" if one.startswith("//") else kind, one if one.startswith("//") else text)
    if not target or not by_kind.keys() & {"css", "xpath", "id", "name", "link", "linkText", "partialLinkText"}:
        return None
    attributes: dict[str, str] = {name: by_kind[name] for name in ("id", "name") if name in by_kind}
    text = by_kind.get("linkText") or by_kind.get("link") or by_kind.get("partialLinkText") or ""
    css = by_kind.get("css") or (f"#{by_kind['id']}" if "id" in by_kind else "")
    return _element(css, by_kind.get("xpath", ""), text, text, attributes)


FLOW = Importer("flows of Chrome DevTools' Recorder (.json)", _is_flow, _read_flow)
SELENIUM_IDE = Importer("projects of Selenium IDE (.side), a demonstration a test", _is_side, _read_side, _side_items)
