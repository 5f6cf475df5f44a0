"""Seeded plans of exchanges: what a page asks for, how a server answers, and how the answer ends."""

import gzip
import random
import struct
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import brotli
import zstandard

from schemas.text import encode_windows_1252

# Addresses of loopback: a browser opens six connections to one.
OTHER_HOSTS = tuple(f"127.0.0.{number}" for number in range(2, 42))
_LARGEST = 50 << 20  # bytes of the largest answer
_SIZES = (0, 1, 2, 100, 1000, 4096, 65_535, 65_536, 300_000)
_PART_BYTES = (1, 7, 500, 20_000)  # what comes of an answer before its end
_WORDS = {
    "utf-8": "Zürich naïve Привет 日本語 emoji 😀 plain words and lines\n",
    "windows-1252": "café “quoted” 20 € naïve\n", "iso-8859-1": "café naïve Ünïcode\n",
    "windows-1251": "Сегодня и завтра\n", "koi8-r": "Сегодня и завтра\n", "shift_jis": "日本語の文章\n",
    "euc-kr": "한국어 문장\n", "gb18030": "中文句子\n", "utf-16le": "wide Привет\n", "utf-16be": "wide Привет\n",
    "big5": "中文句子\n", "iso-8859-2": "Příliš žluťoučký\n", "": "plain café\n",
}
CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes, "gzip": gzip.compress, "br": lambda content: brotli.compress(content, quality=4),
    "zstd": zstandard.compress, "deflate": zlib.compress,
    "gzip, br": lambda content: brotli.compress(gzip.compress(content), quality=4),
}


@dataclass(frozen=True)
class Planned:
    """One exchange. `by`: what asks; `read`: how the page reads the answer; `sent`: kind of the request's body.

    `ending`: whole, cut (the connection breaks), stopped (by the page) or open; of those but the first `came` bytes
    are sent. `first`: what else the server does.
    """

    number: int
    kind: str
    by: str = "fetch"
    method: str = "GET"
    status: int = 200
    media: str = "application/octet-stream"
    content: bytes = b""
    coding: str = ""
    framing: str = "length"
    ending: str = "whole"
    came: int = 0
    sent: str = ""
    size: int = 0  # bytes of the request's body
    read: str = "arrayBuffer"
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def host(self) -> str:
        """The address of loopback to which it is sent."""
        return OTHER_HOSTS[self.number % len(OTHER_HOSTS)] if self.extra.get("elsewhere") else "127.0.0.1"

    def for_page(self, port: int) -> dict[str, Any]:
        """Its fields without the content, and its addresses, for the page that makes the exchange."""
        fields = asdict(self)
        del fields["content"]
        path = f"{self.host}:{port}/x/{self.number}"
        return {**fields, "url": f"http://{path}", "socketUrl": f"ws://{path}"}


