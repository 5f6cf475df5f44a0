"""The one writer of imported sessions: a finished recording without events, and its turns in imported.json."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.importing.contract import Action, Item, Observation, Session, Utterance
from pipeline.importing.ids import recording_id
from pipeline.importing.pages import MAX_TEXT_CHARS, Document, clean
from pipeline.importing.secret_fields import is_secret_field, without_secret
from pipeline.importing.sources import explained
from recorder.pictures import size_of
from recorder.writer import RecordingWriter
from schemas import REDACTED, UID_ATTRIBUTE, DemonstrationSchema, InputError, limits
from schemas.files import dump_json, validated, write_atomically
from schemas.formats.demonstration import FORMAT
from schemas.formats.origin import IMPORT_LACKS
from schemas.types.recordings import Box, BrowserTurn, ChatTurn, Element, Turn, TurnState
from schemas.upgrade import VERSIONS

_TURN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}")
_EPOCH = datetime.fromtimestamp(0, UTC)
_STEP_S = 1.0  # seconds between steps of a session whose source has no times


def write_session(session: Session, item: Item, importer: str, target: Path) -> str:
    """Write a session as a recording into the new folder `target`; returns its id.

    Raises InputError naming the item, and what is wrong with it.
    """
    writing = _Writing(session, item, importer, target)
    return writing.write()


class _Writing:
    """Turns of one session, and the blobs that they name."""

    def __init__(self, session: Session, item: Item, importer: str, target: Path):
        self._session, self._importer, self._target, self._item = session, importer, target, item
        self._id = recording_id(item.name)
        self._left_out = Counter[str]()
        self._has: set[str] = set()
        self._states = 0
        self._written: tuple[Observation, TurnState, Document | None] | None = None  # the last: actions may share it

    def write(self) -> str:
        session = self._session
        self._writer = RecordingWriter(self._target, {
            "format": "demotape/recording", "version": VERSIONS["demotape/recording"], "id": self._id,
            "task": session.task, "options": {}, "started_at": session.started_at or _EPOCH,
            "user_agent": session.user_agent, "browser": session.browser, "viewport": None,
            **({"provenance": dict(session.provenance)} if session.provenance else {})})
        try:
            turns = self._turns()
            self._writer.update(imported=self._imported(turns))
        except BaseException:
            self._writer.abandon()
            raise
        self._writer.close(session.started_at or _EPOCH)
        demonstration = {"format": FORMAT, "version": VERSIONS[FORMAT], "id": self._id, "recording": self._id,
                         "task": session.task, "turns": turns}
        where = f"{self._item.path}: {self._item.name[:80]}"
        demonstration = validated(demonstration, DemonstrationSchema(), where)
        write_atomically(self._writer.layout.imported, dump_json(demonstration))
        return self._id

    def _turns(self) -> list[Turn]:
        turns: list[Turn] = []
        self._ids: set[str] = set()
        self._steps = 0  # of an agent that reported something
        for number, step in enumerate(self._session.steps):
            if step.time is not None:
                self._has.add("times")
                time = float(step.time)
            else:
                time = turns[-1]["timestamp"] + _STEP_S if turns else 0.0
            with explained(f"{self._item.path}: {self._item.name[:80]}: step {number}", "a step of a session"):
                turn: Turn = (self._chat(number, step, time) if isinstance(step, Utterance)
                              else self._browser(number, step, time))
            turns.append(turn)
        if not turns:
            raise InputError(f"{self._item.path}: {self._item.name[:80]}: contains no action and no chat that can be "
                             f"imported{self._why_empty()}")
        return turns

    def _why_empty(self) -> str:
        reasons = self._session.left_out.most_common(3)
        return f" ({'; '.join(f'{reason}: {count}' for reason, count in reasons)})" if reasons else ""

    def _imported(self, turns: list[Turn]) -> dict[str, Any]:
        """What the manifest says of the source."""
        lacks = [name for name in IMPORT_LACKS if name not in self._has]
        left_out = self._session.left_out + self._left_out
        imported = {"format": self._importer, "source": _plain_name(self._item.path), "item": self._item.name[:1000],
                    "lacks": lacks, "left_out": {reason[:200]: count for reason, count in sorted(left_out.items())}}
        return imported | ({"version": str(self._session.version)[:100]} if self._session.version else {})

    def _chat(self, number: int, step: Utterance, time: float) -> ChatTurn:
        self._has.add("chat")
        turn: dict[str, Any] = {"id": self._turn_id(number, step.id), "type": "chat", "timestamp": time,
                                "speaker": step.speaker, "utterance": step.text, "checks": [], "dropped": False,
                                **step.extra}
        return turn  # type: ignore[return-value]  # it is validated as a whole

    def _browser(self, number: int, step: Action, time: float) -> BrowserTurn:
        state, document = self._state(step.state) if step.state else (None, None)
        element = step.element
        if element is None and step.target is not None:
            last = self._written[2] if self._written else None
            element = self._element(step, document if step.state else last)
            if element is None:
                self._left_out[f"{step.intent}: target missing from the page"] += 1
        turn: dict[str, Any] = {
            "id": self._turn_id(number, step.id), "type": "browser", "timestamp": time, "intent": step.intent,
            "arguments": _arguments(step, element, document), "element": element, "state": state,
            "events": [], "checks": [], "dropped": False}
        if step.is_script:
            turn["trusted"] = False
        if step.report:
            self._steps += 1
            turn["agent"] = {"step": self._steps, **step.report}
        return turn  # type: ignore[return-value]

    def _turn_id(self, number: int, known: object) -> str:
        """The source's id of a turn, if it is a plain name that no other turn has."""
        is_known = isinstance(known, str) and _TURN_ID.fullmatch(known) and known not in self._ids
        turn_id = str(known) if is_known else f"t{number}"
        while turn_id in self._ids:
            turn_id += "-"
        self._ids.add(turn_id)
        return turn_id

    def _element(self, step: Action, document: Document | None) -> Element | None:
        boxes = (step.state.boxes if step.state else None) or {}
        target = step.target or ""
        return document.element(target, step.box or boxes.get(target)) if document else None

    def _state(self, observation: Observation) -> tuple[TurnState, Document | None]:
        if self._written and self._written[0] is observation:
            return self._written[1], self._written[2]
        self._has.add("states")
        page, document = None, None
        if observation.page:
            page = _with_our_uids(observation.page, observation.uid_attribute)
            document = Document(page)
            page = document.hide_secrets() or page
            self._has.add("pages")
        table = None
        if document and observation.boxes:
            rows = document.table(_sound_boxes(observation.boxes))
            table = self._writer.blob(json.dumps(rows).encode(), kind="elements")
            self._has.add("boxes")
        picture = observation.screenshot
        if picture and len(picture) > limits.BLOB:
            picture = None
        if picture and not size_of(picture):
            self._left_out["screenshot: not a picture that can be read"] += 1
            picture = None
        if picture:
            self._has.add("screenshots")
        state: dict[str, Any] = {
            "tab": int(observation.tab), "url": str(observation.url),
            "title": str(observation.title) or (document.title if document else ""),
            "viewport": _size(observation, picture), "zoom": float(observation.zoom),
            "device_pixel_ratio": float(observation.device_pixel_ratio),
            "scroll": {"x": float(observation.scroll[0]), "y": float(observation.scroll[1])},
            "dom": self._writer.blob(page, kind="dom") if page else None, "elements": table,
            "screenshot": self._writer.blob(picture) if picture else None, "screenshot_time": None,
            "video_time": None, "screenshot_status": "good" if picture and not observation.is_late else "broken"}
        if picture and observation.is_late:
            state |= {"stale": True, "stale_because": "late"}
        self._written = observation, state, document  # type: ignore[assignment]
        return state, document  # type: ignore[return-value]


