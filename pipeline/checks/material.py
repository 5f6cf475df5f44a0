"""Input and output of checks: turns, their recorded data, findings."""

import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import compress

import cv2
import numpy as np
from lxml import etree

from pipeline.align import decode
from pipeline.pages.allowed import FRAMES
from pipeline.pages.dom import Element, parse
from recorder import Recording
from schemas import UID_ATTRIBUTE, InputError, limits
from schemas.shared import CONTROLS
from schemas.types.origin import Imported
from schemas.types.recordings import BrowserTurn, Edit, Event, State, TableRow, Turn

_CACHED_BLOBS = 8  # blobs in memory: neighbouring turns often share a state
_MAX_FRAMES_DEEP = 8
_NOT_SET = frozenset({"hidden", "button", "submit", "reset", "image", "file"})  # types of input whose value nobody sets


@dataclass(frozen=True)
class Finding:
    """Something about one turn, with a ready edit (see EditSchema) where one would mend it."""

    turn: str
    kind: str
    reason: str
    fix: Edit | None = None


@dataclass(frozen=True)
class Control:
    """A form control in a page. `value`: what it holds, for a box whether it is ticked; `options`: of a list; `group`:
    the name that radio buttons share; `is_settable`: whether a person can set it."""

    kind: str
    name: str
    value: str
    options: tuple[str, ...]
    group: str
    is_settable: bool


class Material:
    """The turns in order, and the recording's pages, element tables and pictures, each read when it is needed."""

    def __init__(self, turns: Sequence[Turn], recording: Recording):
        self.turns = turns
        self._recording = recording
        self.dom = lru_cache(_CACHED_BLOBS)(self._dom)
        self.table = lru_cache(_CACHED_BLOBS)(self._table)
        self.controls = lru_cache(_CACHED_BLOBS)(self._controls)
        self.nodes = lru_cache(_CACHED_BLOBS)(self._nodes)
        self.picture = lru_cache(_CACHED_BLOBS)(self._picture)

    def copy(self) -> "Material":
        """The same for code that is not ours: what it does to the turns stays with it."""
        return Material(deepcopy(self.turns), self._recording)

    @cached_property
    def actions(self) -> list[BrowserTurn]:
        """Browser turns in order."""
        return [turn for turn in self.turns if turn["type"] == "browser"]

    @cached_property
    def events(self) -> dict[int, Event]:
        """The recording's events by their number."""
        return {event["seq"]: event for event in self._recording.events}

    @property
    def broken_lines(self) -> dict[int, str]:
        """Lines of the recording's journal that cannot be read; their numbers are those of the events they told."""
        return self._recording.broken_lines

    @property
    def last_state(self) -> State | None:
        """The state when the recording ended; None when it is not known."""
        return self._recording.manifest.get("last_state")

    @property
    def imported(self) -> Imported | None:
        """Where an imported recording is from; None for one that was recorded."""
        return self._recording.manifest.get("imported")

    def lacks(self, name: str) -> bool:
        """Whether an imported recording's source has none of this for any turn: what each turn lacks is no finding."""
        return bool(self.imported and name in self.imported["lacks"])

    @property
    def lost_blobs(self) -> dict[int, list[str]]:
        """Fields of events whose blobs are missing because the recorder was killed, by the event's number."""
        return self._recording.lost_blobs

    @property
    def doms(self) -> list[str]:
        """Names of the pages before the actions, each once, in order."""
        return list(dict.fromkeys(turn["state"]["dom"] for turn in self.actions
                                  if turn["state"] and turn["state"]["dom"]))

    def texts(self, name: str) -> set[str]:
        """Texts of a page and values of its fields, frames and shadow roots included; none when it is damaged."""
        return _texts(self.dom(name))

    def _controls(self, name: str) -> dict[str, Control]:
        """Form controls of a page by their uid, frames and shadow roots included; none when it is damaged."""
        return dict(_controls(self.dom(name)))

    def _nodes(self, name: str) -> dict[str, Element]:
        """Elements of a page by their uid, frames and shadow roots included; none when it is damaged."""
        return {uid: element for root in _documents(self.dom(name)) for element in root.iter(etree.Element)
                if (uid := element.get(UID_ATTRIBUTE))}

    def _dom(self, name: str) -> bytes:
        try:
            return self._recording.blob(name)
        except InputError:
            return b""  # `demotape check` reports a damaged blob

    def _table(self, name: str) -> list[TableRow]:
        try:
            rows = json.loads(self._recording.blob(name))
            return [row for row in rows if isinstance(row.get("bbox"), dict)]
        except (InputError, ValueError, AttributeError, TypeError, RecursionError):
            return []

    def _picture(self, name: str, width: int) -> np.ndarray | None:
        """A screenshot in grey, `width` pixels wide; None when it is no picture."""
        try:
            picture = decode(self._recording.blob(name))
        except InputError:
            return None
        if picture is None or picture.shape[1] == width or width < 1:
            return picture
        height = max(1, round(picture.shape[0] * width / picture.shape[1]))
        if width * height > limits.AREA:
            return None
        return cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)


def _documents(snapshot: bytes, depth: int = 0) -> Iterator[Element]:
    """The documents of a page, those in frames after the ones around them."""
    if not snapshot or depth > _MAX_FRAMES_DEEP:
        return
    root = parse(snapshot)
    yield root
    for frame in root.iter(*FRAMES):
        if inner := frame.get("srcdoc"):
            yield from _documents(inner.encode("utf-8", "replace"), depth + 1)


def _texts(snapshot: bytes) -> set[str]:
    texts = set()
    for root in _documents(snapshot):
        texts |= {text.strip() for text in root.itertext() if not text.isspace()}
        texts |= {value for element in root.iter("input", "option") if (value := element.get("value"))}
    return texts


def _controls(snapshot: bytes) -> Iterator[tuple[str, Control]]:
    for root in _documents(snapshot):
        for element in root.iter(*CONTROLS):
            if uid := element.get(UID_ATTRIBUTE):
                yield uid, _control(element)


def _control(element: Element) -> Control:
    options: tuple[str, ...] = ()
    kind = element.get("type", "text").lower() if element.tag == "input" else str(element.tag)
    if kind in ("checkbox", "radio"):
        value = "checked" if element.get("checked") is not None else ""
    elif kind == "select":
        listed = list(element.iter("option"))
        options = tuple(option.get("value", "".join(option.itertext())) for option in listed)
        chosen = [option.get("selected") is not None for option in listed]
        value = "\n".join(compress(options, chosen))
    else:
        value = element.get("value", "") if element.tag == "input" else "".join(element.itertext())
    settable = element.get("readonly") is None and element.get("disabled") is None
    name = element.get("aria-label") or element.get("placeholder") or element.get("name") or element.get("id") or ""
    return Control(kind, name, value, options, element.get("name", ""), settable and kind not in _NOT_SET)
