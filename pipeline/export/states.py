"""What a turn's state looks like in an export: page, boxes, pictures, read from the recording's blobs."""

import json
import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import replace
from tempfile import TemporaryFile

import cv2
import numpy

from pipeline.dom import Page, flatten
from pipeline.redact import blur, redactor
from schemas import InputError

from .marks import Mark, draw, numbered
from .source import Options, Source

JPEG_QUALITY = 92
KEPT = 4  # pages and tables: neighbouring turns often share a state; keeping more would only cost memory
ENCODINGS: dict[str, tuple[str, list[int]]] = {
    # PNG at level 1 with the run-length strategy: three times as fast as the default, screenshots hardly larger
    "png": (".png", [cv2.IMWRITE_PNG_COMPRESSION, 1]),
    "webp": (".webp", [cv2.IMWRITE_WEBP_QUALITY, 101]),  # over 100 is lossless
    "jpg": (".jpg", [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY]),
}
_MAGIC = {"png": b"\x89PNG\r\n\x1a\n", "jpg": b"\xff\xd8\xff"}

Box = dict[str, float]


class States:
    """Reads the states of one recording; keeps the last few pages and tables, as neighbouring turns share them.

    What is personal or secret (`known`) is taken out of everything that is handed out, and of `source`.
    """

    def __init__(self, source: Source, uid_attribute: str, options: Options, usual: str):
        self.recording = source.recording
        self.kind = options.screenshots or usual
        self._uid_attribute = uid_attribute
        self._flat = TemporaryFile()  # noqa: SIM115 - closed with its last user
        self._places: dict[str, int] = {}
        self._pages: OrderedDict[str, Page] = OrderedDict()
        self._tables: OrderedDict[tuple, dict[str, dict]] = OrderedDict()
        self.known = redactor(source.demonstration, self._flatten_all(source), options.allow)
        self.source = replace(source, demonstration=self.known.walk(source.demonstration))

    def page(self, state: dict) -> Page | None:
        """The flattened DOM snapshot; None where the recording has none."""
        name = state["dom"]
        if name is None:
            return None
        return _kept(self._pages, name, lambda: self._read_page(name))

    def table(self, state: dict) -> dict[str, dict]:
        """Rows of the element table by uid in the state's page, in order; see TableRowSchema."""
        page = self.page(state)
        if page is None or state["elements"] is None:
            return {}
        key = state["dom"], state["elements"]
        return _kept(self._tables, key, lambda: self._read_table(state["elements"], page))

    def boxes(self, state: dict) -> dict[str, Box]:
        """Boxes of the elements of a state's page by uid in that page, top-level CSS pixels."""
        return {uid: row["bbox"] for uid, row in self.table(state).items()}

    def picture(self, state: dict) -> bytes | None:
        """The screenshot as the export has it, personal data blurred; None when there is none that can be read."""
        if state["screenshot"] is None:
            return None
        recorded = self.recording.blob(state["screenshot"])
        secret = self._secret_boxes(state)
        if not secret and recorded.startswith(_MAGIC.get(self.kind, b"\0")):
            return recorded if _decode(recorded) is not None else None
        pixels = _decode(recorded)
        return None if pixels is None else _encode(blur(pixels, secret, _scale(pixels, state)), self.kind)

    def marked(self, state: dict) -> tuple[bytes | None, list[Mark]]:
        """The screenshot with a numbered box on each element that can be acted on, and the elements by number."""
        pixels = _decode(self.recording.blob(state["screenshot"])) if state["screenshot"] else None
        if pixels is None:
            return None, []
        scale = _scale(pixels, state)
        marks = numbered(self.table(state), state["viewport"])
        return _encode(draw(blur(pixels, self._secret_boxes(state), scale), marks, scale), self.kind), marks

    def tree(self, state: dict) -> list[dict] | None:
        """The accessibility tree; None where `demotape process` made none."""
        name = state.get("axtree")
        return None if name is None else self.known.walk(json.loads(self.recording.blob(name)))

    def _flatten_all(self, source: Source) -> Iterator[frozenset[str]]:
        """Flatten every page once, onto the disk, as all must be looked through before one is written; tells the texts.

        Those of dropped turns are looked through too: the network archive has them.
        """
        for turn in source.demonstration["turns"]:
            name = (turn.get("state") or {}).get("dom")
            if name is None or name in self._places:
                continue
            try:
                page = flatten(self.recording.blob(name), self._uid_attribute)
            except InputError:
                if turn.get("dropped"):
                    continue
                raise
            self._places[name] = self._flat.seek(0, 2)
            pickle.dump((page.html, page.uids), self._flat, pickle.HIGHEST_PROTOCOL)
            yield page.texts

    def _read_page(self, name: str) -> Page:
        self._flat.seek(self._places[name])
        html, uids = pickle.load(self._flat)
        return Page(self.known.markup(html), self._uid_attribute, uids)

    def _read_table(self, name: str, page: Page) -> dict[str, dict]:
        """Rows whose element is not in the page are left out. Not checked by the schema: a table has thousands of
        rows and its SHA-256 has shown that it is as the recorder wrote it."""
        rows = {}
        try:
            for row in json.loads(self.recording.blob(name)):
                uid = page.uid(row["frame"], row["uid"])
                if uid in page.names:
                    box = {side: float(row["bbox"][side]) for side in ("x", "y", "width", "height")}
                    rows[uid] = self.known.walk(row) | {"uid": uid, "bbox": box}
        except (ValueError, KeyError, TypeError, RecursionError):
            where = self.recording.layout.blob(name)
            raise InputError(f"{where}: not an element table; record the task again") from None
        return rows

    def _secret_boxes(self, state: dict) -> list[Box]:
        """Boxes of the elements in sight that show what is taken out; an option is shown by its select."""
        page = self.page(state)
        if page is None or not self.known.known:
            return []
        boxes, found = self.boxes(state), []
        for element in self.known.showing(page):
            while element.tag in ("option", "optgroup") and element.getparent() is not None:
                element = element.getparent()
            if (box := boxes.get(element.get(self._uid_attribute))) is not None:
                found.append(box)
        return found


def _kept(store: OrderedDict, key, make: Callable):
    """The value of a key, made when it is not there; the store keeps the last few used."""
    if key not in store:
        store[key] = make()
    store.move_to_end(key)
    while len(store) > KEPT:
        store.popitem(last=False)
    return store[key]


def blank(kind: str) -> bytes:
    """A white picture of 8 by 8, where there is none."""
    return _encode(numpy.full((8, 8, 3), 255, numpy.uint8), kind)


def _encode(pixels: numpy.ndarray, kind: str) -> bytes:
    suffix, parameters = ENCODINGS[kind]
    return cv2.imencode(suffix, pixels, parameters)[1].tobytes()


def _scale(pixels: numpy.ndarray, state: dict) -> float:
    """Pixels of the picture in a CSS pixel."""
    return pixels.shape[1] / state["viewport"]["width"] if state["viewport"]["width"] else 1.0


def _decode(picture: bytes) -> numpy.ndarray | None:
    if not picture:
        return None
    try:
        return cv2.imdecode(numpy.frombuffer(picture, numpy.uint8), cv2.IMREAD_COLOR)
    except cv2.error:
        return None
