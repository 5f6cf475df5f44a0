"""Input and output of checks: turns, their recorded data, findings."""

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, lru_cache

import cv2
import numpy as np

from pipeline.align import decode
from pipeline.pages.allowed import FRAMES
from pipeline.pages.dom import parse
from recorder import Recording
from schemas import InputError, limits
from schemas.types.recordings import BrowserTurn, Edit, Event, TableRow, Turn

_CACHED_BLOBS = 8  # blobs in memory: neighbouring turns often share a state
_MAX_FRAMES_DEEP = 8


@dataclass(frozen=True)
class Finding:
    """Something about one turn, with a ready edit (see EditSchema) where one would mend it."""

    turn: str
    kind: str
    reason: str
    fix: Edit | None = None


class Material:
    """The turns in order, and the recording's pages, element tables and pictures, each read when it is needed."""

    def __init__(self, turns: Sequence[Turn], recording: Recording):
        self.turns = turns
        self._recording = recording
        self.dom = lru_cache(_CACHED_BLOBS)(self._dom)
        self.table = lru_cache(_CACHED_BLOBS)(self._table)
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


def _texts(snapshot: bytes, depth: int = 0) -> set[str]:
    if not snapshot or depth > _MAX_FRAMES_DEEP:
        return set()
    root = parse(snapshot)
    texts = {text.strip() for text in root.itertext() if not text.isspace()}
    for element in root.iter("input", "option", *FRAMES):
        if value := element.get("value"):
            texts.add(value)
        if inner := element.get("srcdoc"):
            texts |= _texts(inner.encode("utf-8", "replace"), depth + 1)
    return texts
