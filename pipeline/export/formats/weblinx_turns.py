"""Turns in WebLINX's form: one function for each intent, plain dicts in and out (FORMATS of the public reader,
0.3.2)."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any

from lxml import etree

from pipeline.pages.dom import TAG_ATTRIBUTE, Page
from pipeline.privacy.redacting import Redactor
from recorder import Recording
from schemas.intents import INTENTS
from schemas.types.recordings import Box, BrowserTurn, ChatTurn, Element, Size, Turn

UID = "data-webtasks-id"
MAX_HTML = 100_000  # characters of an element's HTML and text in replay.json; the page has all of it

# Chrome's webNavigation transition type and qualifiers, which WebLINX kept
TRANSITIONS: dict[str, tuple[str, list[str]]] = {
    "typed": ("typed", ["from_address_bar"]), "link": ("link", []), "form": ("form_submit", []),
    "script": ("link", ["client_redirect"]), "redirect": ("link", ["server_redirect"]), "reload": ("reload", []),
    "back": ("link", ["forward_back"]), "forward": ("link", ["forward_back"]), "same_document": ("link", []),
}
_MODIFIERS = {"altKey": "Alt", "ctrlKey": "Control", "metaKey": "Meta", "shiftKey": "Shift"}
_NO_BOX: Box = {"x": 0, "y": 0, "width": 0, "height": 0}


def why_left_out(turn: Turn, url: str | None) -> str | None:
    """Why WebLINX's readers could not hold this turn, or None when they can. `url`: where a history turn led to."""
    if turn["type"] == "chat":
        return None
    intent = INTENTS[turn["intent"]]
    if intent.weblinx is None:
        return f"{intent.name}: no equal in WebLINX"
    if intent.acts_on_element and turn["element"] is None:
        return f"{intent.name}: no element"
    if intent.weblinx == "load" and intent.name != "load" and url is None:
        return f"{intent.name}: address unknown"
    return None


def history_url(turns: Sequence[Turn], index: int, recording: Recording, known: Redactor) -> str | None:
    """Where a back, forward or reload turn led to: its own navigation's address, else the tab's next one."""
    turn = turns[index]
    if turn["type"] == "chat" or turn["intent"] not in ("back", "forward", "reload"):
        return None
    numbers = set(turn["events"])
    for event in recording.events:
        if event["seq"] in numbers and event["data"].get("url"):
            return known.text(event["data"]["url"])
    tab = turn["state"]["tab"] if turn["state"] else None
    for later in turns[index + 1:]:
        if later["type"] == "browser" and later["state"] and later["state"]["tab"] == tab:
            return later["state"]["url"]
    return None


def chat_turn(turn: ChatTurn) -> dict[str, Any]:
    """A chat turn; it has no state, not even null."""
    return {"type": "chat", "timestamp": turn["timestamp"], "speaker": turn["speaker"], "utterance": turn["utterance"]}


def browser_turn(turn: BrowserTurn, *, state: dict[str, Any], element: dict[str, Any] | None,
                 started_at: datetime, viewport: Size, url: str | None) -> dict[str, Any]:
    """A browser turn. `state` and `element` are ready-made; `viewport` stands in where the turn has no state."""
    intent = INTENTS[turn["intent"]].weblinx or turn["intent"]
    arguments: dict[str, Any] = {"metadata": _metadata(turn, intent, started_at, viewport)}
    if element is not None and INTENTS[turn["intent"]].acts_on_element:
        arguments["element"] = element
    arguments |= _ARGUMENTS[intent](turn, url)
    return {"type": "browser", "timestamp": turn["timestamp"], "state": state,
            "action": {"intent": intent, "arguments": arguments}}


def eight_numbers(box: Box | None, scale: float = 1) -> dict[str, float]:
    """A box as the DOM's DOMRect lists it. `scale` turns CSS pixels into zoomed ones."""
    box = box or _NO_BOX
    x, y, width, height = (round(box[name] * scale, 4) for name in ("x", "y", "width", "height"))
    return {"x": x, "y": y, "width": width, "height": height, "top": y, "left": x,
            "right": round(x + width, 4), "bottom": round(y + height, 4)}


def page_element(page: Page, uid: str, box: Box | None, zoom: float) -> dict[str, Any]:
    """The target as it stands in the page; its box is multiplied by the zoom, as WebLINX's are."""
    node = page.elements[uid]
    attributes = {str(name): str(value) for name, value in node.attrib.items()}
    tag = attributes.pop(TAG_ATTRIBUTE, node.tag)
    outer = etree.tostring(node, method="html", encoding="unicode", with_tail=False)
    inner = escape(node.text or "", quote=False) + "".join(
        etree.tostring(child, method="html", encoding="unicode") for child in node)
    return {"attributes": attributes, "bbox": eight_numbers(box, zoom), "tagName": tag.upper(),
            "textContent": "".join(node.itertext())[:MAX_HTML], "innerHTML": inner[:MAX_HTML],
            "outerHTML": outer[:MAX_HTML], "xpath": page.xpath(uid)}


