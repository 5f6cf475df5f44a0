"""Demonstrations in WebLINX's layout, made recordings and demonstrations of ours. Nothing in them is trusted.

A page's `data-webtasks-id` becomes our uid; its boxes file becomes the element table; WebLINX multiplies the boxes of
elements and the pointer by the zoom, we do not.
"""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lxml import etree, html

from recorder.writer import RecordingWriter
from schemas import UID_ATTRIBUTE, DemonstrationSchema, InputError, limits
from schemas.files import dump_json, read_inside, reason, validated, write_atomically
from schemas.types.recordings import Box, BrowserTurn, ChatTurn, Element, Size, TableRow, Turn, TurnState
from schemas.upgrade import VERSIONS

UID = "data-webtasks-id"
REPLAY = "replay.json"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")
PAGE_NUMBER = re.compile(r"page-(\d+)-")
TEXT_LENGTH, NAME_LENGTH = 200, 100
MILLISECONDS = 1e11  # a larger time since 1970 is not in seconds
CLICKABLE = {"a", "button", "input", "label", "option", "select", "summary", "textarea"}
TRANSITIONS = {"typed": "typed", "form_submit": "form", "reload": "reload"}


def folders(path: Path) -> list[Path]:
    """The demonstrations of a data set in this layout, or of one; empty for anything else."""
    if (path / REPLAY).is_file():
        return [path]
    inside = path / "demonstrations"
    return sorted(folder for folder in inside.iterdir() if (folder / REPLAY).is_file()) if inside.is_dir() else []


def convert(folder: Path, target: Path) -> None:
    """Write the demonstration in `folder` as a processed recording; raises InputError naming file and field."""
    if not NAME.fullmatch(folder.name):
        raise InputError(f"{folder}: the folder's name is used as the id; rename it to at most 100 letters, digits, "
                         "- and _")
    replay = _json(folder, REPLAY)
    turns = replay.get("data") if isinstance(replay, dict) else None
    if not isinstance(turns, list):
        raise InputError(f"{folder / REPLAY}: field data: must be a list")
    metadata, form = (_json(folder, name) if (folder / name).exists() else {} for name in
                      ("metadata.json", "form.json"))
    tasks = form.get("tasks") or []
    if not isinstance(tasks, list):
        raise InputError(f"{folder / 'form.json'}: field tasks: must be a list")
    task = _text(form, "description") or "; ".join(map(str, tasks))
    writer = RecordingWriter(target, {
        "format": "demotape/recording", "version": VERSIONS["demotape/recording"], "id": folder.name, "task": task,
        "options": {}, "started_at": _started(metadata, replay), "user_agent": _text(metadata, "userAgent"),
        "browser": "", "viewport": None})
    try:
        made = [_Turn(folder, writer, number, turn).make() for number, turn in enumerate(turns)]
    finally:
        writer.close(datetime.now(UTC))
    demonstration = {"format": "demotape/demonstration", "version": VERSIONS["demotape/demonstration"],
                     "id": folder.name, "recording": folder.name, "task": task, "turns": made}
    demonstration = validated(demonstration, DemonstrationSchema(), str(folder / REPLAY))
    write_atomically(target / "demonstration.json", dump_json(demonstration))


class _Turn:
    """One turn of a replay on its way to one of ours."""

    def __init__(self, folder: Path, writer: RecordingWriter, number: int, turn: Any):
        self._folder, self._writer, self._number, self._turn = folder, writer, number, turn
        self._where = f"{folder / REPLAY}: field data.{number}"

    def make(self) -> Turn:
        """Our turn; raises InputError."""
        try:
            return self._chat() if self._turn["type"] == "chat" else self._browser()
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            problem = f"no field {str(error)[:80]}" if isinstance(error, KeyError) else "a value has the wrong type"
            raise InputError(f"{self._where}: not a turn of WebLINX ({problem})") from None

    def _chat(self) -> ChatTurn:
        return {"id": f"t{self._number}", "type": "chat", "timestamp": float(self._turn["timestamp"]),
                "speaker": self._turn["speaker"], "utterance": self._turn["utterance"], "checks": [], "dropped": False}

    def _browser(self) -> BrowserTurn:
        arguments = self._turn["action"]["arguments"]
        metadata, intent = arguments.get("metadata") or {}, self._turn["action"]["intent"]
        if intent not in _ARGUMENTS:
            raise InputError(f"{self._where}.action.intent: {str(intent)[:40]!r} is not an intent of WebLINX")
        self._zoom = float(metadata.get("zoomLevel") or 1)
        element = self._element(arguments["element"]) if arguments.get("element") else None
        return {"id": f"t{self._number}", "type": "browser", "timestamp": float(self._turn["timestamp"]),
                "intent": intent, "arguments": _ARGUMENTS[intent](arguments, self._zoom), "element": element,
                "state": self._state(metadata), "events": [], "checks": [], "dropped": False}

    def _element(self, element: dict[str, Any]) -> Element:
        attributes = {str(name): str(value) for name, value in element["attributes"].items()}
        text = " ".join(str(element.get("textContent") or "").split())[:TEXT_LENGTH]
        return {"uid": attributes.pop(UID, ""), "tag": str(element["tagName"]).lower(),
                "role": attributes.get("role", ""), "name": attributes.get("aria-label", "")[:TEXT_LENGTH],
                "text": text, "attributes": attributes, "xpath": str(element.get("xpath") or ""), "css": "",
                "frame": [], "bbox": _box(element.get("bbox"), self._zoom)}

    def _state(self, metadata: dict[str, Any]) -> TurnState:
        state = self._turn["state"]
        page = self._file("pages", state.get("page"))
        picture = self._file("screenshots", state.get("screenshot"))
        dom, table = self._page(state["page"], page) if page is not None else (None, None)
        size: Size = {"width": max(0, int(metadata.get("viewportWidth") or 0)),
                "height": max(0, int(metadata.get("viewportHeight") or 0))}
        good = picture is not None and state.get("screenshot_status") != "broken"
        return {"tab": int(metadata.get("tabId") or 0), "url": str(metadata.get("url") or ""), "title": "",
                "viewport": size, "zoom": self._zoom, "device_pixel_ratio": 1, "scroll": {"x": 0, "y": 0},
                "dom": dom, "elements": table, "screenshot": self._writer.blob(picture) if picture else None,
                "screenshot_time": None, "video_time": None, "screenshot_status": "good" if good else "broken"}

    def _page(self, name: str, content: bytes) -> tuple[str, str | None]:
        """The page with our uids, and its element table."""
        dom = content.replace(f"{UID}=".encode(), f"{UID_ATTRIBUTE}=".encode())
        number = PAGE_NUMBER.match(name)
        boxes = f"bboxes/bboxes-{number[1]}.json" if number else None
        if boxes is None or not (self._folder / boxes).exists():
            return self._writer.blob(dom, kind="dom"), None
        rows = _table(content, _json(self._folder, boxes))
        return self._writer.blob(dom, kind="dom"), self._writer.blob(json.dumps(rows).encode(), kind="elements")

    def _file(self, room: str, name: Any) -> bytes | None:
        """Content of a file that the replay names; None when it names none or there is none."""
        if not name:
            return None
        if not isinstance(name, str) or not FILE.fullmatch(name):
            raise InputError(f"{self._where}.state: {str(name)[:80]!r} is not a plain file name")
        return _read(self._folder, f"{room}/{name}")


