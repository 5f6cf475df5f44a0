"""Turn a recorded exchange into a response: content, headers and cookies. Pure functions."""

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from functools import cache
from pathlib import Path

from replay.archive.exchanges import Headers, Recorded, Request, header, is_text
from schemas import InputError

from .matching import Match

_LEFT_OUT = frozenset((
    "content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection",
    "alt-svc", "upgrade", "trailer", "report-to", "nel", "reporting-endpoints", "content-security-policy-report-only",
    "accept-ranges", "public-key-pins", "expect-ct",
))
_NO_CONTENT = (204, 304)
STILL_OPEN, _STOPPED = "open", "net::ERR_ABORTED"  # failures of an exchange
_LENGTH_DIGITS = 15
_READ_IN_PIECES = ("fetch", "xhr", "eventsource", "other")
_DOCUMENTS = ("document", "iframe", "frame")
_HEAD = re.compile(rb"<head(?:\s[^>]{0,2000})?>", re.I)
_OPENING = re.compile(rb"\s*(?:<!doctype[^>]{0,500}>\s*)?(?:<html(?:\s[^>]{0,2000})?>)?", re.I)
_HEAD_BYTES = 8192  # bytes in which a document's head begins
_MISSING = b"demotape: this is not in the recording\n"


@dataclass(frozen=True)
class Answer:
    """What goes to the browser. `cut`: the connection ends behind it, as the recorded one did, with status 0 before
    anything; `stays_open`: nothing comes behind it, with status 0 nothing at all, and the connection stays open.
    `length`: of what HEAD asks about."""

    status: int
    headers: Headers = ()
    content: bytes = b""
    status_text: str = ""
    cut: bool = False
    stays_open: bool = False
    length: int | None = None


def missing() -> Answer:
    """What is given for a request that was not recorded."""
    return Answer(504, (("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store"),
                        ("Access-Control-Allow-Origin", "*"), ("X-Demotape", "not recorded")), _MISSING)


def preflight(request: Request) -> Answer:
    """What a CORS preflight is given: whatever it asks for, as what follows is only ever answered by the recording."""
    origin = header(request.headers, "origin")
    return Answer(204, (
        ("Access-Control-Allow-Origin", origin or "*"), ("Access-Control-Allow-Credentials", "true"),
        ("Access-Control-Allow-Methods", header(request.headers, "access-control-request-method") or "GET"),
        ("Access-Control-Allow-Headers", header(request.headers, "access-control-request-headers") or "*"),
        ("Access-Control-Allow-Private-Network", "true"), ("Vary", "Origin")))


def is_beacon(request: Request) -> bool:
    """Whether a page tells something without being able to see what it is answered, such as with `sendBeacon` when it
    is left: browsers do not tell recorders of all these."""
    return (request.method.upper() == "POST" and header(request.headers, "sec-fetch-mode") == "no-cors"
            and header(request.headers, "sec-fetch-dest") == "empty")


def answer(request: Request, match: Match, started: float) -> Answer:
    """The answer of a recorded exchange to a request. `started`: wall clock at the recording's time 0.

    Raises InputError if its content was left out of the archive or is damaged.
    """
    exchange = match.exchange
    if exchange.status == 0:
        return Answer(0, stays_open=True) if exchange.failure == STILL_OPEN else Answer(0, cut=True)
    began = started + exchange.ended
    content = exchange.answer()
    if content is None and exchange.is_content_required and exchange.status not in _NO_CONTENT:
        raise InputError(f"{exchange.url[:200]}: its content is not in the archive")
    content = content or b""
    headers = tuple((name, _shifted(value, began) if name.lower() == "set-cookie" else value)
                    for name, value in exchange.answer_headers
                    if name.lower() not in _LEFT_OUT and not name.startswith(":"))
    kind = header(headers, "content-type").lower()
    if exchange.decoded and is_text(kind):
        headers = tuple((name, _in_utf8(value) if name.lower() == "content-type" else value) for name, value in headers)
    elif exchange.charset and is_text(kind) and "charset" not in kind:  # which the browser would have to guess again
        headers = tuple((name, f"{value}; charset={exchange.charset}" if name.lower() == "content-type" else value)
                        for name, value in headers)
    for recorded, actual in match.carried:
        if is_text(kind):
            content = content.replace(recorded.encode(), actual.encode())
        headers = tuple((name, value.replace(recorded, actual)) for name, value in headers)
    if _is_document(request, exchange) and "html" in kind and "xhtml" not in kind:
        script = page_script(began, exchange.seed if exchange.seed is not None else _seed_of(exchange.url))
        content, headers = _with_script(content, script), tuple(_admitting(headers, script))
    status = 200 if exchange.status == 304 and content else exchange.status
    complete = Answer(status, headers, b"" if status in _NO_CONTENT else content, exchange.status_text,
                   length=_length(exchange) if exchange.method == "HEAD" else None)
    if exchange.failure and request.method != "HEAD" and not _is_all(exchange, content):
        return _ended_early(exchange, complete)
    return _ranged(request, complete)


def _length(exchange: Recorded) -> int | None:
    """How long an answer says that its content is, unpacked; None where it does not."""
    length = header(exchange.answer_headers, "content-length")
    packed = header(exchange.answer_headers, "content-encoding")
    return int(length) if length.isdecimal() and len(length) <= _LENGTH_DIGITS and not packed else None


