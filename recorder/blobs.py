"""File format of a blob: compressed, alone or relative to a similar blob.

A file is one zstandard frame, after skippable frames (RFC 8878, section 3.1.2) that say what is needed to read it;
their magic numbers tell which is which. An empty one: what is compressed are a bitmap's planes (`bitmaps`). One with
another blob's SHA-256: that blob, in the same form, is the dictionary, or was subtracted byte by byte, modulo 256
(bitmaps of one size). The other never needs a third, so reading takes two files.
"""

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import zstandard

from schemas import limits

from .bitmaps import from_planes, to_planes

_LEVEL, _DIFFERENCE_LEVEL, _FAST_LEVEL = 6, 3, 1
_SKIPPABLE = 0x184D2A50  # and the fifteen after it
_DICTIONARY, _DIFFERENCE, _PLANES = range(_SKIPPABLE, _SKIPPABLE + 3)
_HEADER = struct.Struct("<II")  # a skippable frame's magic number and size
_NAME_BYTES = 32
HEAD_BYTES = 2 * _HEADER.size + _NAME_BYTES  # of a file, that say which blob it needs
_BITMAP = b"BM"
_NEARLY_SAME_RATIO = 0.003  # of a bitmap's bytes: where no more differ, little is gained by looking for what was moved
_SAMPLE = 251  # every so many bytes; a prime, so that the sample is no column


@dataclass(frozen=True)
class Form:
    """What is compressed of a blob: a bitmap's planes, or the content itself."""

    data: bytes
    is_planes: bool

    @cached_property
    def sample(self) -> np.ndarray:
        """Some of the bytes, by which two of one length are compared."""
        return np.frombuffer(self.data, np.uint8)[::_SAMPLE].copy()

    @classmethod
    def from_content(cls, content: bytes) -> "Form":
        """The form of a blob's content that compresses best."""
        planes = to_planes(content) if content.startswith(_BITMAP) else None
        return cls(content, False) if planes is None else cls(planes, True)

    @property
    def content(self) -> bytes:
        """The blob's content. Raises ValueError when it has none: these are no bitmap's planes."""
        return from_planes(self.data) if self.is_planes else self.data

    @property
    def mark(self) -> bytes:
        """What stands first in a file of this form."""
        return _HEADER.pack(_PLANES, 0) if self.is_planes else b""


def compress(form: Form) -> bytes:
    """A blob's file, standing alone."""
    return form.mark + zstandard.ZstdCompressor(level=_LEVEL).compress(form.data)


def compress_fast(form: Form) -> bytes:
    """The same in a few milliseconds: it is larger."""
    return form.mark + zstandard.ZstdCompressor(level=_FAST_LEVEL).compress(form.data)


class Base:
    """A blob that stands alone, by which similar ones are kept: what is worked out of it once serves them all.

    `size`: bytes of its file.
    """

    def __init__(self, sha256: str, form: Form, size: int):
        self.sha256 = sha256
        self.form = form
        self.size = size

    def compress(self, form: Form) -> bytes:
        """A blob's file that needs this one to be read."""
        if form.is_planes and self.distance(form) < _NEARLY_SAME_RATIO:
            difference = _combine(np.subtract, form.data, self.form.data)
            packed = zstandard.ZstdCompressor(level=_DIFFERENCE_LEVEL).compress(difference)
            return form.mark + self._needed(_DIFFERENCE) + packed
        return form.mark + self._needed(_DICTIONARY) + self._compressor.compress(form.data)

    def distance(self, form: Form) -> float:
        """How unlike two bitmaps are, by a sample: the share of bytes that differ; 1 for those of another size."""
        if len(self.form.data) != len(form.data):
            return 1.0
        return float(np.mean(self.form.sample != form.sample))

    def _needed(self, kind: int) -> bytes:
        return _HEADER.pack(kind, _NAME_BYTES) + bytes.fromhex(self.sha256)

    @cached_property
    def _compressor(self) -> zstandard.ZstdCompressor:
        window = max(10, (3 * len(self.form.data)).bit_length())  # this one, and another that may be twice as long
        parameters = zstandard.ZstdCompressionParameters.from_level(_LEVEL, window_log=min(window, 27))
        return zstandard.ZstdCompressor(compression_params=parameters, dict_data=_dictionary(self.form.data))


def worth_trying(bases: Iterable[Base], form: Form) -> list[Base]:
    """By which of some blobs another may be kept best: of bitmaps the one most like it; of texts any, last first."""
    last_first = [base for base in bases if base.form.is_planes == form.is_planes][::-1]
    return sorted(last_first, key=lambda base: base.distance(form))[:1] if form.is_planes else last_first


def decompress(data: bytes, read_base: Callable[[str], Form]) -> Form:
    """What a file holds; `read_base` gives that of the blob that it needs.

    Raises zstandard.ZstdError when the file is damaged.
    """
    is_planes, kind, base = False, None, b""
    while (frame := _skippable(data)) is not None:
        magic, payload, data = frame
        if magic == _PLANES and not is_planes and kind is None:
            is_planes = True
        elif magic in (_DICTIONARY, _DIFFERENCE) and kind is None and len(payload) == _NAME_BYTES:
            kind, base = magic, _in_form(read_base(payload.hex()), is_planes)
        else:
            raise zstandard.ZstdError("there is a frame that nothing is known of")
    dictionary = _dictionary(base) if kind == _DICTIONARY else None
    decompressor = zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=1 << 27)
    if zstandard.frame_content_size(data) > limits.BLOB:  # then the limit of what follows does not count
        raise zstandard.ZstdError(f"it is larger than {limits.size(limits.BLOB)}")
    content = decompressor.decompress(data, max_output_size=limits.BLOB)
    if kind == _DIFFERENCE:
        if len(content) != len(base) or len(base) < len(_BITMAP):
            raise zstandard.ZstdError("the blob that it was subtracted from has another size")
        content = _combine(np.add, content, base)
    return Form(content, is_planes)


def base_of(head: bytes) -> str | None:
    """The blob that a file needs to be read, from its first HEAD_BYTES; None when it stands alone."""
    while (frame := _skippable(head)) is not None:
        magic, payload, head = frame
        if magic in (_DICTIONARY, _DIFFERENCE):
            return payload.hex()
    return None


def _in_form(base: Form, is_planes: bool) -> bytes:
    if base.is_planes != is_planes:
        raise zstandard.ZstdError("the blob that it needs has another form")
    return base.data


def _skippable(data: bytes) -> tuple[int, bytes, bytes] | None:
    """The magic number and content of the skippable frame that stands first, and what follows; None where none does."""
    if len(data) < _HEADER.size:
        return None
    magic, size = _HEADER.unpack_from(data)
    end = _HEADER.size + size
    return (magic, data[_HEADER.size:end], data[end:]) if magic & ~0xF == _SKIPPABLE else None


def _combine(combine: np.ufunc, content: bytes, base: bytes) -> bytes:
    """What two bitmaps of one size give byte by byte, still beginning as a bitmap does."""
    combined = combine(np.frombuffer(content, np.uint8), np.frombuffer(base, np.uint8))
    combined[:len(_BITMAP)] = np.frombuffer(_BITMAP, np.uint8)
    joined: bytes = combined.tobytes()
    return joined


def _dictionary(content: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(content, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
