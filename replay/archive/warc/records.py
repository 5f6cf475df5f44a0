"""Reads the records of WARCs that any program made, as far as they tell of HTTP.

What cannot be read of a record costs that record alone, and is noted by its number. Contents are put into a file
without a name, which goes with what was read.
"""

import hashlib
import re
import tempfile
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from threading import Lock
from typing import IO, Any

from replay.archive.exchanges import Headers, header
from schemas import limits

from .unpacking import HEAD, Broken, Stream, begins_record, dechunked, unpacked

_NOTES = 1000  # that are kept
_READ = 1 << 16
_OF_HTTP = ("response", "revisit", "resource", "request")
_DATE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,6})?\d{0,3}Z")


@dataclass(frozen=True)
class Head:
    """What begins a request or an answer: its first line, of which `first` is the first word, and its headers."""

    first: str
    rest: str
    headers: Headers


@dataclass
class Record:
    """A record of a request or an answer. `body`: of a request; `content` reads that of an answer, unpacked."""

    where: str
    kind: str
    fields: Headers
    head: Head | None = None
    body: bytes | None = None
    content: Callable[[], bytes | None] = lambda: None

    def field(self, name: str) -> str:
        """A header of the record itself; empty where it has none."""
        return header(self.fields, name.lower()).strip()

    @property
    def address(self) -> str:
        """Of what was asked for; wget puts it into angle brackets."""
        return self.field("WARC-Target-URI").removeprefix("<").removesuffix(">").strip().replace(" ", "%20")

    @property
    def time(self) -> float:
        """Seconds since 1970; 0 where none is told."""
        date = _DATE.fullmatch(self.field("WARC-Date"))
        try:
            time = datetime.fromisoformat(f"{date[1]}{date[2] or ''}+00:00").timestamp() if date else 0.0
        except ValueError:
            return 0.0
        return time if 0 < time < limits.WALL else 0.0


