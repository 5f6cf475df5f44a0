"""Prepared data of a recording for exports, made once and stored: flattened pages, detected values, boxes, pictures.

Prepared blobs lie among the derived ones. Their name is the SHA-256 of what they were made from and of the rules that
made them, so another version of the rules never reads them. They are only ever a short cut: one that is missing or
damaged is made again, with the same bytes. `demotape process` clears away those of earlier rules and demonstrations.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import cv2
import zstandard
from lxml import etree

from schemas import RecordingLayout, limits
from schemas.files import open_inside

from . import derived

_LEVEL = 1  # of compression: these are read far more often than written
_RULES = ("pages/dom.py", "privacy/finding.py", "privacy/numbers.py", "privacy/patterns.py", "privacy/spoken.py",
          "cache/prepared.py", "privacy/redacting.py", "privacy/recorded_secrets.py", "privacy/ocr/reading.py",
          "privacy/generated.py", "privacy/names/chinese.py", "privacy/names/finding.py", "privacy/names/japanese.py",
          "privacy/names/korean.py", "privacy/names/labels.py", "privacy/names/latin.py", "privacy/names/lists.py",
          "privacy/names/postal.py", "privacy/names/stand_ins.py", "privacy/names/words.py", "export/states.py",
          "../schemas/normalised_text.py", "../schemas/secret_digests.py")

Value = TypeVar("Value")


class Prepared:
    """The prepared blobs of one recording; where its folder cannot be written to, nothing is kept."""

    def __init__(self, layout: RecordingLayout):
        self._layout = layout
        self._decompressor = zstandard.ZstdDecompressor()

    def get(self, read: Callable[[bytes], Value], make: Callable[[], bytes], *made_of: str) -> Value:
        """What `read` tells of a blob, which is made when it is not there or cannot be read.

        `made_of` names all that its bytes depend on, its kind first. Raises what `make` raises.
        """
        name = hashlib.sha256("\0".join((rules(), *made_of)).encode("utf-8", "replace")).hexdigest()
        with (suppress(OSError, zstandard.ZstdError, ValueError, KeyError, TypeError),
              open_inside(self._layout.derived_blob(name), self._layout.root) as file):
            return read(self._decompress(file.read()))
        content = make()
        with suppress(OSError):  # not synced: its checksum tells when a crash damaged it
            derived.write(self._layout, name, _compress(content), sync=False)
        return read(content)

    def _decompress(self, data: bytes) -> bytes:
        if zstandard.frame_content_size(data) > limits.BLOB:
            raise ValueError("too large")  # it was not written by us
        return self._decompressor.decompress(data)


@lru_cache(maxsize=1)
def rules() -> str:
    """SHA-256 of the rules: of the code that decides a prepared blob's bytes, and of the libraries that it uses."""
    digest = hashlib.sha256(f"{etree.LIBXML_COMPILED_VERSION} {etree.LXML_VERSION} {cv2.__version__}".encode())
    for name in _RULES:
        digest.update((Path(__file__).parents[1] / name).read_bytes())
    return digest.hexdigest()


def _compress(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compress(content)
