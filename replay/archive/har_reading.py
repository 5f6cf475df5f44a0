"""HAR 1.2 of any program (Chrome, Firefox, Playwright, Charles, mitmproxy …) as an archive.

What cannot be read of an entry costs that entry alone, and is told in the archive's notes by the entry's number.
"""

import base64
import binascii
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeGuard
from urllib.parse import urlencode

from schemas import InputError, limits
from schemas.addresses import split_address
from schemas.files import read_inside, read_named
from schemas.formats.network import RESOURCE_KINDS

from .exchanges import Archive, Channel, Headers, Message, Recorded, header, normalized_method

_SERVED = ("http", "https")
_CHANNELS = ("ws", "wss")
_BOUNDARY = "----demotape"  # of a form whose parts are told one by one
_NO_CONTENT = (204, 205, 304)
_NOTES = 1000  # that are kept
_BINARY = 2  # opcode of a WebSocket's message
_KINDS = {"script": "script", "style": "stylesheet", "image": "image", "font": "font", "document": "document",
          "iframe": "document", "frame": "document", "audio": "media", "video": "media", "track": "texttrack",
          "manifest": "manifest", "empty": "fetch"}


class _Unreadable(Exception):
    """Why an entry cannot be read."""


def read_har(path: Path) -> Archive:
    """The network of a HAR; raises InputError for a file that is none."""
    entries = _entries(path)
    read: list[Recorded | Channel] = []
    notes: list[str] = []
    tabs = _Tabs()
    time = 0.0
    for number, entry in enumerate(entries, 1):
        try:
            time = _sent_at(entry) or time
            if record := _read(entry, time, path.parent, tabs, partial(_note, notes, number)):
                read.append(record)
        except (_Unreadable, ValueError, OverflowError, RecursionError) as error:
            notes.append(f"entry {number}: {error}; skipped")
    read = _without_repeated(read)
    read.sort(key=lambda record: record.time)
    started = next((record.time for record in read if record.time), 0.0)
    exchanges = [replace(record, number=number, time=_since(started, record.time))
                 for number, record in enumerate((record for record in read if isinstance(record, Recorded)), 1)]
    channels = [_from(started, number, record)
                for number, record in enumerate((record for record in read if isinstance(record, Channel)), 1)]
    if len(notes) > _NOTES:
        notes[_NOTES:] = [f"and {len(notes) - _NOTES} more"]
    return Archive(tuple(exchanges), tuple(channels), started, tuple(notes))


def _without_repeated(read: list[Recorded | Channel]) -> list[Recorded | Channel]:
    """Without the answers whose content was left out where the same GET has one with content."""
    with_content = {record.url for record in read if _is_get(record) and not _is_left_out(record)}
    return [record for record in read
            if not (_is_get(record) and _is_left_out(record) and record.url in with_content)]


def _is_get(record: Recorded | Channel) -> TypeGuard[Recorded]:
    return isinstance(record, Recorded) and record.method == "GET" and record.status == 200


def _is_left_out(record: Recorded) -> bool:
    return record.answer is _left_out


def _note(notes: list[str], number: int, text: str) -> None:
    notes.append(f"entry {number}: {text}")


def _entries(path: Path) -> list[Any]:
    try:
        document = json.loads(read_named(path, limits.HAR))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error}); not a HAR") from None
    if not isinstance(document, dict) or not isinstance(document.get("log"), dict):
        raise InputError(f"{path}: field log: missing; not a HAR")
    entries = document["log"].get("entries")
    if not isinstance(entries, list):
        raise InputError(f"{path}: field log.entries: has to be a list")
    return entries


def _since(started: float, time: float) -> float:
    return max(0.0, round(time - started, 6))


def _from(started: float, number: int, channel: Channel) -> Channel:
    messages = tuple(replace(message, time=_since(started, message.time)) for message in channel.messages)
    return replace(channel, number=number, time=_since(started, channel.time), messages=messages)


