"""Chats as data: JSONL and CSV with columns for speaker, text and time, told by their names."""

import csv
import io
import json
from collections.abc import Iterator, Mapping

from pipeline.chat.log import Document, Message, Reader, Reading

from .times import any_time

_SPEAKER = ("speaker", "name", "author", "user", "sender", "from", "role", "participant")
_TEXT = ("utterance", "text", "message", "content", "body", "msg")
_TIME = ("timestamp", "time", "ts", "timestamp_ms", "time_ms", "offset", "offset_ms", "start", "date", "datetime",
         "created_at", "seconds", "milliseconds")
_UNITS = {"seconds": "s", "milliseconds": "ms"}


def recognise_jsonl(document: Document) -> int:
    """The number of lines that are objects with the three fields."""
    return sum(isinstance(row, dict) and None not in _columns(row) for _, row in _json_rows(document))


def read_jsonl(document: Document) -> Reading:
    """One message a line."""
    return _read(_json_rows(document))


def recognise_csv(document: Document) -> int:
    """The number of rows under a header that names the three columns."""
    rows = list(_csv_rows(document))
    return len(rows) if rows and isinstance(rows[0][1], dict) and None not in _columns(rows[0][1]) else 0


def read_csv(document: Document) -> Reading:
    """One message a row."""
    return _read(_csv_rows(document))


def _read(rows: Iterator[tuple[int, object]]) -> Reading:
    reading = Reading()
    for number, row in rows:
        message = _message(row, number)
        if isinstance(message, str):
            reading.problems.append((number, message))
        else:
            reading.messages.append(message)
    return reading


def _message(row: object, number: int) -> Message | str:
    """One message, or why it is none."""
    if not isinstance(row, dict):
        return row if isinstance(row, str) else "no object with speaker, text and time"
    speaker, text, when = _columns(row)
    if speaker is None or text is None or when is None:
        return "speaker, text or time is missing"
    if not isinstance(row[speaker], str) or not isinstance(row[text], str) or not row[text].strip():
        return "a message without text or speaker"
    unit = "ms" if when.lower().endswith("_ms") else _UNITS.get(when.lower(), "")
    stamp = any_time(str(row[when]), unit) if isinstance(row[when], str | int | float) else None
    if stamp is None:
        return f"its time cannot be read ({str(row[when])[:40]})"
    return Message(row[speaker].strip(), row[text].strip(), stamp, number)


def _columns(row: Mapping) -> tuple[str | None, str | None, str | None]:
    """Names of the columns for speaker, text and time in this row."""
    names = {name.strip().lower(): name for name in row if isinstance(name, str)}

    def first(wanted: tuple[str, ...]) -> str | None:
        return next((names[name] for name in wanted if name in names), None)

    return first(_SPEAKER), first(_TEXT), first(_TIME)


def _json_rows(document: Document) -> Iterator[tuple[int, object]]:
    for number, line in enumerate(document.lines, 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                yield number, "not JSON"


def _csv_rows(document: Document) -> Iterator[tuple[int, object]]:
    head = document.lines[0] if document.lines else ""
    delimiter = max(",;\t|", key=head.count)
    reader = csv.DictReader(io.StringIO(document.text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            row.pop(None, None)  # cells beyond the header
            yield reader.line_num, row
    except csv.Error as error:
        yield reader.line_num, f"not CSV from here on ({error})"


READERS = (Reader("jsonl", recognise_jsonl, read_jsonl), Reader("csv", recognise_csv, read_csv))