def recorded_element(element: Element, zoom: float) -> dict[str, Any]:
    """The target as the recording noted it, for a turn whose page is missing or does not have it."""
    attributes = element["attributes"] | {UID: element["uid"]}
    tag, text = element["tag"], escape(element["text"], quote=False)
    written = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    return {"attributes": attributes, "bbox": eight_numbers(element["bbox"], zoom), "tagName": tag.upper(),
            "textContent": element["text"], "innerHTML": text, "outerHTML": f"<{tag}{written}>{text}</{tag}>",
            "xpath": element["xpath"]}


def pointer(turn: BrowserTurn) -> tuple[float, float] | None:
    """Where the pointer was, CSS pixels; a click made by a key is given the middle of its target."""
    x, y = turn["arguments"].get("x"), turn["arguments"].get("y")
    if INTENTS[turn["intent"]].weblinx not in ("click", "hover"):
        return None
    if x is None or y is None:
        box = turn["element"]["bbox"] if turn["element"] else None
        return (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) if box else None
    return x, y


def _metadata(turn: BrowserTurn, intent: str, started_at: datetime, viewport: Size) -> dict[str, Any]:
    state: Mapping[str, Any] = turn["state"] or {"url": "", "viewport": viewport, "zoom": 1, "tab": -1}
    x, y = pointer(turn) or (-1, -1)
    return {"mouseX": x, "mouseY": y, "tabId": -1 if intent in ("tabcreate", "tabremove") else state["tab"],
            "timestamp": round((started_at.timestamp() + turn["timestamp"]) * 1000), "url": state["url"],
            "viewportHeight": state["viewport"]["height"], "viewportWidth": state["viewport"]["width"],
            "zoomLevel": state["zoom"]}


def _mouse(turn: BrowserTurn, url: str | None) -> dict[str, Any]:
    """The members of the MouseEvent that are known; clientX and clientY are multiplied by the zoom."""
    x, y = pointer(turn) or (-1, -1)
    state: Mapping[str, Any] = turn["state"] or {"zoom": 1, "scroll": {"x": 0, "y": 0}}
    zoom, scroll = state["zoom"], state["scroll"]
    modifiers = turn["arguments"]["modifiers"]
    client_x, client_y = round(x * zoom, 4), round(y * zoom, 4)
    detail = {"dblclick": 2, "click": 1}.get(turn["intent"], 0)
    return {"properties": {name: key in modifiers for name, key in _MODIFIERS.items()} | {
        "button": turn["arguments"]["button"], "buttons": 0, "clientX": client_x, "clientY": client_y,
        "detail": detail, "pageX": round((x + scroll["x"]) * zoom, 4), "pageY": round((y + scroll["y"]) * zoom, 4),
        "timeStamp": round(turn["timestamp"] * 1000, 3), "x": client_x, "y": client_y}}


def _change(turn: BrowserTurn, url: str | None) -> dict[str, Any]:
    """WebLINX knows one string: a box that was ticked is `true`, one that was cleared `false`."""
    arguments = turn["arguments"]
    return {"value": arguments.get("value", str(arguments.get("checked", "")).lower())}


def _load(turn: BrowserTurn, url: str | None) -> dict[str, Any]:
    cause = turn["arguments"].get("transition", turn["intent"])
    kind, qualifiers = TRANSITIONS.get(cause, ("link", []))
    return {"properties": {"url": turn["arguments"].get("url", url), "transitionType": kind,
                           "transitionQualifiers": list(qualifiers)}}


def _switch(turn: BrowserTurn, url: str | None) -> dict[str, Any]:
    origin = turn["arguments"]["origin"]
    return {"properties": {"tabId": turn["arguments"]["target"], "tabIdOrigin": -1 if origin is None else origin}}


def _tab(turn: BrowserTurn, url: str | None) -> dict[str, Any]:
    return {"properties": {"tabId": turn["arguments"]["tab"]}}


_ARGUMENTS: dict[str, Callable[[BrowserTurn, str | None], dict[str, Any]]] = {
    "click": _mouse, "hover": _mouse, "change": _change, "load": _load, "tabswitch": _switch,
    "tabcreate": _tab, "tabremove": _tab,
    "textInput": lambda turn, url: {"text": turn["arguments"]["text"]},
    "submit": lambda turn, url: {},
    "scroll": lambda turn, url: {"scrollX": turn["arguments"]["x"], "scrollY": turn["arguments"]["y"]},
    "copy": lambda turn, url: {"selected": turn["arguments"]["text"]},
    "paste": lambda turn, url: {"pasted": turn["arguments"]["text"]},
}