def _size(observation: Observation, picture: bytes | None) -> dict[str, int]:
    """The viewport; where the source has none, that of its picture."""
    width, height = (max(0, min(limits.SIDE, round(float(value)))) for value in observation.viewport)
    if not (width and height) and picture and (size := size_of(picture)):
        ratio = float(observation.device_pixel_ratio) or 1.0
        width, height = (max(0, min(limits.SIDE, round(value / ratio))) for value in size)
    return {"width": width, "height": height}


def _arguments(step: Action, element: Element | None, document: Document | None) -> dict[str, Any]:
    """The arguments; a pointer whose place the source does not have is in the middle of its target, and an option has
    its value and its label."""
    arguments = dict(step.arguments)
    if element and is_secret_field(element["attributes"]):
        element["attributes"] = without_secret(element["attributes"])
        arguments |= {name: REDACTED for name in ("text", "value") if arguments.get(name)}
    if step.intent == "change" and ("value" in arguments) != ("label" in arguments):
        option = document.option(element["uid"], str(arguments.get("label", arguments.get("value")))) if (
            document and element and element["tag"] == "select") else None
        if option:
            arguments |= {"value": option[0], "label": option[1]}
        elif "label" in arguments:
            arguments["value"] = arguments["label"]
    if step.intent in ("click", "dblclick", "hover"):
        box = element["bbox"] if element else None
        middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) if box else (None, None)
        arguments = {"x": middle[0], "y": middle[1], "button": 0, "modifiers": []} | arguments
    return arguments


def _sound_boxes(boxes: Mapping[str, Box]) -> dict[str, Box]:
    """Those that an element table can have."""
    return {uid: box for uid, box in boxes.items() if all(
        isinstance(value, int | float) and abs(value) <= limits.LENGTH for value in box.values())
        and box["width"] >= 0 and box["height"] >= 0}


def _with_our_uids(page: bytes, attribute: str) -> bytes:
    """The page with its uids in our attribute."""
    if attribute == UID_ATTRIBUTE:
        return page
    return re.sub(rb"(?<=\s)" + re.escape(attribute.encode()) + rb"(?==)", UID_ATTRIBUTE.encode(), page)


def _plain_name(path: Path) -> str:
    return clean(path.name, MAX_TEXT_CHARS) or "."