def _is_all(exchange: Recorded, content: bytes) -> bool:
    """Whether all of an answer came, though it is said to have ended early: as of one that nobody read."""
    if exchange.status in _NO_CONTENT or exchange.method == "HEAD":
        return True
    return _length(exchange) == len(content)


def _ended_early(exchange: Recorded, complete: Answer) -> Answer:
    """What had come of an answer, and the end that it had: it was left open, the page stopped reading, or it broke."""
    if exchange.failure == STILL_OPEN:
        return replace(complete, stays_open=True)
    if exchange.failure != _STOPPED:
        return replace(complete, cut=True)
    if exchange.kind in _DOCUMENTS or not complete.content:
        return complete
    return replace(complete, stays_open=exchange.kind in _READ_IN_PIECES, cut=exchange.kind not in _READ_IN_PIECES)


def _in_utf8(kind: str) -> str:
    """A media type whose text is UTF-8."""
    parts = [part for part in kind.split(";") if not part.strip().lower().startswith("charset")]
    return ";".join([*parts, " charset=utf-8"])


def page_script(began: float, seed: int) -> str:
    """Source that sets a document's clock (`began`: seconds since 1970) and what is random in it."""
    return f"{_page_clock()}({json.dumps({'began': round(began * 1000), 'seed': seed & 0xFFFFFFFF})})"


@cache
def _page_clock() -> str:
    text = (Path(__file__).parent / "page_clock.js").read_text(encoding="utf-8")
    return "\n".join(line for line in text.strip().splitlines() if not line.lstrip().startswith("//"))


def _seed_of(url: str) -> int:
    return int.from_bytes(hashlib.sha256(url.encode("utf-8", "surrogatepass")).digest()[:4], "big")


def _is_document(request: Request, exchange: Recorded) -> bool:
    aim = header(request.headers, "sec-fetch-dest")
    return aim in _DOCUMENTS if aim else exchange.kind == "document"


def _with_script(content: bytes, script: str) -> bytes:
    """A document with a script before anything of its own; as it is where it is not written in a kind of ASCII."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content
    start = content[:_HEAD_BYTES]
    tag = _HEAD.search(start) or _OPENING.match(start)
    offset = tag.end() if tag else 0
    return content[:offset] + b"<script>" + script.encode() + b"</script>" + content[offset:]


def _admitting(headers: Headers, script: str) -> Iterable[tuple[str, str]]:
    """Headers whose content security policies let the script run."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    for name, value in headers:
        if name.lower() == "content-security-policy":
            value = ", ".join(_policy(policy, f"'sha256-{digest}'") for policy in value.split(","))
        yield name, value


def _policy(policy: str, source: str) -> str:
    """One policy that admits a source; of the directives that speak of scripts, the one that counts is changed."""
    directives = [directive.split() for directive in policy.split(";")]
    directives = [directive for directive in directives if directive and directive[0].lower() != "sandbox"] + [
        directive for directive in directives if directive and directive[0].lower() == "sandbox"]
    for wanted in ("script-src-elem", "script-src", "default-src"):
        for directive in directives:
            if directive[0].lower() != wanted:
                continue
            sources = [source_word.lower() for source_word in directive[1:]]
            hashed = any(source_word.startswith(("'nonce-", "'sha")) or source_word == "'strict-dynamic'"
                         for source_word in sources)
            if "'unsafe-inline'" not in sources or hashed:
                retained = [source_word for source_word in directive[1:] if source_word.lower() != "'none'"]
                directive[1:] = [*retained, source]
            return "; ".join(map(" ".join, directives))
    return "; ".join(map(" ".join, directives))


def _shifted(cookie: str, began: float) -> str:
    """A cookie that lives as long from now as it did from then: the browser's own clock is not the recording's."""
    parts = cookie.split(";")
    retained = [part for part in parts if part.strip().partition("=")[0].lower() != "expires"]
    if len(retained) == len(parts) or any(part.strip().lower().startswith("max-age=") for part in parts):
        return ";".join(retained)
    expires = next(part for part in parts if part.strip().lower().startswith("expires")).partition("=")[2].strip()
    try:
        seconds = int(parsedate_to_datetime(expires).timestamp() - began)
    except (ValueError, TypeError, OverflowError):
        return ";".join(retained)
    return ";".join([*retained, f" Max-Age={max(0, seconds)}"])


_RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})")


def _ranged(request: Request, answer: Answer) -> Answer:
    """The part of an answer that is asked for."""
    requested = _RANGE.fullmatch(header(request.headers, "range").replace(" ", ""))
    if answer.status != 200 or not requested or not any(requested.groups()) or not answer.content:
        return answer
    size, (first, last) = len(answer.content), requested.groups()
    begin = int(first) if first else max(0, size - int(last))
    end = min(int(last) if first and last else size - 1, size - 1)
    if begin > end:
        return Answer(416, (*answer.headers, ("Content-Range", f"bytes */{size}")))
    return Answer(206, (*answer.headers, ("Content-Range", f"bytes {begin}-{end}/{size}")),
                  answer.content[begin:end + 1], "Partial Content")
