"""Demonstrations in WebLINX's layout: a folder with replay.json, or a data set of them.

WebLINX multiplies the boxes of elements and the pointer by the zoom, we do not.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.importing.contract import Action, Importer, Item, Observation, Session, Utterance
from pipeline.importing.sources import parse_json
from schemas import InputError, limits
from schemas.files import read_inside, reason
from schemas.types.recordings import Box, Element

UID = "data-webtasks-id"
REPLAY = "replay.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")
_PAGE_NUMBER = re.compile(r"page-(\d+)-")
_MAX_TEXT_CHARS = 200
_MILLISECONDS = 1e11  # a larger time since 1970 is not in seconds
_TRANSITIONS = {"typed": "typed", "form_submit": "form", "reload": "reload"}


def folders(path: Path) -> list[Path]:
    """The demonstrations of a data set in this layout, or of one; empty for anything else."""
    if (path / REPLAY).is_file():
        return [path]
    inside = path / "demonstrations"
    return sorted(folder for folder in inside.iterdir() if (folder / REPLAY).is_file()) if inside.is_dir() else []


def _items(path: Path) -> Iterator[Item]:
    for folder in folders(path):
        yield Item(folder, folder.name)


def _read(item: Item) -> Session:
    folder = item.path
    if not _NAME.fullmatch(folder.name):
        raise InputError(f"{folder}: the folder's name is used as the id; rename it to at most 100 letters, digits, "
                         "- and _")
    replay = _json(folder, REPLAY)
    turns = replay.get("data")
    if not isinstance(turns, list):
        raise InputError(f"{folder / REPLAY}: field data: must be a list")
    metadata, form = (_json(folder, name) if (folder / name).exists() else {} for name in
                      ("metadata.json", "form.json"))
    tasks = form.get("tasks") or []
    if not isinstance(tasks, list):
        raise InputError(f"{folder / 'form.json'}: field tasks: must be a list")
    task = _text(form, "description") or "; ".join(map(str, tasks))
    steps = (_Turn(folder, number, turn).make() for number, turn in enumerate(turns))
    return Session(task, steps, started_at=_started(metadata, replay), user_agent=_text(metadata, "userAgent"))


class _Turn:
    """One turn of a replay on its way to one of ours."""

    def __init__(self, folder: Path, number: int, turn: Any):
        self._folder, self._number, self._turn = folder, number, turn
        self._where = f"{folder / REPLAY}: field data.{number}"

    def make(self) -> Utterance | Action:
        """Our turn; raises InputError."""
        try:
            return self._chat() if self._turn["type"] == "chat" else self._browser()
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            problem = f"no field {str(error)[:80]}" if isinstance(error, KeyError) else "a value has the wrong type"
            raise InputError(f"{self._where}: not a turn of WebLINX ({problem})") from None

    def _chat(self) -> Utterance:
        return Utterance(self._turn["utterance"], self._turn["speaker"], float(self._turn["timestamp"]))

    def _browser(self) -> Action:
        arguments = self._turn["action"]["arguments"]
        metadata, intent = arguments.get("metadata") or {}, self._turn["action"]["intent"]
        if intent not in _ARGUMENTS:
            raise InputError(f"{self._where}.action.intent: {str(intent)[:40]!r} is not an intent of WebLINX")
        self._zoom = float(metadata.get("zoomLevel") or 1)
        element = self._element(arguments["element"]) if arguments.get("element") else None
        return Action(intent, _ARGUMENTS[intent](arguments, self._zoom), element=element, state=self._state(metadata),
                      time=float(self._turn["timestamp"]))

    def _element(self, element: dict[str, Any]) -> Element:
        attributes = {str(name): str(value) for name, value in element["attributes"].items()}
        text = " ".join(str(element.get("textContent") or "").split())[:_MAX_TEXT_CHARS]
        return {"uid": attributes.pop(UID, ""), "tag": str(element["tagName"]).lower(),
                "role": attributes.get("role", ""), "name": attributes.get("aria-label", "")[:_MAX_TEXT_CHARS],
                "text": text, "attributes": attributes, "xpath": str(element.get("xpath") or ""), "css": "",
                "frame": [], "bbox": _box(element.get("bbox"), self._zoom)}

    def _state(self, metadata: dict[str, Any]) -> Observation:
        state = self._turn["state"]
        page = self._file("pages", state.get("page"))
        return Observation(
            str(metadata.get("url") or ""), tab=int(metadata.get("tabId") or 0), zoom=self._zoom,
            viewport=(int(metadata.get("viewportWidth") or 0), int(metadata.get("viewportHeight") or 0)), page=page,
            uid_attribute=UID, boxes=self._boxes(state["page"]) if page is not None else None,
            screenshot=self._file("screenshots", state.get("screenshot")),
            is_late=state.get("screenshot_status") == "broken")

    def _boxes(self, page: str) -> dict[str, Box] | None:
        number = _PAGE_NUMBER.match(page)
        name = f"bboxes/bboxes-{number[1]}.json" if number else None
        if name is None or not (self._folder / name).exists():
            return None
        boxes = {uid: _box(box, 1) for uid, box in _json(self._folder, name).items()}
        return {uid: box for uid, box in boxes.items() if box}

    def _file(self, room: str, name: Any) -> bytes | None:
        """Content of a file that the replay names; None when it names none or there is none."""
        if not name:
            return None
        if not isinstance(name, str) or not _FILE.fullmatch(name):
            raise InputError(f"{self._where}.state: {str(name)[:80]!r} is not a plain file name")
        return _content(self._folder, f"{room}/{name}")


def _pointer(arguments: dict[str, Any], zoom: float) -> dict[str, Any]:
    properties = arguments.get("properties") or {}
    modifiers = [key for name, key in (("altKey", "Alt"), ("ctrlKey", "Control"), ("metaKey", "Meta"),
                                       ("shiftKey", "Shift")) if properties.get(name)]
    return {"x": float(properties["clientX"]) / zoom, "y": float(properties["clientY"]) / zoom,
            "button": int(properties.get("button") or 0), "modifiers": modifiers}


def _load(arguments: dict[str, Any], _zoom: float) -> dict[str, Any]:
    properties = arguments["properties"]
    return {"url": properties["url"], "transition": _TRANSITIONS.get(properties.get("transitionType"), "link")}


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
    """When it was recorded; WebLINX has it in seconds or in milliseconds since 1970."""
    values: tuple[Any, ...] = (metadata.get("recordingStart"), replay.get("created"))
    for value in values:
        try:
            seconds = float(value)
            return datetime.fromtimestamp(seconds / 1000 if seconds > _MILLISECONDS else seconds, UTC)
        except (TypeError, ValueError, OverflowError, OSError):
            continue
    return datetime.fromtimestamp(0, UTC)


def _text(content: dict[str, Any], name: str) -> str:
    value = content.get(name)
    return value if isinstance(value, str) else ""


def _json(folder: Path, name: str) -> dict[str, Any]:
    content = parse_json(_content(folder, name) or b"null", str(folder / name))
    if not isinstance(content, dict):
        raise InputError(f"{folder / name}: not a JSON object")
    return content


def _content(folder: Path, name: str) -> bytes | None:
    """Content of a file of the demonstration, None when there is none; never by a link."""
    path = folder / name
    try:
        return read_inside(path, limits.JSON, folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None


IMPORTER = Importer("demonstrations and data sets in WebLINX's layout (a folder with replay.json or demonstrations/)",
                    lambda path: bool(folders(path)), _read, _items)
