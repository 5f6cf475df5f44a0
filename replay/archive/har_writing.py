"""Writes what was kept of a session's network as HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec/).

Entries stand in the order in which they were asked for. What is not UTF-8, also of what was sent, stands in base64;
WebSockets and EventSources have no form in a HAR and are left out.
"""

import base64
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from schemas.addresses import split_address
from schemas.files import written_atomically

from .exchanges import Archive, Headers, Recorded, header, is_text, software

_UNKNOWN = -1
_LATEST = 253_402_300_799  # seconds since 1970, of the last year that a date can tell


def write_har(archive: Archive, path: Path) -> None:
    """Write a HAR; the file is whole or absent. One answer is in memory at a time."""
    name, _, version = software().partition(" ")
    head = {"log": {"version": "1.2", "creator": {"name": name, "version": version}, "pages": [], "entries": []}}
    with written_atomically(path) as file:
        file.write(json.dumps(head).removesuffix("]}}").encode())
        for number, exchange in enumerate(archive.exchanges):
            file.write((",\n" if number else "\n").encode() + json.dumps(_entry(exchange, archive.started)).encode())
        file.write(b"\n]}}\n")


def _entry(exchange: Recorded, started: float) -> dict[str, Any]:
    sent_at = datetime.fromtimestamp(min(max(started + exchange.time, 0), _LATEST), UTC)
    time = round(exchange.duration * 1000, 3)
    return {"startedDateTime": sent_at.isoformat(timespec="microseconds"), "time": time,
            "request": _request(exchange), "response": _response(exchange), "cache": {},
            "timings": {"send": 0, "wait": time, "receive": 0}, "_tab": exchange.tab, "_resourceType": exchange.kind,
            **({"_failure": exchange.failure} if exchange.failure else {})}


def _request(exchange: Recorded) -> dict[str, Any]:
    kind = header(exchange.headers, "content-type")
    entry = {"method": exchange.method, "url": exchange.url, "httpVersion": "HTTP/1.1",
             "headers": _headers(exchange.headers), "cookies": _cookies(exchange.headers, "cookie"),
             "queryString": [{"name": name, "value": value} for name, value in
                             parse_qsl(split_address(exchange.url).query, keep_blank_values=True)],
             "headersSize": _UNKNOWN, "bodySize": len(exchange.body or b"")}
    if exchange.body is not None:
        entry["postData"] = {"mimeType": kind, **_content_text(exchange.body)}
    return entry


def _response(exchange: Recorded) -> dict[str, Any]:
    kind = header(exchange.answer_headers, "content-type") or "x-unknown"
    content = exchange.answer() if exchange.status else None
    return {"status": exchange.status or _UNKNOWN, "statusText": exchange.status_text, "httpVersion": "HTTP/1.1",
            "headers": _headers(exchange.answer_headers), "cookies": _cookies(exchange.answer_headers, "set-cookie"),
            "content": {"size": len(content or b""), "mimeType": kind, **_text(content, kind)},
            "redirectURL": header(exchange.answer_headers, "location") if 300 <= exchange.status < 400 else "",
            "headersSize": _UNKNOWN, "bodySize": _UNKNOWN}


def _text(content: bytes | None, kind: str) -> dict[str, str]:
    if content is None:
        return {}
    return _content_text(content) if is_text(kind) else _base64(content)


def _content_text(content: bytes) -> dict[str, str]:
    try:
        return {"text": content.decode()}
    except UnicodeDecodeError:
        return _base64(content)


def _base64(content: bytes) -> dict[str, str]:
    return {"text": base64.b64encode(content).decode(), "encoding": "base64"}


def _headers(headers: Headers) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers]


def _cookies(headers: Headers, name: str) -> list[dict[str, str]]:
    lines = [value for key, value in headers if key.lower() == name]
    pairs = [pair for line in lines for pair in (line.split(";")[:1] if name == "set-cookie" else line.split(";"))]
    return [{"name": key.strip(), "value": value} for key, equals, value in (pair.partition("=") for pair in pairs)
            if equals]
