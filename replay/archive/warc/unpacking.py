"""Bytes out of a WARC: gzip members or none, and contents as they went over the wire. Never more than the limits."""

import re
import zlib
from collections.abc import Callable
from typing import IO, Any

import zstandard

from schemas import limits

_READ = 1 << 16
_SLACK = 1 << 16  # packed bytes below which no ratio is looked at
HEAD = 1 << 18  # bytes of the headers of a record, or of what it holds
_MAGIC = b"\x1f\x8b\x08"
_FIRST = re.compile(rb"WARC/\d\.\d{1,2}\s*\Z")
_MAGIC_BYTES = 1024  # packed bytes by which the beginning of a record is known
_BR_PIECE = 64  # packed bytes that are unpacked at once, as brotli may tell no limit


class Broken(Exception):
    """What is wrong; the message says it."""


class Stream:
    """The unpacked bytes of a WARC. A gzip member is a part, as is a file that is not packed: what is read ends with
    it, and `next_part` goes on. What is damaged in one part costs that part alone."""

    def __init__(self, file: IO[bytes]):
        self._file = file
        self._raw = self._buffer = b""
        self._unpacker: Any = None
        self._ended = self._damaged = False
        self._packed_bytes = self._unpacked_bytes = 0  # of the part, so far
        self.budget: int | None = None  # unpacked bytes that may still be read; None: no limit
        self.at = 0  # offset of the next byte in the unpacked file
        self.work = 0  # unpacked bytes that were read in all, counting again those that were read again
        self._fill()
        self.packed = self._raw.startswith(_MAGIC)
        if self.packed:
            self._unpacker = zlib.decompressobj(31)

    def read(self, size: int) -> bytes:
        """As much as is there, at most `size` bytes; nothing at the end of the part. Raises Broken."""
        self._check_budget()
        while not self._buffer and not self._ended:
            self._more()
        data, self._buffer = self._buffer[:size], self._buffer[size:]
        return self._counted(data)

    def readline(self, size: int = HEAD) -> bytes:
        """A line, or as much of it as `size`; nothing at the end of the part. Raises Broken."""
        self._check_budget()
        size = min(size, HEAD)
        while (end := self._buffer.find(b"\n", 0, size)) < 0 and len(self._buffer) < size and not self._ended:
            self._more()
        end = end + 1 if end >= 0 else min(size, len(self._buffer))
        data, self._buffer = self._buffer[:end], self._buffer[end:]
        return self._counted(data)

    def next_line(self) -> bytes:
        """The next line that is not blank; nothing at the end of the part."""
        while (line := self.readline(_READ)) and not line.strip():
            pass
        return line

    def next_part(self) -> bool:
        """Go on with the next part that begins as a record; False where none is left."""
        if not self.packed:
            return False
        if self._damaged:  # not the same once more
            self._raw = self._raw[1:]
        if not self._find_part():
            return False
        self._buffer, self._ended, self._damaged, self._packed_bytes, self._unpacked_bytes = b"", False, False, 0, 0
        self._unpacker = zlib.decompressobj(31)
        return True

    def skip_to_record(self, offset: int | None = None) -> bytes:
        """The next line of the part that begins a record, from `offset` on, where the file is not packed; nothing where
        none is left. Raises Broken."""
        self.budget = None
        if offset is not None and not self.packed:
            self._file.seek(offset)
            self._raw, self._buffer, self._ended, self.at = b"", b"", False, offset
        while (line := self.readline(_READ)) and not begins_record(line):
            pass
        return line

    def _counted(self, data: bytes) -> bytes:
        self.at += len(data)
        self.work += len(data)
        if self.budget is not None:
            self.budget -= len(data)
        return data

    def _check_budget(self) -> None:
        if self.budget is not None and self.budget <= 0:
            raise Broken(f"its headers are larger than {limits.size(HEAD)}")

    def _fill(self) -> bool:
        """Read on in the file; False at its end."""
        piece = self._file.read(_READ)
        self._raw += piece
        return bool(piece)

    def _more(self) -> None:
        if not self._raw and not self._fill():
            self._ended = True
        elif not self.packed:
            self._buffer, self._raw = self._buffer + self._raw, b""
        else:
            self._unpack()

    def _unpack(self) -> None:
        raw, self._raw = self._raw, b""
        try:
            data = self._unpacker.decompress(raw, _READ)
        except zlib.error as error:
            self._ended = self._damaged = True
            self._raw = raw
            raise Broken(f"damaged ({error})") from None
        self._raw = self._unpacker.unused_data if self._unpacker.eof else self._unpacker.unconsumed_tail
        self._packed_bytes += len(raw) - len(self._raw)
        self._unpacked_bytes += len(data)
        self._buffer += data
        self._ended = self._unpacker.eof
        if self._unpacked_bytes > limits.RATIO * max(self._packed_bytes, _SLACK):
            self._ended = self._damaged = True
            raise Broken("its compression ratio is too high for a recording")

    def _find_part(self) -> bool:
        """Bring the next bytes that begin a packed record to the front."""
        while True:
            while (offset := self._raw.find(_MAGIC)) >= 0:
                self._raw = self._raw[offset:]
                if len(self._raw) < _MAGIC_BYTES:
                    self._fill()
                if _begins(self._raw[:_MAGIC_BYTES]):
                    return True
                self._raw = self._raw[1:]
            self._raw = self._raw[-2:]
            if not self._fill():
                return False


