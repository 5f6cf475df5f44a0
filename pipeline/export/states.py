"""What a turn's state looks like in an export: page, boxes, picture, read from the recording's blobs."""

import json
from collections import OrderedDict
from collections.abc import Callable

import cv2
import numpy

from pipeline.dom import Page, flatten
from recorder import Recording
from schemas import InputError

JPEG_QUALITY = 92
KEPT = 4  # pages and tables: neighbouring turns often share a state; keeping more would only cost memory

Box = dict[str, float]


class States:
    """Reads the states of one recording; keeps the last few pages and boxes, as neighbouring turns share them."""

    def __init__(self, recording: Recording, uid_attribute: str):
        self.recording = recording
        self._uid_attribute = uid_attribute
        self._pages: OrderedDict[str, Page] = OrderedDict()
        self._boxes: OrderedDict[tuple, dict[str, Box]] = OrderedDict()

    def page(self, state: dict) -> Page | None:
        """The flattened DOM snapshot; None where the recording has none."""
        name = state["dom"]
        if name is None:
            return None
        return _kept(self._pages, name, lambda: flatten(self.recording.blob(name), self._uid_attribute))

    def boxes(self, state: dict) -> dict[str, Box]:
        """Boxes of the elements of a state's page by uid in that page, top-level CSS pixels."""
        page = self.page(state)
        if page is None or state["elements"] is None:
            return {}
        key = state["dom"], state["elements"]
        return dict(_kept(self._boxes, key, lambda: self._read_boxes(state["elements"], page)))

    def _read_boxes(self, name: str, page: Page) -> dict[str, Box]:
        """Rows whose element is not in the page are left out. Not checked by the schema: a table has thousands of
        rows and its SHA-256 has shown that it is as the recorder wrote it."""
        boxes = {}
        try:
            for row in json.loads(self.recording.blob(name)):
                uid = page.uid(row["frame"], row["uid"])
                if uid in page.elements:
                    boxes[uid] = {side: float(row["bbox"][side]) for side in ("x", "y", "width", "height")}
        except (ValueError, KeyError, TypeError, RecursionError):
            where = self.recording.layout.blob(name)
            raise InputError(f"{where}: not an element table; record the task again") from None
        return boxes


def _kept(store: OrderedDict, key, make: Callable):
    """The value of a key, made when it is not there; the store keeps the last few used."""
    if key not in store:
        store[key] = make()
    store.move_to_end(key)
    while len(store) > KEPT:
        store.popitem(last=False)
    return store[key]


def to_png(picture: bytes) -> bytes | None:
    """The picture as PNG; None when it is no picture."""
    pixels = _decode(picture)
    return None if pixels is None else cv2.imencode(".png", pixels)[1].tobytes()


def to_jpeg(picture: bytes) -> bytes | None:
    """The picture as JPEG, as it is when it is one; None when it is no picture."""
    pixels = _decode(picture)
    if pixels is None or picture.startswith(b"\xff\xd8\xff"):
        return None if pixels is None else picture
    return cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])[1].tobytes()


def _decode(picture: bytes) -> numpy.ndarray | None:
    if not picture:
        return None
    try:
        return cv2.imdecode(numpy.frombuffer(picture, numpy.uint8), cv2.IMREAD_COLOR)
    except cv2.error:
        return None
