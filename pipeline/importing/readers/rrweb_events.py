"""Files of rrweb's events, as rrweb, PostHog and Sentry write them: events in the order of their times.

Lists and lines are read twice: once for their times, then in order, so that one event is in memory at a time.
"""

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.importing.sources import explained, head, lines_from, list_members, parse_json, read_content
from schemas import InputError, limits

MAX_DOCUMENT_BYTES = 128 << 20  # of a file that is one JSON object: it is read as a whole
_HEAD_CHUNKS = 3  # members or lines of a file by which it is detected
_COMPRESSED_FIELDS = ("texts", "attributes", "removes", "adds")  # of PostHog's mutations
Event = dict[str, Any]
Windowed = tuple[str, Event]  # window, event
_Chunk = tuple[float, int]  # time of its first event, where it begins; -1: the whole file


def is_event(value: Any) -> bool:
    """Whether a value is an event of rrweb, packed or not."""
    return isinstance(value, dict) and isinstance(value.get("type"), int) and isinstance(
        value.get("timestamp"), int | float) and "data" in value


def kind_of(path: Path) -> str:
    """`list`, `lines` or `object`, as the file begins; empty for other files."""
    start = head(path).lstrip()
    if start.startswith(b"["):
        return "lines" if _is_lines(start) else "list"
    if start.startswith(b"{"):
        return "lines" if _is_lines(start) else "object"
    return ""


def _is_lines(start: bytes) -> bool:
    """Whether the first line is a JSON value by itself, and another follows."""
    line, end, rest = start.partition(b"\n")
    if not end or not rest.strip():
        return False
    try:
        parse_json(line, "")
    except InputError:
        return False
    return True


def first_event(path: Path) -> Event | None:
    """An event near the file's beginning; None where there is none. Raises InputError."""
    kind = kind_of(path)
    if kind == "object":
        return next(iter(_from_object(path)))[1]
    for number, (start, content) in enumerate(_contents(path, kind)):
        for _, event in _flatten(parse_json(content, f"{path}: byte {start}"), f"{path}: byte {start}"):
            return event
        if number >= _HEAD_CHUNKS:
            break
    return None


def events_of(path: Path) -> Iterator[Windowed]:
    """All events with their windows, by time; raises InputError."""
    kind = kind_of(path)
    if kind == "object":
        yield from sorted(_from_object(path), key=lambda windowed: windowed[1]["timestamp"])
        return
    chunks: list[_Chunk] = []
    for start, content in _contents(path, kind):
        events = list(_flatten(parse_json(content, f"{path}: byte {start}"), f"{path}: byte {start}"))
        if events:
            chunks.append((min(event["timestamp"] for _, event in events), start))
    if not chunks:
        raise InputError(f"{path}: contains no events of rrweb")
    for _, start in sorted(chunks):
        content = next(_contents(path, kind, start))[1]
        events = list(_flatten(parse_json(content, f"{path}: byte {start}"), f"{path}: byte {start}"))
        yield from sorted(events, key=lambda windowed: windowed[1]["timestamp"])


def _contents(path: Path, kind: str, start: int = 0) -> Iterator[tuple[int, bytes]]:
    if kind == "list":
        yield from list_members(path, start)
    elif kind == "lines":
        yield from ((begin, line) for begin, line in lines_from(path, start) if line.strip())
    else:
        raise InputError(f"{path}: not events of rrweb: neither a JSON list nor JSON lines nor an object")


def _from_object(path: Path) -> list[Windowed]:
    document = parse_json(read_content(path, MAX_DOCUMENT_BYTES), str(path))
    events = list(_flatten(document, str(path)))
    if not events:
        raise InputError(f"{path}: contains no events of rrweb")
    return events


def _flatten(value: Any, where: str, window: str = "", depth: int = 0) -> Iterator[Windowed]:
    """The events in a value: an event, a list, a pair of window and event, or an object that has a list of them."""
    if depth > 8:
        return
    if isinstance(value, str):
        value = _unpacked(value, where)
    if is_event(value):
        with explained(where, "an event of rrweb"):
            yield str(value.get("windowId") or value.get("window_id") or window), _decompressed(value, where)
    elif isinstance(value, list):
        if len(value) == 2 and isinstance(value[0], str) and is_event(value[1]):  # PostHog's lines
            yield from _flatten(value[1], where, value[0], depth + 1)
            return
        for member in value:
            if isinstance(member, dict | list) or (isinstance(member, str) and member[:1] == "x"):
                yield from _flatten(member, where, window, depth + 1)
    elif isinstance(value, dict):
        name = str(value.get("window_id") or value.get("windowId") or window)
        for field in ("events", "snapshots", "data", "segments", "snapshot_data"):
            if isinstance(inside := value.get(field), dict | list):
                yield from _flatten(inside, where, name, depth + 1)
        if isinstance(windows := value.get("snapshot_data_by_window_id"), dict):
            for key, inside in windows.items():
                yield from _flatten(inside, where, str(key), depth + 1)


def _unpacked(text: str, where: str) -> Any:
    """An event that rrweb's `pack` wrote: zlib, a character a byte."""
    return parse_json(_inflate(text, where, is_gzip=False), where)


def _inflate(text: str, where: str, *, is_gzip: bool) -> bytes:
    try:
        content = text.encode("latin-1")
        if is_gzip:
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
                inflated = file.read(limits.JSON + 1)
        else:
            inflated = zlib.decompressobj().decompress(content, limits.JSON + 1)
    except (zlib.error, OSError, EOFError, ValueError) as error:
        raise InputError(f"{where}: a packed event cannot be read ({str(error)[:80]})") from None
    if len(inflated) > limits.JSON:
        raise InputError(f"{where}: a packed event is larger than {limits.size(limits.JSON)} when unpacked")
    return inflated


def _decompressed(event: Event, where: str) -> Event:
    """An event of PostHog's with `cv`: its data, or the lists of a mutation, are gzip, a character a byte."""
    if "cv" not in event:
        return event
    data = event["data"]
    if isinstance(data, str):
        data = parse_json(_inflate(data, where, is_gzip=True), where)
    elif isinstance(data, dict):
        data = data | {name: parse_json(_inflate(data[name], where, is_gzip=True), where)
                       for name in _COMPRESSED_FIELDS if isinstance(data.get(name), str)}
    return event | {"data": data}