def begins_record(line: bytes) -> bool:
    """Whether a line is the first of a record."""
    return _FIRST.match(line) is not None


def _begins(packed: bytes) -> bool:
    try:
        return zlib.decompressobj(31).decompress(packed, 16).lstrip()[:5] in (b"WARC/", b"")
    except zlib.error:
        return False


def dechunked(content: bytes) -> bytes | None:
    """A content without the sizes of its chunks (RFC 9112, 7.1); None where it has none: many programs keep the header
    but not the chunks. What was cut off is taken as far as it goes."""
    chunks: list[bytes] = []
    offset = 0
    while True:
        end = content.find(b"\r\n", offset, offset + 1024)
        size = content[offset:end].partition(b";")[0].strip() if end >= 0 else b""
        if not re.fullmatch(rb"[0-9A-Fa-f]{1,8}", size):
            return b"".join(chunks) if chunks and offset >= len(content) else None
        length = int(size, 16)
        if length == 0:
            return b"".join(chunks)
        chunks.append(content[end + 2:end + 2 + length])
        offset = end + 2 + length
        if content[offset:offset + 2] not in (b"\r\n", b"\r", b""):
            return None
        offset += 2


def unpacked(content: bytes, encoding: str, note: Callable[[str], None]) -> bytes | None:
    """A content as it was before it was packed for the wire; None where it cannot be told, with a note why."""
    for name in reversed([part.strip().lower() for part in encoding.split(",")]):
        if name in ("", "identity", "none", "utf-8") or not content:
            continue
        if name not in _UNPACKERS:
            note(f"its content has the unknown encoding {name[:40]!r}; it is skipped")
            return None
        try:
            decoded = _UNPACKERS[name](content)
        except ModuleNotFoundError:
            note("its content has the encoding br, which requires the package brotli; it is skipped")
            return None
        except _NotPacked:
            continue  # many programs keep the header, but unpack the content
        except Broken as error:
            note(f"its content: {error}; it is skipped")
            return None
        content = decoded
    return content


class _NotPacked(Exception):
    """A content is not packed as its header says."""


def _within(size: int, packed: int) -> None:
    if size > limits.BLOB:
        raise Broken(f"larger than {limits.size(limits.BLOB)}")
    if size > limits.RATIO * max(packed, _SLACK):
        raise Broken("its compression ratio is too high for a recording")


def _zlib(content: bytes, bits: int) -> bytes:
    """Also of a content that was cut off, as browsers show it; and of several members, one behind the other."""
    data, remaining = b"", content
    while remaining:
        unpacker = zlib.decompressobj(bits)
        try:
            part = unpacker.decompress(remaining, limits.BLOB + 1 - len(data))
        except zlib.error as error:
            if data:  # what comes after the packed content
                break
            raise Broken(f"damaged ({error})") from None
        data += part
        _within(len(data), len(content))
        if unpacker.unconsumed_tail or not unpacker.eof:
            break
        remaining = unpacker.unused_data if bits > 15 else b""
    return data


def _gzip(content: bytes) -> bytes:
    if not content.startswith(_MAGIC[:2]):
        raise _NotPacked
    return _zlib(content, 31)


def _deflate(content: bytes) -> bytes:
    for bits in (15, -15):  # some send it with its header, some without
        try:
            return _zlib(content, bits)
        except Broken as error:
            if "damaged" not in str(error):
                raise
    raise _NotPacked


def _zstd(content: bytes) -> bytes:
    if not content.startswith(b"\x28\xb5\x2f\xfd"):
        raise _NotPacked
    data = bytearray()
    try:
        unpacker = zstandard.ZstdDecompressor(max_window_size=1 << 27)
        with unpacker.stream_reader(content, read_across_frames=True) as reader:
            while piece := reader.read(_READ):
                data += piece
                _within(len(data), len(content))
    except zstandard.ZstdError as error:
        raise Broken(f"damaged ({error})") from None
    return bytes(data)


def _br(content: bytes) -> bytes:
    import brotli
    data, unpacker = bytearray(), brotli.Decompressor()
    try:
        for start in range(0, len(content), _BR_PIECE):
            data += unpacker.process(content[start:start + _BR_PIECE])
            _within(len(data), len(content))
    except brotli.error:
        raise _NotPacked from None
    return bytes(data)


_UNPACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": _gzip, "x-gzip": _gzip, "deflate": _deflate, "zstd": _zstd, "br": _br}
