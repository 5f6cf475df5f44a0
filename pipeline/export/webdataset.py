"""webdataset shards: one sample a turn, in tars that are the same byte for byte each time."""

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack

import cv2
import numpy

from .folder import Folder, HashingFile
from .source import Options, Source
from .states import States, to_jpeg

UID = "data-demotape-uid"
MEMBER_OVERHEAD = 1024  # a tar member's header, and its content filled up to a block, at most
_NO_PAGE = b"<!DOCTYPE html>\n<html><head></head><body></body></html>"
_NO_PICTURE = cv2.imencode(".jpg", numpy.full((8, 8, 3), 255, numpy.uint8))[1].tobytes()


def export(sources: Iterable[Source], folder: Folder, options: Options) -> None:
    """Write all turns into `train-000000.tar`, `train-000001.tar`, … of at most `shard_size` bytes where one fits."""
    with _Shards(folder, "train", options.shard_size) as shards:
        for source in sources:
            folder.claim(source)
            for sample in _samples(source):
                shards.write(sample)
            folder.add_demonstration(source, len(source.turns))
            options.progress(source.id)


def _samples(source: Source) -> Iterator[dict]:
    """One sample a turn, chat turns too, each with the same members and the same JSON keys.

    A turn without a state of its own (chat, a closed tab) carries the one of the last turn that had one: what was
    known to be on the screen then. `state_turn` names that turn; before the first one it is empty.
    """
    states = States(source.recording, UID)
    carrier = None
    for index, turn in enumerate(source.turns):
        if turn["type"] == "browser" and turn["state"]:
            carrier = turn
        yield {"__key__": f"{source.name}-{index:04d}", **_members(source, states, index, turn, carrier)}


def _members(source: Source, states: States, index: int, turn: dict, carrier: dict | None) -> dict[str, bytes]:
    state = carrier["state"] if carrier else None
    page = states.page(state) if state else None
    boxes = states.boxes(state) if page else {}
    element = turn.get("element")
    if element and page and carrier is turn:
        element = element | {"uid": page.uid(element["frame"], element["uid"])}
        if element["bbox"] and element["uid"] in page.elements:
            boxes.setdefault(element["uid"], element["bbox"])
    picture = to_jpeg(source.recording.blob(state["screenshot"])) if state and state["screenshot"] else None
    status = state["screenshot_status"] if picture else "none"
    return {
        "json": json.dumps(_record(source, index, turn, element, carrier, status, boxes)).encode("ascii"),
        "jpg": picture or _NO_PICTURE,
        "html": page.html.encode("utf-8", "replace") if page else _NO_PAGE,
    }


def _record(source: Source, index: int, turn: dict, element: dict | None, carrier: dict | None, status: str,
            boxes: dict) -> dict:
    """The fields of a sample: always the same keys and types; what varies by intent is packed as JSON text."""
    state = carrier["state"] if carrier else {}
    viewport, scroll = state.get("viewport", {}), state.get("scroll", {})
    return {
        "demonstration": source.id, "recording": source.recording.id, "task": source.demonstration["task"],
        "index": index, "turn": turn["id"], "type": turn["type"], "timestamp": float(turn["timestamp"]),
        "speaker": turn.get("speaker", ""), "utterance": turn.get("utterance", ""),
        "intent": turn.get("intent", "say"), "arguments": json.dumps(turn.get("arguments", {})),
        "uid": element["uid"] if element else "", "element": json.dumps(element),
        "state_turn": carrier["id"] if carrier else "", "url": state.get("url", ""), "title": state.get("title", ""),
        "tab": state.get("tab", -1), "viewport_width": viewport.get("width", 0),
        "viewport_height": viewport.get("height", 0), "scroll_x": float(scroll.get("x", 0)),
        "scroll_y": float(scroll.get("y", 0)), "zoom": float(state.get("zoom", 1)),
        "device_pixel_ratio": float(state.get("device_pixel_ratio", 1)), "screenshot_status": status,
        "boxes": json.dumps(boxes), "checks": json.dumps(turn.get("checks", [])),
    }


class _Shards:
    """Writes samples into tars of a limited size; a sample never spans two."""

    def __init__(self, folder: Folder, split: str, limit: int):
        self._folder, self._split, self._limit = folder, split, limit
        self._number = 0
        self._open = ExitStack()
        self._file: HashingFile | None = None

    def __enter__(self) -> "_Shards":
        return self

    def __exit__(self, *error) -> None:
        self._open.__exit__(*error)

    def write(self, sample: dict) -> None:
        """Append one sample, in a new shard when it would make the open one too large."""
        size = sum(len(content) + MEMBER_OVERHEAD for name, content in sample.items() if name != "__key__")
        if self._file is None or (self._file.samples and self._file.size + size > self._limit):
            self._next()
        self._tar.write(sample)
        self._file.samples += 1

    def _next(self) -> None:
        from webdataset import TarWriter  # here, as it is slow to import and few commands need it

        self._open.close()
        self._file = self._open.enter_context(self._folder.create(f"{self._split}-{self._number:06d}.tar"))
        self._tar = self._open.enter_context(
            TarWriter(self._file, encoder=False, mtime=0, user="demotape", group="demotape", mode=0o644))
        self._number += 1