def _table(page: bytes, boxes: dict[str, Any]) -> list[TableRow]:
    """The element table: every box with what the page tells of its element."""
    try:
        tree = html.document_fromstring(page, parser=html.HTMLParser(encoding="utf-8", huge_tree=False))
    except (etree.ParserError, ValueError):
        return []
    rows: list[TableRow] = []
    for element in tree.iter(etree.Element):
        uid = element.get(UID)
        if uid in boxes and (box := _box(boxes[uid], 1)):
            name = element.get("aria-label") or " ".join("".join(element.itertext()).split())
            rows.append({"uid": uid, "tag": str(element.tag), "role": element.get("role", ""),
                         "name": name[:NAME_LENGTH],
                         "frame": [], "bbox": box, "visible": True,
                         "clickable": element.tag in CLICKABLE or element.get("onclick") is not None})
    return rows


def _pointer(arguments: dict[str, Any], zoom: float) -> dict[str, Any]:
    properties = arguments.get("properties") or {}
    modifiers = [key for name, key in (("altKey", "Alt"), ("ctrlKey", "Control"), ("metaKey", "Meta"),
                                       ("shiftKey", "Shift")) if properties.get(name)]
    return {"x": float(properties["clientX"]) / zoom, "y": float(properties["clientY"]) / zoom,
            "button": int(properties.get("button") or 0), "modifiers": modifiers}


def _load(arguments: dict[str, Any], _zoom: float) -> dict[str, Any]:
    properties = arguments["properties"]
    return {"url": properties["url"], "transition": TRANSITIONS.get(properties.get("transitionType"), "link")}


def _switch(arguments: dict[str, Any], _zoom: float) -> dict[str, Any]:
    properties = arguments["properties"]
    origin = properties.get("tabIdOrigin")
    return {"origin": None if origin in (None, -1) else int(origin), "target": int(properties["tabId"])}


def _tab(arguments: dict[str, Any], _zoom: float) -> dict[str, Any]:
    return {"tab": int(arguments["properties"]["tabId"])}


_ARGUMENTS = {
    "click": _pointer, "hover": _pointer, "load": _load, "tabswitch": _switch, "tabcreate": _tab, "tabremove": _tab,
    "textInput": lambda arguments, _: {"text": arguments["text"]},
    "change": lambda arguments, _: {"value": str(arguments["value"])},
    "submit": lambda arguments, _: {},
    "scroll": lambda arguments, _: {"x": float(arguments["scrollX"]), "y": float(arguments["scrollY"])},
    "copy": lambda arguments, _: {"text": arguments["selected"]},
    "paste": lambda arguments, _: {"text": arguments["pasted"]},
}


def _box(box: dict[str, Any] | None, zoom: float) -> Box | None:
    """A box in CSS pixels."""
    if not box:
        return None
    values: Any = {name: float(box[name]) / zoom for name in ("x", "y", "width", "height")}
    return values if values["width"] >= 0 and values["height"] >= 0 else None


def _started(metadata: dict[str, Any], replay: dict[str, Any]) -> datetime:
    """When it was recorded; WebLINX tells it in seconds or in milliseconds since 1970."""
    values: tuple[Any, ...] = (metadata.get("recordingStart"), replay.get("created"))
    for value in values:
        try:
            seconds = float(value)
            return datetime.fromtimestamp(seconds / 1000 if seconds > MILLISECONDS else seconds, UTC)
        except (TypeError, ValueError, OverflowError, OSError):
            continue
    return datetime.fromtimestamp(0, UTC)


def _text(content: dict[str, Any], name: str) -> str:
    value = content.get(name)
    return value if isinstance(value, str) else ""


def _json(folder: Path, name: str) -> dict[str, Any]:
    path = folder / name
    try:
        content = json.loads(_read(folder, name) or b"null")
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({str(error)[:80]})") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: not a JSON object")
    return content


def _read(folder: Path, name: str) -> bytes | None:
    """Content of a file of the demonstration, None when there is none; never by a link."""
    path = folder / name
    try:
        return read_inside(path, limits.JSON, folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None