def _sent_at(entry: Any) -> float:
    """Seconds since 1970 when a request was sent; 0 when it is not told."""
    started = entry.get("startedDateTime") if isinstance(entry, dict) else None
    if not isinstance(started, str):
        return 0.0
    try:
        sent_at = datetime.fromisoformat(started.strip())
        seconds = (sent_at if sent_at.tzinfo else sent_at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0.0
    return seconds if 0 < seconds < limits.WALL else 0.0


def _read(entry: Any, time: float, folder: Path, tabs: "_Tabs", note: Callable[[str], None]
          ) -> Recorded | Channel | None:
    """An entry; None for what no server answers, as data: addresses."""
    request = _object(entry, "request")
    url = request.get("url")
    if not isinstance(url, str) or not url:
        raise _Unreadable("field request.url: missing")
    scheme = split_address(url).scheme.lower()
    if scheme in _CHANNELS or entry.get("_resourceType") == "websocket" or "_webSocketMessages" in entry:
        return Channel(0, time, "websocket", _websocket(url), _messages(entry, "_webSocketMessages", time))
    if scheme not in _SERVED:
        return None
    if entry.get("_eventSourceMessages"):
        return Channel(0, time, "eventsource", url, _messages(entry, "_eventSourceMessages", time))
    return _exchange(entry, request, time, folder, tabs, note)


def _websocket(url: str) -> str:
    return "ws" + url[4:] if url[:4].lower() == "http" else url


def _exchange(entry: dict[str, Any], request: dict[str, Any], time: float, folder: Path, tabs: "_Tabs",
              note: Callable[[str], None]) -> Recorded:
    response = entry.get("response")
    response = response if isinstance(response, dict) else {}
    method = request.get("method")
    if not isinstance(method, str) or not method:
        raise _Unreadable("field request.method: missing")
    headers = _headers(request)
    status = response.get("status")
    status = status if isinstance(status, int) and not isinstance(status, bool) and 0 < status <= 999 else 0
    answer, answer_headers = _answer(response, status, folder, note if method.upper() != "HEAD" else _say_nothing)
    kind, (tab, top) = _kind(entry, headers, response), tabs.of(entry, headers, status)
    return Recorded(
        0, time, normalized_method(method), request["url"].partition("#")[0], status, answer, answer_headers, headers,
        _body(request, note), kind, top, _text(response, "statusText"),
        _text(entry, "_failure") if status else _failure(entry, response), tab,
        is_content_required=method.upper() != "HEAD")


def _object(value: Any, name: str) -> dict[str, Any]:
    nested = value.get(name) if isinstance(value, dict) else None
    if not isinstance(nested, dict):
        raise _Unreadable(f"field {name}: missing" if isinstance(value, dict) else "has to be an object")
    return nested


def _text(value: dict[str, Any], name: str) -> str:
    text = value.get(name)
    return text if isinstance(text, str) else ""


def _failure(entry: dict[str, Any], response: dict[str, Any]) -> str:
    for reason in (_text(response, "_error"), _text(response, "_failureText"), _text(entry, "_failure"),
                   _text(entry, "_error")):
        if reason:
            return reason
    return "no answer"


def _headers(message: dict[str, Any]) -> Headers:
    """Headers without those of HTTP/2 that are none (`:method`)."""
    lines = message.get("headers")
    return tuple((line["name"], value) for line in (lines if isinstance(lines, list) else ())
                 if isinstance(line, dict) and isinstance(line.get("name"), str) and isinstance(line.get("value"), str)
                 and line["name"] and not line["name"].startswith(":")
                 for value in line["value"].split("\n"))


def _body(request: dict[str, Any], note: Callable[[str], None]) -> bytes | None:
    """What was sent: as a text or as the fields of a form."""
    post_data = request.get("postData")
    if not isinstance(post_data, dict):
        return None
    if text := _text(post_data, "text"):
        if post_data.get("encoding") != "base64":
            return _utf8(text)
        if (content := _unpacked(text)) is None:
            note("field request.postData.text: not base64; read as text")
        return _utf8(text) if content is None else content
    params = post_data.get("params")
    fields = [field for field in (params if isinstance(params, list) else ()) if isinstance(field, dict)]
    if not fields:
        return None
    if _text(post_data, "mimeType").lower().startswith("multipart/"):
        return b"".join(map(_part, fields)) + _utf8(f"--{_BOUNDARY}--\r\n")
    return _utf8(urlencode([(_text(field, "name"), _text(field, "value")) for field in fields], errors="replace"))


def _part(field: dict[str, Any]) -> bytes:
    head = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="{_text(field, "name")}"'
    if name := _text(field, "fileName"):
        head += f'; filename="{name}"\r\nContent-Type: {_text(field, "contentType") or "application/octet-stream"}'
    return _utf8(f"{head}\r\n\r\n{_text(field, 'value')}\r\n")


def _answer(response: dict[str, Any], status: int, folder: Path, note: Callable[[str], None]
            ) -> tuple[Callable[[], bytes | None], Headers]:
    """What reads the content of an answer, and the headers that tell of it."""
    headers = _headers(response)
    if 300 <= status < 400 and not header(headers, "location") and (aim := _text(response, "redirectURL")):
        headers = (*headers, ("Location", aim))
    content_data = response.get("content")
    content_data = content_data if isinstance(content_data, dict) else {}
    text = content_data.get("text")
    if isinstance(text, str) and content_data.get("encoding") == "base64":
        content = _unpacked(text)
        if content is None:
            note("field response.content.text: not base64; its content is skipped")
        return partial(_constant, content), _typed(headers, content_data)
    if isinstance(text, str) and (text or "_file" not in content_data):
        return partial(_constant, _utf8(text)), _in_utf8(_typed(headers, content_data), text)
    if isinstance(name := content_data.get("_file"), str):
        return _read_sidecar(folder, name, note), _typed(headers, content_data)
    if status in _NO_CONTENT or 300 <= status < 400 or (status and _is_empty(response, content_data, headers)):
        return partial(_constant, b""), _typed(headers, content_data)
    if status:
        note("its content was left out; the request is missing")
    return _left_out, _typed(headers, content_data)


def _left_out() -> bytes | None:
    """Reads the content of an answer that the HAR does not have."""
    return None


def _is_empty(response: dict[str, Any], content: dict[str, Any], headers: Headers) -> bool:
    """Whether an answer without text had no content, as far as sizes tell (-1: unknown)."""
    sizes = [content.get("size"), response.get("bodySize")]
    known = [size for size in sizes if isinstance(size, int) and size >= 0]
    length = header(headers, "content-length").strip()
    return max(known) == 0 if known else length == "0"


def _say_nothing(_: str) -> None:
    """For an answer that has no content: of HEAD."""


def _constant(content: bytes | None) -> bytes | None:
    return content


def _read_sidecar(folder: Path, name: str, note: Callable[[str], None]) -> Callable[[], bytes | None]:
    """What reads a content that lies in a file beside the HAR."""
    if not name or name != Path(name).name or set(name) & set("/\\:\0") or name in (".", ".."):
        note("field response.content._file: not the plain name of a file beside the HAR; its content is skipped")
        return partial(_constant, None)
    path = folder / name
    if path.is_symlink() or not path.is_file():
        note(f"field response.content._file: no file {name!r} beside the HAR; its content is skipped")
        return partial(_constant, None)
    return partial(_read_file, path)


def _read_file(path: Path) -> bytes | None:
    try:
        return read_inside(path, limits.BLOB)
    except (OSError, InputError):
        return None


def _typed(headers: Headers, content: dict[str, Any]) -> Headers:
    """Headers with the media type, which a HAR may have told with the content alone."""
    kind = _text(content, "mimeType")
    if header(headers, "content-type") or not kind or kind == "x-unknown" or "\n" in kind:
        return headers
    return (*headers, ("Content-Type", kind))


def _in_utf8(headers: Headers, text: str) -> Headers:
    """Headers that say UTF-8 where it counts: text in a HAR was decoded, so it is served in that."""
    if text.isascii():
        return headers
    return tuple((name, _with_charset(value) if name.lower() == "content-type" else value) for name, value in headers)


def _with_charset(kind: str) -> str:
    return f"{kind.partition(';')[0].strip()}; charset=utf-8"


def _unpacked(text: str) -> bytes | None:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _kind(entry: dict[str, Any], headers: Headers, response: dict[str, Any]) -> str:
    """What asked, as Chrome calls it."""
    resource_type = _text(entry, "_resourceType").lower()
    if resource_type in RESOURCE_KINDS:
        return resource_type
    if aim := header(headers, "sec-fetch-dest").lower():
        return _KINDS.get(aim, "other")
    content = response.get("content")
    kind = _text(content, "mimeType").lower() if isinstance(content, dict) else ""
    for part, name in (("html", "document"), ("css", "stylesheet"), ("javascript", "script"), ("image/", "image"),
                       ("font", "font"), ("json", "fetch"), ("video/", "media"), ("audio/", "media")):
        if part in kind:
            return name
    return "other"


class _Tabs:
    """Which tab asked, and whether for its own document, as far as a HAR tells."""

    def __init__(self) -> None:
        self._tabs: dict[str, int] = {}
        self._frames: dict[str, str] = {}  # the first frame of each page is its main one
        self._begun: set[str] = set()  # pages whose document came

    def of(self, entry: dict[str, Any], headers: Headers, status: int) -> tuple[int, bool]:
        """The tab of an entry, and whether it is a document of the tab."""
        page = _text(entry, "pageref")
        tab = entry.get("_tab")
        if not isinstance(tab, int) or isinstance(tab, bool) or not 0 < tab < 10**6:
            tab = self._tabs.setdefault(page, len(self._tabs) + 1) if page.startswith("page@") else 1
        return tab, self._is_top(entry, headers, status, page)

    def _is_top(self, entry: dict[str, Any], headers: Headers, status: int, page: str) -> bool:
        frame = _text(entry, "_frameref")
        main = not frame or self._frames.setdefault(page, frame) == frame
        if aim := header(headers, "sec-fetch-dest"):
            return aim.lower() == "document"
        kind = _text(entry, "_resourceType").lower()
        if kind and kind != "document":
            return False
        if not kind and (not header(headers, "accept").lower().startswith(("text/html", "application/xhtml"))
                         or header(headers, "x-requested-with")):
            return False
        if not frame and page and not page.startswith("page@"):  # Chrome: a page for each document of a tab
            main = page not in self._begun
            if not 300 <= status < 400:
                self._begun.add(page)
        return main


def _messages(entry: dict[str, Any], name: str, time: float) -> tuple[Message, ...]:
    """What a channel carried, in order. Browsers tell of no closing."""
    raw_messages = entry.get(name)
    messages = [message for raw_message in (raw_messages if isinstance(raw_messages, list) else ())
                if (message := _message(raw_message, time)) is not None]
    return tuple(sorted(messages, key=lambda message: message.time))


def _message(raw_message: Any, opened: float) -> Message | None:
    data = raw_message.get("data") if isinstance(raw_message, dict) else None
    if not isinstance(data, str):
        return None
    raw_time = raw_message.get("time")
    time = float(raw_time) if isinstance(raw_time, int | float) and 0 < raw_time < limits.WALL else opened
    if "type" not in raw_message:  # of an EventSource
        return Message(time, "received", data, _text(raw_message, "eventName"), _text(raw_message, "eventId"))
    direction = "sent" if raw_message["type"] in ("send", "request") else "received"
    content = _unpacked(data) if raw_message.get("opcode") == _BINARY else None
    if raw_message.get("opcode", 1) not in (0, 1, _BINARY):
        return None
    return Message(time, direction, data if content is None else content)
