"""How a blob lies in its file: compressed, alone or by a similar blob.

A file is one zstandard frame. Where it needs another blob, a skippable frame (RFC 8878, section 3.1.2) stands before it
that holds the other's SHA-256: the frame's magic number says whether the other is the dictionary (texts), or was
subtracted byte by byte, modulo 256 (bitmaps of one size). The other never needs a third, so reading takes two files.
"""

import struct
from collections.abc import Callable, Iterable
from functools import cached_property
from math import inf

import numpy as np
import zstandard

_LEVEL, _BITMAP_LEVEL = 6, 3
_DICTIONARY, _DIFFERENCE = 0x184D2A50, 0x184D2A51
_HEADER = struct.Struct("<II32s")
_BITMAP = b"BM"
_SAMPLE = 251  # every so many bytes; a prime, so that the sample is no column
MAX_BYTES = 1 << 29


def compress(content: bytes) -> bytes:
    """A blob's file, standing alone."""
    level = _BITMAP_LEVEL if content.startswith(_BITMAP) else _LEVEL
    return zstandard.ZstdCompressor(level=level).compress(content)


class Base:
    """A blob that stands alone, by which similar ones are kept: what is worked out of it once serves them all.

    `size`: bytes of its file.
    """

    def __init__(self, sha256: str, content: bytes, size: int):
        self.sha256 = sha256
        self.content = content
        self.size = size

    def compress(self, content: bytes) -> bytes:
        """A blob's file that needs this one to be read."""
        name = bytes.fromhex(self.sha256)
        if content.startswith(_BITMAP) and len(content) == len(self.content):
            return _HEADER.pack(_DIFFERENCE, 32, name) + compress(_bitmap_of(np.subtract, content, self.content))
        return _HEADER.pack(_DICTIONARY, 32, name) + self._compressor.compress(content)

    @cached_property
    def _compressor(self) -> zstandard.ZstdCompressor:
        window = max(10, (3 * len(self.content)).bit_length())  # this text, and another that may be twice as long
        parameters = zstandard.ZstdCompressionParameters.from_level(_LEVEL, window_log=min(window, 27))
        return zstandard.ZstdCompressor(compression_params=parameters, dict_data=_dictionary(self.content))


def worth_trying(bases: Iterable[Base], content: bytes) -> list[Base]:
    """By which of some blobs another may be kept best: of bitmaps the one most like it; of texts any, last first."""
    last_first = list(bases)[::-1]
    if not content.startswith(_BITMAP):
        return last_first
    return sorted(last_first, key=lambda base: _distance(base.content, content))[:1]


def _distance(one: bytes, other: bytes) -> float:
    """How unlike two bitmaps are, by a sample of their bytes; infinite for those of another size."""
    if len(one) != len(other):
        return inf
    samples = (np.frombuffer(each, np.uint8)[::_SAMPLE] for each in (one, other))
    return int(np.count_nonzero(np.not_equal(*samples)))


def decompress(data: bytes, read_base: Callable[[str], bytes]) -> bytes:
    """A blob's content; `read_base` gives the content of the blob that it needs. Raises zstandard.ZstdError."""
    kind, base = None, b""
    if len(data) >= _HEADER.size and int.from_bytes(data[:4], "little") in (_DICTIONARY, _DIFFERENCE):
        kind, _, name = _HEADER.unpack_from(data)
        base, data = read_base(name.hex()), data[_HEADER.size:]
    dictionary = _dictionary(base) if kind == _DICTIONARY else None
    decompressor = zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=1 << 27)
    content = decompressor.decompress(data, max_output_size=MAX_BYTES)
    if kind != _DIFFERENCE:
        return content
    if len(content) != len(base) or len(base) < len(_BITMAP):
        raise zstandard.ZstdError("the blob that it was subtracted from has another size")
    return _bitmap_of(np.add, content, base)


def _bitmap_of(combine: np.ufunc, content: bytes, base: bytes) -> bytes:
    """What two bitmaps of one size give byte by byte, still beginning as a bitmap does."""
    combined = combine(np.frombuffer(content, np.uint8), np.frombuffer(base, np.uint8))
    combined[:len(_BITMAP)] = np.frombuffer(_BITMAP, np.uint8)
    return combined.tobytes()


def _dictionary(content: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(content, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