def text_in(chance: random.Random, charset: str, size: int) -> bytes:
    """Text of about a size; without a charset in the one that browsers assume."""
    words = _WORDS[charset]
    text = "".join(chance.choice(words) for _ in range(min(size, 2000)))
    text = (text * (size // max(1, len(text)) + 1))[:size]
    if charset in ("", "windows-1252"):
        return encode_windows_1252(text)
    return text.encode(charset.replace("utf-16le", "utf-16-le").replace("utf-16be", "utf-16-be"))


def _media(chance: random.Random, size: int) -> tuple[str, bytes]:
    """A media type and content for it."""
    charset = chance.choice(list(_WORDS))
    named = f"; charset={chance.choice((charset, charset.upper()))}" if charset and chance.random() < 0.7 else ""
    return chance.choice((
        ("application/octet-stream", chance.randbytes(size)),
        ("text/plain", chance.randbytes(size)), (f"text/plain{named}", chance.randbytes(size)),
        (f"text/plain{named}", text_in(chance, charset, size)), (f"text/css{named}", text_in(chance, charset, size)),
        (f"text/csv{named}", text_in(chance, charset, size)), (f"text/html{named}", text_in(chance, charset, size)),
        (f"application/xml{named}", text_in(chance, charset, size)),
        ("application/json", text_in(chance, "utf-8", size)), (f"application/json{named}", chance.randbytes(size)),
        ("text/plain; charset=utf-8", b"\xef\xbb\xbf" + text_in(chance, "utf-8", size)),
        ("text/plain", b"\xff\xfe" + text_in(chance, "utf-16le", size)),
        ("application/wasm", chance.randbytes(size)), ("", chance.randbytes(size)), ("x/y", text_in(chance, "", size)),
        ("multipart/form-data; boundary=b", chance.randbytes(size)), ("image/svg+xml", text_in(chance, "", size)),
    ))


def png(chance: random.Random) -> bytes:
    """A picture of random pixels."""
    width, height = chance.choice(((1, 1), (20, 10), (200, 100)))
    rows = b"".join(b"\0" + chance.randbytes(width * 3) for _ in range(height))

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def wav(chance: random.Random) -> bytes:
    """A sound of some seconds."""
    samples = chance.randbytes(chance.choice((8000, 200_000, 800_000)))
    return (b"RIFF" + struct.pack("<I", 36 + len(samples)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000,
            8000, 1, 8) + b"data" + struct.pack("<I", len(samples)) + samples)


def _plain(number: int, chance: random.Random) -> Planned:
    media, content = _media(chance, chance.choice(_SIZES))
    return Planned(number, "content", chance.choice(("fetch", "fetch", "xhr")), media=media, content=content,
                   coding=chance.choice(list(CODINGS)), framing=chance.choice(("length", "chunked", "close")),
                   read=chance.choice(("arrayBuffer", "text", "blob", "stream", "clone", "arrayBuffer", "blob")))


def _large(number: int, chance: random.Random) -> Planned:
    size = chance.choice((1 << 20, 5 << 20, 12 << 20, 25 << 20))
    text = chance.random() < 0.5
    content = text_in(chance, "utf-8", size // 2) if text else chance.randbytes(size)
    return replace(_plain(number, chance), kind="large", media="text/plain; charset=utf-8" if text else "",
                   content=content, coding=chance.choice(("", "gzip", "zstd")))


def _status(number: int, chance: random.Random) -> Planned:
    status = chance.choice((201, 202, 203, 204, 205, 226, 299, 300, 400, 401, 403, 404, 405, 410, 418, 422, 429, 451,
                            500, 501, 503, 599))
    empty = status in (204, 205) or chance.random() < 0.3
    media, content = _media(chance, 0 if empty else 200)
    return Planned(number, "status", chance.choice(("fetch", "xhr")), method=chance.choice(("GET", "POST", "PUT")),
                   status=status, media=media, content=b"" if empty else content,
                   extra={"reason": chance.choice(("", "As It Is", "Grüße")), "hints": chance.random() < 0.2})


def _method(number: int, chance: random.Random) -> Planned:
    method = chance.choice(("HEAD", "HEAD", "DELETE", "PUT", "PATCH", "OPTIONS", "REPORT", "PROPFIND", "patch"))
    media, content = _media(chance, chance.choice(_SIZES[:6]))
    return Planned(number, "method", chance.choice(("fetch", "xhr")), method=method, media=media, content=content,
                   coding=chance.choice(("", "gzip")), extra={"elsewhere": chance.random() < 0.3})


def _body(number: int, chance: random.Random) -> Planned:
    sent = chance.choice(("text", "blob", "buffer", "form", "file", "urlencoded", "json", "canvas", "typed blob",
                          "half", "empty", "view", "disk file", "disk form", "sliced disk file"))
    return Planned(number, "body", chance.choice(("fetch", "xhr")), method=chance.choice(("POST", "PUT", "PATCH")),
                   sent=sent, size=chance.choice((1, 10, 3000, 200_000, 3 << 20)), media="text/plain", content=b"done",
                   extra={"elsewhere": chance.random() < 0.2})


def _submitted(number: int, chance: random.Random) -> Planned:
    sent = chance.choice(("application/x-www-form-urlencoded", "multipart/form-data", "text/plain"))
    charset = chance.choice(("utf-8", "windows-1252", "shift_jis"))
    return Planned(number, "form", "form", method=chance.choice(("POST", "POST", "GET")), sent=sent,
                   media="text/html", content=b"<p>sent</p>", size=chance.choice((1, 3000)),
                   extra={"charset": charset, "file": chance.choice(("", "script", "disk"))})


def _early(number: int, chance: random.Random) -> Planned:
    media, content = _media(chance, 50_000)
    by = chance.choice(("fetch", "fetch", "xhr", "worker", "shared"))
    return Planned(number, "early end", by, media=media,
                   content=content, coding=chance.choice(("", "", "gzip", "br", "zstd")),
                   framing=chance.choice(("length", "chunked")), ending=chance.choice(("cut", "stopped", "open")),
                   came=_PART_BYTES[-1] if by == "xhr" else chance.choice(_PART_BYTES), read="stream",
                   extra={"elsewhere": True, "reset": chance.random() < 0.3})


def _unread(number: int, chance: random.Random) -> Planned:
    media, content = _media(chance, chance.choice((0, 10, 3000)))
    return Planned(number, "unread", chance.choice(("fetch", "worker")), media=media, content=content,
                   method=chance.choice(("GET", "POST")), read=chance.choice(("none", "cancel")))


def _mode(number: int, chance: random.Random) -> Planned:
    media, content = _media(chance, chance.choice((0, 10, 3000)))
    mode = chance.choice(("no-cors", "keepalive", "beacon", "cors", "credentials", "ping"))
    return Planned(number, "mode", "beacon" if mode == "beacon" else "ping" if mode == "ping" else "fetch",
                   media=media, content=content,
                   method="GET" if mode == "no-cors" and chance.random() < 0.5 else "POST",
                   read="none" if mode in ("no-cors", "keepalive") else "arrayBuffer",
                   sent="text" if mode in ("beacon", "keepalive") else "", size=500,
                   extra={"mode": mode, "elsewhere": mode in ("no-cors", "cors", "credentials")})


def _no_answer(number: int, chance: random.Random) -> Planned:
    return Planned(number, "no answer", chance.choice(("fetch", "xhr", "img", "worker")),
                   extra={"broken": chance.choice(("empty", "garbage", "reset")), "elsewhere": True})


def _redirected(number: int, chance: random.Random) -> Planned:
    media, content = _media(chance, 300)
    return Planned(number, "redirect", chance.choice(("fetch", "xhr", "iframe", "img", "worker")), media=media,
                   content=content, method=chance.choice(("GET", "POST")), sent="text", size=100,
                   extra={"redirects": chance.choice((1, 2, 5)), "code": chance.choice((301, 302, 303, 307, 308)),
                          "query": chance.choice(("", "?a=b", "?ü=マ", "?a=%FF")), "filled": chance.random() < 0.5})


def _ranged(number: int, chance: random.Random) -> Planned:
    if chance.random() < 0.5:
        return Planned(number, "range", "audio", media="audio/wav", content=wav(chance), extra={"ranges": True})
    content = chance.randbytes(5000)
    value = chance.choice(("bytes=0-99", "bytes=100-", "bytes=-200", "bytes=4999-4999", "bytes=9000-"))
    return Planned(number, "range", chance.choice(("fetch", "xhr")), media="text/plain", content=content,
                   extra={"ranges": True, "headers": {"Range": value}})


def _part(number: int, chance: random.Random) -> Planned:
    by = chance.choice(("img", "script", "module", "style", "font", "iframe", "prefetch", "preload", "import", "track",
                        "object", "background", "json module", "svg", "input"))
    charset = chance.choice(list(_WORDS))
    named = f"; charset={charset}" if charset else ""
    comment = text_in(chance, charset, chance.choice((1, 50, 30_000)))
    wide = charset.startswith("utf-16")
    media, content = {
        "img": ("image/png", png(chance)), "background": ("image/png", png(chance)),
        "input": ("image/png", png(chance)),
        "svg": ("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"),
        "script": (f"text/javascript{named}", (comment if wide else b"/*" + comment + b"*/;1")),
        "module": ("text/javascript", "/*é😀*/export default 1".encode()),
        "import": ("text/javascript; charset=windows-1252", "export const é = '😀'".encode()),
        "json module": ("application/json", '{"é": "😀"}'.encode()),
        "style": (f"text/css{named}", (comment if wide else b"/*" + comment + b"*/p{color:red}")),
        "font": ("font/woff2", chance.randbytes(3000)),
        "iframe": (f"text/html{named}", comment), "object": (f"text/html{named}", comment),
        "prefetch": (f"text/html{named}", comment), "preload": ("application/octet-stream", chance.randbytes(900)),
        "track": ("text/vtt", "WEBVTT\n\n00:00.000 --> 00:01.000\né\n".encode()),
    }[by]
    return Planned(number, "part of a page", by, media=media, content=content,
                   coding=chance.choice(("", "gzip", "br", "zstd")), framing=chance.choice(("length", "chunked")))


def _worker(number: int, chance: random.Random) -> Planned:
    by = chance.choice(("worker", "module worker", "nested worker", "shared", "service", "through service"))
    media, content = _media(chance, chance.choice(_SIZES))
    return Planned(number, "worker", by, media=media, content=content, coding=chance.choice(("", "gzip")),
                   method=chance.choice(("GET", "POST")), sent=chance.choice(("", "blob")), size=2000)


def _cached(number: int, chance: random.Random) -> Planned:
    media, content = _media(chance, chance.choice((10, 3000, 65_536)))
    return Planned(number, "cache", chance.choice(("fetch", "fetch", "img")), media=media, content=content,
                   coding=chance.choice(("", "gzip")),
                   extra={"cache": chance.choice(("no-cache", "force-cache", "default")), "times": 2})


def _stream(number: int, chance: random.Random) -> Planned:
    pieces = []
    for index in range(chance.choice((1, 3, 20))):
        lines = [f"id: {index}é"] if chance.random() < 0.5 else []
        lines += [f"event: {chance.choice(('tick', 'größe', 'message'))}"] if chance.random() < 0.5 else []
        text = chance.choice(("one", "zwei\n\ndrei", "😀 {\"a\": 1}", " x", ""))
        lines += [f"data: {line}" for line in text.split("\n")]
        lines += [": remark"] if chance.random() < 0.2 else []
        pieces.append(chance.choice(("\n", "\r\n", "\r")).join([*lines, "", ""]))
    by = chance.choice(("eventsource", "eventsource", "fetch", "worker eventsource"))
    ending = chance.choice(("whole", "open", "stopped") if by == "fetch" else ("open", "stopped"))
    content = "".join(pieces).encode()
    return Planned(number, "event stream", by, media="text/event-stream", content=content, framing="chunked",
                   ending=ending, came=len(content), read="stream",
                   extra={"elsewhere": True, "pieces": len(pieces), "count": _dispatched(content)})


def _dispatched(content: bytes) -> int:
    """How many events a page is to see: those with data (HTML standard, 9.2.6)."""
    text = content.decode().replace("\r\n", "\n").replace("\r", "\n")
    blocks = text.split("\n\n")[:-1]
    count = 0
    for block in blocks:
        data = [line for line in block.split("\n") if line.startswith("data:")]
        count += bool(data) and "\n".join(line[5:].removeprefix(" ") for line in data) != ""
    return count


def _socket(number: int, chance: random.Random) -> Planned:
    messages: list[dict[str, Any]] = []
    for _ in range(chance.choice((0, 1, 5, 20))):
        data: Any = chance.choice(("", "text é😀", "x" * 70_000, '{"type": "news", "items": [1, 2]}',
                                   chance.randbytes(chance.choice((0, 5, 300_000)))))
        messages.append({"echo": chance.random() < 0.4, "text": data if isinstance(data, str) else None,
                         "hex": None if isinstance(data, str) else data.hex()})
        if chance.random() < 0.3:
            messages.append({"rpc": chance.choice(("list", "größe"))})
    closed = chance.choice(("server", "page", "open", "broken", "refused"))
    code, why = chance.choice(((1000, ""), (4001, "session over"), (3000, "größer"), (1011, "oops"), (None, "")))
    if closed == "page" and code == 1011:
        code = 4999
    offered: list[str] = chance.choice(([], ["chat"], ["one", "two"], ["one", "two", "three"]))
    return Planned(number, "websocket", chance.choice(("websocket", "websocket", "worker websocket")), extra={
        "messages": messages, "closed": closed, "code": code, "why": why, "offered": offered,
        "chosen": chance.choice((0, -1)) if offered else None})  # a browser refuses a choice of none


_KINDS = ((_plain, 40), (_large, 4), (_status, 20), (_method, 18), (_body, 30), (_submitted, 12), (_early, 40),
          (_unread, 12), (_mode, 14), (_no_answer, 8), (_redirected, 16), (_ranged, 10), (_part, 36), (_worker, 24),
          (_cached, 12), (_stream, 18), (_socket, 24))


def plan(seed: int, count: int) -> list[Planned]:
    """Exchanges of every kind, in a random order; one has the largest answer."""
    chance = random.Random(seed)
    total = sum(weight for _, weight in _KINDS)
    made = [make for make, weight in _KINDS for _ in range(max(1, round(weight * count / total)))]
    chance.shuffle(made)
    planned = [make(number, chance) for number, make in enumerate(made)]
    planned.append(Planned(len(planned), "large", media=chance.choice(("application/zip", "text/plain")),
                           content=chance.randbytes(1 << 20) * (_LARGEST >> 20), coding=chance.choice(("", "gzip"))))
    return planned
