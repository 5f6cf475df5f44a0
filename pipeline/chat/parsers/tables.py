"""Chats as data: JSONL, a JSON list and CSV with columns for speaker, text and time, identified by their names."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pipeline.chat.log import Document, Message, Reader, Reading, Stamp

from .days import Order, day_first, month_first, order_of
from .message_extras import UNKNOWN_REACTION, file_names, reactions_of, with_files
from .times import any_time, clock_time, minutes_time
from .tool_exports import DELETED, readable_rows

_SPEAKER = ("speaker", "name", "author", "user", "sender", "from", "role", "participant", "username", "user name",
            "display name", "displayname", "display_name", "sender name", "sender_name", "speaker name", "speaker_name",
            "from name", "participant name", "nickname", "who", "u", "creator")
_TEXT = ("utterance", "text", "message", "content", "body", "msg", "message text", "message_text", "chat", "comment",
         "chat message", "message body")
_TIME = ("date_unixtime", "timestamp", "time", "ts", "timestamp_ms", "time_ms", "offset", "offset_ms", "start", "date",
         "datetime", "created_at", "seconds", "milliseconds", "sent", "sent at", "sent_at", "time sent",
         "timestamp (utc)", "date/time", "date time", "created", "posted", "posted at", "created_date", "create_at",
         "createdat", "origin_server_ts")
_DAY = ("date", "day")
_ID = ("user id", "user_id", "userid", "author id", "author_id", "authorid", "speaker id", "speaker_id", "sender id",
       "sender_id", "from id", "from_id")
_MESSAGE_ID = ("id", "message id", "message_id", "messageid", "msg id", "msg_id", "uuid")
_REPLY = ("reply to", "reply_to", "replyto", "in reply to", "in_reply_to", "reply_to_id", "reply_to_message_id",
          "reply_to_message", "reply id", "reply_id", "parent", "parent id", "parent_id")
_REACTIONS = ("reactions", "reaction")
_FILES = ("attachments", "attachment", "files", "file_name", "filename", "file name", "file")
_DELETED = ("deleted", "is deleted", "is_deleted", "deleted at", "deleted_at")
_NO = ("", "false", "no", "0", "none", "null")
_DATED = re.compile(r"(\d{1,4})[./-](\d{1,2})[./-](\d{1,4}),?[ T]+(\d.*)")
_PARTS = ("display name", "displayname", "display_name", "name", "username", "nickname", "body", "text", "$date")
_DEEPEST = 4  # objects in objects, of a message
_LISTS = ("messages", "chat", "turns", "utterances", "data", "log", "value", "segments")
_UNITS = {"seconds": "s", "milliseconds": "ms"}


def recognise_jsonl(document: Document) -> int:
    """The number of lines that are objects with the three fields."""
    return sum(isinstance(row, dict) and None not in _columns(row) for _, row in _json_rows(document))


def read_jsonl(document: Document) -> Reading:
    """One message a line."""
    return _read(_json_rows(document))


def recognise_json(document: Document) -> int:
    """The number of objects with the three fields in a list."""
    return sum(isinstance(row, dict) and None not in _columns(row) for _, row in _parse_list(document))


def read_json(document: Document) -> Reading:
    """One message an object."""
    return _read(_parse_list(document))


def recognise_csv(document: Document) -> int:
    """The number of rows under a header that names the three columns."""
    rows = list(_csv_rows(document))
    return len(rows) if rows and isinstance(rows[0][1], dict) and None not in _columns(rows[0][1]) else 0


def read_csv(document: Document) -> Reading:
    """One message a row."""
    return _read(_csv_rows(document))


def _read(rows: Iterable[tuple[int, object]]) -> Reading:
    reading, rows = Reading(), list(rows)
    written = [when for _, row in rows if isinstance(row, dict) and (when := _when(row))]
    days = [(match[1], match[2], match[3]) for when in written if (match := _DATED.fullmatch(when))]
    half = any(re.search(r"(?i)[ap]\.?m\.?\s*$", when) for when in written)
    order = order_of(days, month_first if half else day_first)
    for number, row in rows:
        message = _message(row, number, order)
        if isinstance(message, str):
            reading.problems.append((number, message))
            continue
        reading.problems += [(number, reason) for reason in _strange(row)]
        reading.messages.append(message)
    ids = {message.id for message in reading.messages}
    reading.messages = [message if message.reply_to in ids or message.reply_to.isdigit() else
                        replace(message, reply_to="", quote=message.reply_to) for message in reading.messages]
    return reading


def _strange(row: object) -> Iterator[str]:
    """What of a message's row is not understood."""
    if isinstance(row, dict):
        if any(cell.strip() for cell in row.get(None, ())):
            yield "more cells than the header; the extra cells are ignored; does a text need quotation marks?"
        if reactions_of(_value(row, _REACTIONS))[1]:
            yield UNKNOWN_REACTION


def _when(row: Mapping) -> str:
    """When it was, as it is written: a day in a column of its own stands before the time."""
    when = _columns(row)[2]
    if when is None or not isinstance(row[when], str | int | float):
        return ""
    text = " ".join(str(row[when]).replace("\u202f", " ").replace("\xa0", " ").split())
    day = _first(row, _DAY)
    alone = ":" in text and re.fullmatch(r"[\d:. APMapm]+", text)
    if day is not None and day != when and isinstance(row[day], str) and alone:
        return f"{row[day].strip()} {text}"
    return text