class _Store:
    """Contents in a file without a name."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="demotape-warc-")  # noqa: SIM115 (it lives as long as this)
        weakref.finalize(self, self._file.close)
        self._lock = Lock()
        self._size = 0
        self._known: dict[bytes, tuple[int, int]] = {}

    def save(self, content: bytes) -> Callable[[], bytes | None]:
        """What reads a content again; raises Broken where there is too much in all."""
        digest = hashlib.sha256(content).digest()
        if digest not in self._known:
            if self._size + len(content) > limits.PACKAGE:
                raise Broken(f"the contents are larger than {limits.size(limits.PACKAGE)} in total")
            with self._lock:
                self._file.seek(self._size)
                self._file.write(content)
            self._known[digest] = self._size, len(content)
            self._size += len(content)
        return partial(self._read, *self._known[digest])

    def _read(self, offset: int, size: int) -> bytes | None:
        with self._lock:
            self._file.seek(offset)
            return self._file.read(size)


@dataclass
class Records:
    """What was read of one or several WARCs, in the order in which it stands there."""

    answers: list[Record] = field(default_factory=list)
    requests: list[Record] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _left_out: int = 0  # notes
    _store: _Store = field(default_factory=_Store)
    _read: int = 0  # bytes of all WARCs before this one
    _bodies: int = 0  # bytes of all requests

    def note(self, where: str, text: str) -> None:
        """Tell what could not be read."""
        if len(self.notes) < _NOTES:
            self.notes.append(f"{where}: {text}")
        else:
            self._left_out += 1

    def all_notes(self) -> tuple[str, ...]:
        """What could not be read, a sentence each."""
        return (*self.notes, *([f"and {self._left_out} more"] if self._left_out else []))

    def read(self, file: IO[bytes], name: str = "") -> bool:
        """Read a WARC; `name` stands before its records in notes. False where not one record is in it."""
        stream, number, has_records = Stream(file), 0, False
        line = b""
        while line := line or self._next(stream, f"{name}record {number + 1}"):
            number += 1
            where = f"{name}record {number}"
            if number > limits.ENTRIES or self._read + stream.work > limits.PACKAGE:
                self.note(where, "the archive is too large; this record and the rest are skipped")
                has_records = True
                break
            offset = None
            try:
                if not begins_record(line):
                    raise Broken("not a record")
                fields = _headers(stream, line)
                offset = stream.at
                record = self._record(stream, fields, where)
                line = self._following(stream)
                self._add(record)
                has_records = True
            except Broken as error:
                self.note(where, f"{error}; skipped")
                line = self._skipped(stream, offset)
        self._read += stream.work
        return has_records

    def _next(self, stream: Stream, where: str) -> bytes:
        """The next line that is not blank, in this part or the next ones."""
        while True:
            try:
                if line := stream.next_line():
                    return line
            except Broken as error:
                self.note(where, str(error))
            if not stream.next_part():
                return b""

    def _following(self, stream: Stream) -> bytes:
        """The line behind a record, by which its length is known to be right; nothing at the end of the part."""
        line = stream.next_line()
        if line and not begins_record(line):
            raise Broken("field Content-Length: wrong, as no record follows")
        return line

    def _skipped(self, stream: Stream, offset: int | None) -> bytes:
        """Where to go on behind a broken record."""
        try:
            return stream.skip_to_record(offset)
        except Broken:
            return b""

    def _record(self, stream: Stream, fields: Headers, where: str) -> Record | None:
        """A record, read to its end; None for one that tells nothing of HTTP."""
        from warcio.limitreader import LimitReader
        length = header(fields, "content-length").strip()
        if not re.fullmatch(r"[0-9]{1,15}", length):
            raise Broken("field Content-Length: missing or wrong")
        record: Record | None = Record(where, header(fields, "warc-type").strip().lower(), fields)
        block, wrong = LimitReader(stream, int(length)), ""
        try:
            record = self._content_of(record, block, stream) if record else None
        except Broken as error:
            record, wrong = None, str(error)
        stream.budget = None
        while block.read(_READ):
            pass
        if block.limit:
            raise Broken(wrong or "cut off")
        if wrong:
            self.note(where, f"{wrong}; skipped")
        return record

    def _content_of(self, record: Record, block: Any, stream: Stream) -> Record | None:
        if record.kind == "continuation":
            raise Broken("a segment of another record; segments are not supported")
        if record.kind not in _OF_HTTP or not record.address.lower().startswith(("http://", "https://")):
            return None
        if record.kind != "resource":
            if block.limit:
                record.head = _head(block, stream)
            elif record.kind != "revisit":
                raise Broken("it is empty")
        payload = _remaining(block)
        if payload is None:
            self.note(record.where, f"its content is larger than {limits.size(limits.BLOB)}; it is skipped")
        elif block.limit:
            raise Broken("cut off")
        elif record.kind == "request":
            record.body = self._body(record, payload)
        elif record.kind != "revisit" and (payload or not record.field("WARC-Truncated")):
            headers = record.head.headers if record.head else ()
            content = unpacked(_joined_chunks(headers, payload), header(headers, "content-encoding"),
                               partial(self.note, record.where))
            if content is not None:
                record.content = self._store.save(content)
        return record

    def _body(self, record: Record, payload: bytes) -> bytes | None:
        payload = _joined_chunks(record.head.headers if record.head else (), payload)
        self._bodies += len(payload)
        if self._bodies > limits.HAR:
            self.note(record.where, "the request bodies are too large in total; it is skipped")
            return None
        return payload or None

    def _add(self, record: Record | None) -> None:
        if record:
            (self.requests if record.kind == "request" else self.answers).append(record)


def _headers(stream: Any, first: bytes) -> Headers:
    stream.budget = HEAD
    headers = _parsed(stream, first).headers
    stream.budget = None
    return headers


def _head(block: Any, stream: Stream) -> Head:
    stream.budget = HEAD
    head = _parsed(block, block.readline(HEAD))
    stream.budget = None
    return head


def _parsed(stream: Any, first: bytes) -> Head:
    """What begins with a line, up to the next blank one."""
    from warcio.statusandheaders import StatusAndHeadersParser
    try:
        parsed = StatusAndHeadersParser([], verify=False).parse(stream, first)
    except EOFError:
        raise Broken("it is empty") from None
    return Head(parsed.protocol, parsed.statusline,
                tuple((name, value) for name, value in parsed.headers if name and not name.startswith(":")))


def _remaining(block: Any) -> bytes | None:
    """The rest of a record; None where it is larger than anything that is kept."""
    pieces, size = [], 0
    while size <= limits.BLOB and (piece := block.read(_READ)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces) if size <= limits.BLOB else None


def _joined_chunks(headers: Headers, payload: bytes) -> bytes:
    """A payload without chunks."""
    if "chunked" not in header(headers, "transfer-encoding").lower():
        return payload
    joined = dechunked(payload)
    return payload if joined is None else joined
