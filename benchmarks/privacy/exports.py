"""What can be read in an export: its texts, as those who open its files see them, and its pictures."""

import email
import json
import re
import tarfile
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import av
import cv2
import numpy
import pyarrow.parquet

from pipeline.privacy.ocr.misread import Values
from pipeline.privacy.ocr.reading import read_lines
from recorder.pictures import decode_picture

LIKE = 0.75  # correlation from which on a picture shows a template
_TAGS = re.compile(r"<[^<>]{0,5000}>")
_FRAMES = 12  # of a video that are read; all are held against the template


def texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Kind of file (text, har, mhtml, parquet) and what it says, also without the tags between."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.suffix in (".png", ".jpg", ".webp"):
            continue
        if path.suffix == ".parquet":
            for row in pyarrow.parquet.read_table(path).to_pylist():
                yield "parquet", "\0".join(_strings(row))
        elif path.suffix == ".tar":
            for name, content in _members(path):
                if not _is_picture(content):
                    yield "text", _said(name, content)
        else:
            yield _kind(path), _said(path.name, path.read_bytes())


def pictures(folder: Path) -> Iterator[bytes]:
    """All pictures, wherever they lie, each once."""
    seen = set()
    for content in _all_pictures(folder):
        if content not in seen:
            seen.add(content)
            yield content


def _all_pictures(folder: Path) -> Iterator[bytes]:
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".parquet":
            for row in pyarrow.parquet.read_table(path).to_pylist():
                yield from (each["bytes"] for each in row.values() if isinstance(each, dict) and each.get("bytes"))
        elif path.suffix == ".tar":
            yield from (content for _, content in _members(path) if _is_picture(content))
        elif path.suffix in (".png", ".jpg", ".webp"):
            yield path.read_bytes()


def _is_picture(content: bytes) -> bool:
    return content.startswith((b"\x89PNG", b"\xff\xd8\xff", b"RIFF"))


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as tar:
        for member in tar:
            file = tar.extractfile(member)
            yield member.name, file.read() if file else b""


def _kind(path: Path) -> str:
    return path.suffix[1:] if path.suffix in (".har", ".mhtml") else "text"


def _said(name: str, content: bytes) -> str:
    if name.endswith(".mhtml"):
        parts = (part.get_payload(decode=True) for part in email.message_from_bytes(content).walk())
        said = "\0".join(part.decode("utf-8", "replace") for part in parts if isinstance(part, bytes))
    elif name.endswith((".json", ".har")):
        said = "\0".join(_strings(json.loads(content)))
    elif name.endswith(".jsonl"):
        said = "\0".join(each for line in content.splitlines() for each in _strings(json.loads(line)))
    else:
        said = content.decode("utf-8", "replace")
    return said + "\0" + _TAGS.sub("", said)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        yield _TAGS.sub("", value)
    elif isinstance(value, bytes) and not _is_picture(value):
        yield value.decode("utf-8", "replace")
    elif isinstance(value, dict):
        for key, each in value.items():
            yield str(key)
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


def stands_in(value: str, said: str) -> bool:
    """Whether a value can be read in a text, as it is or as HTML and addresses write it."""
    return any(form in said for form in {value, escape(value), quote(value), quote(value, safe="")})


class Picture:
    """A picture with what OCR reads in it."""

    def __init__(self, pixels: numpy.ndarray, *, read: bool = True):
        self._grey = cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY)
        self._lines = [line.text for line in read_lines(pixels)] if read else []

    @classmethod
    def of(cls, content: bytes) -> "Picture":
        """Of a picture file."""
        pixels = decode_picture(content)
        assert pixels is not None
        return cls(pixels)

    def shows(self, value: str, template: numpy.ndarray | None) -> str:
        """How a value can be read in it: by `ocr` or by `template`; empty when it cannot."""
        if any(Values([value]).stand_in(line) for line in self._lines):
            return "ocr"
        return "template" if template is not None and self._holds(template) else ""

    def _holds(self, template: numpy.ndarray) -> bool:
        if any(mine < its for mine, its in zip(self._grey.shape, template.shape, strict=True)) or template.std() < 8:
            return False
        return float(cv2.matchTemplate(self._grey, template, cv2.TM_CCOEFF_NORMED).max()) > LIKE


def frames(video: Path) -> Iterator[Picture]:
    """The frames of a video, of which some are read."""
    with av.open(str(video)) as opened:
        all_frames = [frame.to_ndarray(format="bgr24") for frame in opened.decode(video=0)]
    every = max(1, len(all_frames) // _FRAMES)
    for number, frame in enumerate(all_frames):
        yield Picture(frame, read=number % every == 0)