def _message(row: object, number: int, order: Order) -> Message | str:
    """One message, or why it is none."""
    if not isinstance(row, dict):
        return row if isinstance(row, str) else "no object with speaker, text and time"
    speaker, text, when = _columns(row)
    if speaker is None or text is None or when is None:
        return "speaker, text or time is missing"
    if str(_value(row, _DELETED) or "").strip().lower() not in _NO:
        return DELETED
    said = with_files(_said(row[text]), file_names(_value(row, _FILES)))
    if not isinstance(row[speaker], str) or not said:
        return "a message without text or speaker"
    unit = "ms" if when.lower().endswith("_ms") else _UNITS.get(when.lower(), "")
    written = _when(row)
    stamp = any_time(written, unit) or _parse_date(written, order)
    if stamp is None:
        return f"its time cannot be read ({str(row[when])[:40]})"
    return Message(row[speaker].strip(), said, stamp, number, _name(row, _ID), _name(row, _MESSAGE_ID),
                   _name(row, _REPLY), reactions=reactions_of(_value(row, _REACTIONS))[0])


def _said(text: object) -> str:
    """Text, also where it is a list of pieces (Telegram's exports)."""
    pieces = text if isinstance(text, list) else [text]
    pieces = [piece.get("text") if isinstance(piece, dict) else piece for piece in pieces]
    return "".join(piece for piece in pieces if isinstance(piece, str)).strip()


def _value(row: Mapping, wanted: tuple[str, ...]) -> object:
    """What stands in the first of the columns that the row has; None when it has none."""
    name = _first(row, wanted)
    return None if name is None else row[name]


def _name(row: Mapping, wanted: tuple[str, ...]) -> str:
    """The same as an id; empty where there is none."""
    value = _value(row, wanted)
    return "" if value is None or isinstance(value, bool) else str(value).strip()


def _parse_date(text: str, order: Order) -> Stamp | None:
    """`3/5/2024 2:30:05 PM`: a day as other tools write it, and a time of day."""
    match = _DATED.fullmatch(text)
    time = match and (clock_time(match[4]) or minutes_time(match[4]))
    day = order(match[1], match[2], match[3]) if match else None
    return Stamp(time.seconds, "clock", time.precision, day) if time and day else None


def _columns(row: Mapping) -> tuple[str | None, str | None, str | None]:
    """Names of the columns for speaker, text and time in this row."""
    return _first(row, _SPEAKER), _first(row, _TEXT), _first(row, _TIME)


def _first(row: Mapping, wanted: tuple[str, ...]) -> str | None:
    names = {name.strip().lower(): name for name in row if isinstance(name, str)}
    return next((names[name] for name in wanted if name in names), None)


def _parse_list(document: Document) -> Iterator[tuple[int, object]]:
    """The objects of a JSON list, or of the list that an object has under `messages` or the like, by number."""
    if not document.text.lstrip().startswith(("[", "{")):
        return
    try:
        content = json.loads(document.text)
    except (ValueError, RecursionError):
        return
    if isinstance(content, dict):
        content = next((content[name] for name in _LISTS if isinstance(content.get(name), list)), None)
    if isinstance(content, list):
        yield from ((number, _known(row)) for number, row in readable_rows(enumerate(map(_respelt_row, content), 1)))


def _known(row: object) -> object:
    """A row whose parts are objects, as text: who speaks (Google Chat), when (MongoDB). Mattermost's posts besides."""
    if not isinstance(row, dict):
        return row
    if isinstance(post := row.get("post"), dict) and row.get("type") == "post":
        row = post
    return {key: _part(value) if isinstance(value, dict) and key.lower() not in _REACTIONS else value
            for key, value in row.items()}


def _respelt_row(row: object) -> object:
    """A row of Messenger's with its letters, which it writes wrongly, read rightly."""
    return _respelt(row) if isinstance(row, dict) and "sender_name" in row and "timestamp_ms" in row else row


def _part(value: dict) -> object:
    """What an object says in one word, where it has one of these; else the object."""
    names = {key.lower(): key for key, part in value.items() if isinstance(key, str) and isinstance(part, str | int)}
    return next((value[names[name]] for name in _PARTS if name in names), value)


def _respelt(value: Any, depth: int = 0) -> Any:
    """UTF-8 that was written byte by byte as letters, read rightly."""
    if isinstance(value, str):
        with suppress(UnicodeError):
            return value.encode("latin-1").decode()
    if isinstance(value, dict) and depth < _DEEPEST:
        return {key: _respelt(part, depth + 1) for key, part in value.items()}
    if isinstance(value, list) and depth < _DEEPEST:
        return [_respelt(part, depth + 1) for part in value]
    return value


def _json_rows(document: Document) -> Iterator[tuple[int, object]]:
    """The objects of the lines, by number."""
    return ((number, _known(row)) for number, row in readable_rows(_json_lines(document)))


def _json_lines(document: Document) -> Iterator[tuple[int, object]]:
    for number, line in enumerate(document.lines, 1):
        if line.strip():
            try:
                yield number, _respelt_row(json.loads(line))
            except (ValueError, RecursionError):
                yield number, "not JSON"


def _csv_rows(document: Document) -> Iterator[tuple[int, object]]:
    head = document.lines[0] if document.lines else ""
    delimiter = max(",;\t|", key=head.count)
    reader = csv.DictReader(io.StringIO(document.text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        yield reader.line_num, f"not CSV from here on ({error})"


READERS = (Reader("jsonl", recognise_jsonl, read_jsonl), Reader("json", recognise_json, read_json),
           Reader("csv", recognise_csv, read_csv))
