"""The archives of a recording, HAR and MHTML: what the exported turns need, after redaction."""

import base64
import email
import email.charset
import email.policy
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import zstandard

from pipeline.privacy.redacting import Redactor
from recorder import Recording
from schemas import InputError, limits
from schemas.files import read_inside, reason

from .needed_content import NeededContent

NOT_NEEDED = "request left out of a HAR (of turns that are not exported)"
_MAX_BODY = 64 << 20  # bytes of a compressed body that is looked into
_NESTED = 4  # times that a body may be compressed
_CODE = re.compile("javascript|ecmascript|css|wasm|font|image|audio|video", re.IGNORECASE)
_DRAWING = "image/svg+xml"  # the one kind of picture that is text
_PAGES = ("text/html", "text/plain", "application/xhtml+xml", _DRAWING)
_POLICY = email.policy.compat32.clone(linesep="\r\n", max_line_length=None)
_UTF8 = email.charset.Charset("utf-8")
_UTF8.body_encoding = email.charset.QP


def clean_har(recording: Recording, needed: NeededContent, known: Redactor, notes: Counter[str]) -> bytes:
    """The recording's HAR with the entries that are needed, without what is known or found in it; as it is when nothing
    is to be changed. `notes` counts what is left out. Raises InputError."""
    path = recording.layout.har
    try:
        content = read_inside(path, limits.HAR)
        har = json.loads(content)
        not_needed = 0 if needed.everything else _leave_out_entries(har, needed, recording.manifest["started_at"])
        clean, bodies = redact_har(har, known)
        notes.update({NOT_NEEDED: not_needed, "compressed body left out of a HAR (personal data)": bodies})
        return content if clean is har and not not_needed else json.dumps(clean).encode("ascii")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a HAR ({error}); record the task again") from None


def redact_har(har: Any, known: Redactor) -> tuple[Any, int]:
    """A HAR with what is known, or found in it, replaced in every text and in bodies in base64; the same object when
    nothing is. A compressed body that has it, or cannot be decoded, is left out: the second value is their number.

    Raises ValueError for a body that is not base64.
    """
    known = known.knowing(_texts(har))
    if not known.known:
        return har, 0
    left_out = sum(_clean_body(body, known) for body in _bodies(har))
    return known.everything(har), left_out


def _leave_out_entries(har: Any, needed: NeededContent, started: datetime) -> int:
    """Remove the entries that are not needed, and those without a time; returns how many."""
    try:
        log, entries = har["log"], har["log"]["entries"]
    except (TypeError, KeyError):
        return 0
    if not isinstance(entries, list):
        return 0
    log["entries"] = [entry for entry in entries if _is_needed(entry, needed, started)]
    return len(entries) - len(log["entries"])


def _is_needed(entry: Any, needed: NeededContent, started: datetime) -> bool:
    """Whether an entry is needed. One that another turn caused loses its Referer, the address of that turn's page."""
    try:
        time = (datetime.fromisoformat(entry["startedDateTime"]) - started).total_seconds()
        url, headers = str(entry["request"]["url"]), entry["request"].get("headers") or []
        if not needed.is_of_exported_turn(time):
            entry["request"]["headers"] = [header for header in headers if header["name"].lower() != "referer"]
        tab = entry.get("_tab")
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return False
    return needed.needs(tab if isinstance(tab, int) else None, time, url=url)


def _texts(value: Any) -> Iterator[str]:
    """What a HAR says: all texts but those of programs, styles and in base64, where nobody's data are expected."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)
    elif isinstance(value, dict):
        kind = str(value.get("mimeType", ""))[:100]
        if value.get("encoding") == "base64" or (_CODE.search(kind) and not kind.startswith(_DRAWING)):
            return
        for member in value.values():
            yield from _texts(member)


def _bodies(value) -> Iterator[dict[str, Any]]:
    """Every content in base64, wherever it stands (HAR 1.2, content)."""
    if isinstance(value, dict):
        if value.get("encoding") == "base64" and isinstance(value.get("text"), str):
            yield value
        for member in value.values():
            yield from _bodies(member)
    elif isinstance(value, list):
        for member in value:
            yield from _bodies(member)


def _clean_body(body: dict[str, Any], known: Redactor) -> bool:
    """Replace what is known in a body; empty it, and tell so, when it is compressed and holds it or may hold it."""
    content: bytes | None = base64.b64decode(body["text"])
    for _ in range(_NESTED):
        packed = content or b""
        unpack = next((unpack for magic, unpack in _PACKED if packed.startswith(magic)), None)
        if unpack is None:
            break
        try:
            content = unpack(packed)
        except (ValueError, zlib.error, zstandard.ZstdError):
            content = None
        if content is None:
            break
    else:
        content = None
    clean = None if content is None else known.markup(content)
    if clean is not None and clean == content:
        return False
    if clean is not None and content == base64.b64decode(body["text"]):
        body["text"] = base64.b64encode(clean).decode("ascii")
        return False
    body |= {"text": "", "comment": "left out: compressed, with personal data or not to be looked into"}
    body.pop("encoding")
    return True


def _inflate(content: bytes) -> bytes:
    """gzip or zlib (RFC 1952, 1950); raises ValueError when it is cut off or too large."""
    inflated = bytearray()
    while content:
        packed = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
        inflated += packed.decompress(content, _MAX_BODY - len(inflated) + 1)
        if len(inflated) > _MAX_BODY or not packed.eof:
            raise ValueError("cut off or too large")
        content = packed.unused_data
    return bytes(inflated)


def _unzstd(content: bytes) -> bytes:
    with zstandard.ZstdDecompressor().stream_reader(content, read_across_frames=True) as reader:
        inflated = reader.read(_MAX_BODY + 1)
    if len(inflated) > _MAX_BODY:
        raise ValueError("too large")
    return inflated


def _skip(content: bytes) -> None:
    """Archives that are not looked into."""


_PACKED = ((b"\x1f\x8b", _inflate), (b"\x78\x01", _inflate), (b"\x78\x9c", _inflate), (b"\x78\xda", _inflate),
           (b"\x28\xb5\x2f\xfd", _unzstd), (b"PK\x03\x04", _skip), (b"BZh", _skip), (b"\xfd7zXZ", _skip),
           (b"7z\xbc\xaf\x27\x1c", _skip), (b"Rar!", _skip))


def mhtml_without(content: bytes, known: Redactor) -> bytes:
    """An MHTML file (RFC 2557) with what is known, or found in its pages, replaced in its headers and texts; as it is
    when nothing is."""
    message = email.message_from_bytes(content, policy=_POLICY)
    known = known.knowing(payload.decode("utf-8", "replace") for part in message.walk()
                          if part.get_content_type() in _PAGES
                          and isinstance(payload := part.get_payload(decode=True), bytes))
    if not known.known:
        return content
    for part in message.walk():
        for name, value in part.items():
            if (clean := known.text(value)) != value:
                part.replace_header(name, clean)
        if part.get_content_maintype() != "text" and part.get_content_type() != _DRAWING:
            continue
        payload = part.get_payload(decode=True)
        if not isinstance(payload, bytes):
            continue
        text = payload.decode("utf-8", "replace")
        if (clean := known.text(text)) != text:
            del part["Content-Transfer-Encoding"]
            part.set_payload(clean, _UTF8)
    return message.as_bytes()
