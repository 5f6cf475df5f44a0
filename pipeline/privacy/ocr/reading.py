"""Reads the text in pictures (OCR) with RapidOCR: its models are in its wheel, and it runs offline."""

import hashlib
import json
from collections import OrderedDict
from functools import lru_cache
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy

from pipeline import extras
from schemas.types.recordings import Box

_MIN_CONFIDENCE = 0.3  # of 1: what is read with less is noise
_LONGEST_SIDE = 4096  # pixels; larger pictures are made smaller before text is looked for in them
_CACHED_LINES = 4096  # lines that are remembered: pictures of one session show much the same
_SETTINGS = {
    "Global.log_level": "critical", "Global.text_score": _MIN_CONFIDENCE, "Global.max_side_len": _LONGEST_SIDE,
    "Global.use_cls": False,  # whether a line stands on its head
    # One thread: what is read is then the same whatever the machine, and --jobs says how many processes work.
    "EngineConfig.onnxruntime.intra_op_num_threads": 1, "EngineConfig.onnxruntime.inter_op_num_threads": 1,
}


class Line(NamedTuple):
    """A line of text in a picture; its box is in pixels of the picture."""

    text: str
    box: Box


def need_recogniser() -> None:
    """Raises InputError where the recogniser is not installed."""
    with extras.importing("ocr"):
        import onnxruntime  # noqa: F401
        import rapidocr  # noqa: F401


@lru_cache(1)
def recogniser() -> str:
    """Names what decides what is read: the recogniser, and what it runs on."""
    return f"rapidocr {version('rapidocr')} onnxruntime {version('onnxruntime')}"


def read_lines(pixels: numpy.ndarray) -> list[Line]:
    """The lines of text in a picture (height × width × 3), from the top down."""
    boxes = _engine()(pixels, use_det=True, use_cls=False, use_rec=False).boxes
    if boxes is None:
        return []
    read = ((_text(pixels, corners), corners) for corners in numpy.asarray(boxes, numpy.float32))
    return [Line(text, _box_of(corners)) for text, corners in read if text]


def serialize_lines(lines_read: list[Line]) -> bytes:
    """Lines as a prepared blob; `read` is its reverse."""
    return json.dumps(lines_read).encode("ascii")


def read(blob: bytes) -> list[Line]:
    """Lines from a prepared blob."""
    return [Line(str(text), {"x": box["x"], "y": box["y"], "width": box["width"], "height": box["height"]})
            for text, box in json.loads(blob)]


@lru_cache(1)
def _engine() -> Any:
    need_recogniser()
    from rapidocr import RapidOCR

    return RapidOCR(params=_SETTINGS)


_remembered: OrderedDict[bytes, str] = OrderedDict()


def _text(pixels: numpy.ndarray, corners: numpy.ndarray) -> str:
    """What stands in a part of a picture; a part that was read before is not read again."""
    from rapidocr.utils.process_img import get_rotate_crop_image

    part = numpy.ascontiguousarray(get_rotate_crop_image(pixels, corners))
    name = hashlib.sha256(repr(part.shape).encode() + part.tobytes()).digest()
    if name not in _remembered:
        result = _engine()(part, use_det=False, use_cls=False, use_rec=True)
        is_confident = bool(result.txts) and result.scores[0] >= _MIN_CONFIDENCE
        _remembered[name] = result.txts[0].strip() if is_confident else ""
    _remembered.move_to_end(name)
    while len(_remembered) > _CACHED_LINES:
        _remembered.popitem(last=False)
    return _remembered[name]


def _box_of(corners: numpy.ndarray) -> Box:
    (left, top), (right, bottom) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
    return {"x": left, "y": top, "width": right - left, "height": bottom - top}
