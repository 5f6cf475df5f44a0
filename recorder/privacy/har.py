"""The network as HTTP Archive (HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/): entries without secrets.
Pure functions."""

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl

from schemas.addresses import split_address
from schemas.shared import REDACTED

from .body_text import BYTES, charset_of, text_of
from .named_secrets import named_secrets
from .secret_values import Secrets, is_secret_name

_HEADERS = {"authorization", "proxy-authorization", "cookie", "set-cookie", "set-cookie2"}
_UNKNOWN = -1


@dataclass
class Exchange:
    """One request and what came back, as the browser told it; times in seconds, `start` on the wall clock."""

    tab: int
    method: str
    url: str
    start: float
    began: float
    headers: dict[str, str]
    posted: str | None = None
    response: dict[str, Any] | None = None
    response_headers: dict[str, str] = field(default_factory=dict)
    ended: float | None = None
    size: int = _UNKNOWN
    body: bytes | None = None
    failure: str = ""
    redirect: str = ""
    kind: str = "Other"  # what asked for it: Network.ResourceType
    document: str = ""  # the frame whose document it is
    top: bool = False  # that frame is the tab's own
    posted_bytes: bytes | None = None  # the request's body, where it is no text
    seed: int | None = None  # of what is random in the document
    charset: str | None = None  # in which the browser read `body`; None: `body` is text that it decoded, as UTF-8

    @property
    def text_charset(self) -> str:
        """The charset of `body`: as the browser says, or else the header."""
        if self.charset is None:
            return "utf-8"
        return self.charset or charset_of(_header(self.response_headers, "content-type"))


def secrets_of(exchange: Exchange) -> Iterator[str]:
    """What is secret in an exchange wherever else it stands: values of cookies and of authorizations, and of headers,
    fields and members whose names say so."""
    for name, value in (*exchange.headers.items(), *exchange.response_headers.items()):
        if name.lower() in ("authorization", "proxy-authorization"):
            yield value.rpartition(" ")[2]
        elif name.lower() in _HEADERS:
            yield from (cookie["value"] for line in value.split("\n") for cookie in _cookies(line, name.lower()))
        elif is_secret_name(name):
            yield value
    yield from named_secrets(_posted_text(exchange), _header(exchange.headers, "content-type"))
    kind = (exchange.response or {}).get("mimeType", "")
    if exchange.body and is_text(kind):
        yield from named_secrets(text_of(exchange.body, exchange.text_charset)[0], kind)


def entry(exchange: Exchange, secrets: Secrets) -> dict[str, Any]:
    """The HAR entry of an exchange, with what is secret in headers, cookies, addresses and bodies replaced."""
    total = max(0.0, ((exchange.ended or exchange.began) - exchange.began) * 1000)
    timings = _timings(exchange, total)
    answer = exchange.response or {}
    return {
        "startedDateTime": datetime.fromtimestamp(exchange.start, UTC).isoformat(timespec="milliseconds"),
        "time": round(sum(value for name, value in timings.items() if value > 0 and name != "ssl"), 3),
        "request": _request(exchange, secrets),
        "response": _response(exchange, secrets),
        "cache": {},
        "timings": timings,
        **({"serverIPAddress": answer["remoteIPAddress"].strip("[]")} if answer.get("remoteIPAddress") else {}),
        "_tab": exchange.tab,
        **({"_failure": exchange.failure} if exchange.failure else {}),
    }


def _request(exchange: Exchange, secrets: Secrets) -> dict[str, Any]:
    url = secrets.in_address(exchange.url)
    request = {
        "method": exchange.method, "url": url, "httpVersion": _version(exchange),
        "headers": _headers(exchange.headers, secrets), "cookies": _hidden_cookies(exchange.headers, "cookie"),
        "queryString": [{"name": name, "value": value}
                        for name, value in parse_qsl(split_address(url).query, keep_blank_values=True)],
        "headersSize": _UNKNOWN, "bodySize": _UNKNOWN,
    }
    if (content := sent_bytes(exchange, secrets)) is not None:
        request["bodySize"] = len(content)
        request["postData"] = {"mimeType": _header(exchange.headers, "content-type"), **_text_or_base64(content)}
    return request


def sent_bytes(exchange: Exchange, secrets: Secrets) -> bytes | None:
    """What was sent, without secrets; what is no text is searched byte by byte."""
    content, kind = exchange.posted_bytes, _header(exchange.headers, "content-type")
    if content is None:
        return None if exchange.posted is None else _utf8(sent(exchange.posted, kind, secrets))
    try:
        return _utf8(sent(content.decode(), kind, secrets))
    except UnicodeDecodeError:
        return sent(content.decode(BYTES), kind, secrets).encode(BYTES, "replace")


def _posted_text(exchange: Exchange) -> str:
    """What was sent, as text in which secrets are found."""
    if exchange.posted is not None or exchange.posted_bytes is None:
        return exchange.posted or ""
    return text_of(exchange.posted_bytes)[0]


def _text_or_base64(content: bytes) -> dict[str, str]:
    try:
        return {"text": content.decode("utf-8", "surrogatepass")}
    except UnicodeDecodeError:
        return {"text": base64.b64encode(content).decode(), "encoding": "base64"}


def sent(text: str, kind: str, secrets: Secrets) -> str:
    """A request's body without secrets. In a multipart one each part is looked at by its name."""
    if not kind.lower().startswith("multipart/form-data"):
        return secrets.in_request(secrets.in_body(text, kind))
    boundary = kind.partition("boundary=")[2].strip('"')
    parts = text.split(f"--{boundary}") if boundary else [text]
    return f"--{boundary}".join(_part(part, secrets) for part in parts)


def _part(part: str, secrets: Secrets) -> str:
    head, gap, content = part.partition("\r\n\r\n")
    name = head.partition('name="')[2].partition('"')[0]
    if gap and is_secret_name(name):
        return head + gap + secrets.instead(content.removesuffix("\r\n")) + "\r\n"
    return secrets.in_request(part)


def _response(exchange: Exchange, secrets: Secrets) -> dict[str, Any]:
    answer = exchange.response or {}
    kind = answer.get("mimeType") or "x-unknown"
    content = {"size": len(exchange.body) if exchange.body is not None else 0, "mimeType": kind}
    if exchange.body is not None:
        content |= _content(exchange.body, kind, exchange.text_charset, secrets)
    return {
        "status": answer.get("status", _UNKNOWN), "statusText": answer.get("statusText", ""),
        "httpVersion": _version(exchange), "headers": _headers(exchange.response_headers, secrets),
        "cookies": _hidden_cookies(exchange.response_headers, "set-cookie"), "content": content,
        "redirectURL": secrets.in_address(exchange.redirect) if exchange.redirect else "",
        "headersSize": _UNKNOWN, "bodySize": exchange.size,
    }


def _content(body: bytes, kind: str, charset: str, secrets: Secrets) -> dict[str, Any]:
    """Text as text, without secrets; anything else in base64."""
    if is_text(kind):
        text, codec = text_of(body, charset)
        text = secrets.in_body(text, kind, labels=True)
        if codec != BYTES:
            return {"text": text}
        body = text.encode(codec, "replace")
    return {"text": base64.b64encode(body).decode(), "encoding": "base64"}


def is_text(kind: str) -> bool:
    """Whether content of a media type is text in which secrets are looked for."""
    kind = kind.partition(";")[0].strip().lower()
    return kind.startswith("text/") or kind.endswith(("json", "xml", "javascript", "x-www-form-urlencoded"))


def _headers(headers: dict[str, str], secrets: Secrets) -> list[dict[str, Any]]:
    return [{"name": name, "value": _header_value(name, line, secrets)}
            for name, value in headers.items() for line in value.split("\n")]


def _header_value(name: str, value: str, secrets: Secrets) -> str:
    if name.lower() in _HEADERS or is_secret_name(name):
        return REDACTED
    return secrets.in_address(value) if value.startswith(("http:", "https:")) else secrets.in_request(value)


def _header(headers: dict[str, str], name: str) -> str:
    return next((value for key, value in headers.items() if key.lower() == name), "")


def _hidden_cookies(headers: dict[str, str], name: str) -> list[dict[str, Any]]:
    return [cookie | {"value": REDACTED} for line in _header(headers, name).split("\n")
            for cookie in _cookies(line, name)]


def _cookies(line: str, header: str) -> Iterable[dict[str, Any]]:
    """Name and value of the cookies in a header's line; `Set-Cookie` holds one, with its attributes behind it."""
    parts = line.split(";")[:1] if header == "set-cookie" else line.split(";")
    for part in parts:
        name, equals, value = part.strip().partition("=")
        if equals:
            yield {"name": name, "value": value}


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _version(exchange: Exchange) -> str:
    protocol = (exchange.response or {}).get("protocol", "http/1.1")
    return {"h2": "HTTP/2.0", "h3": "HTTP/3.0"}.get(protocol, protocol.upper())


def _timings(exchange: Exchange, total: float) -> dict[str, float]:
    """Phases in ms, -1 where there was none; they add up to the whole time (`ssl` is part of `connect`)."""
    timing = (exchange.response or {}).get("timing")
    if not timing:
        return {"blocked": -1, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": round(total, 3), "receive": 0}

    def phase(name: str) -> float:
        start, end = timing[f"{name}Start"], timing[f"{name}End"]
        return round(end - start, 3) if start >= 0 else -1

    first = timing["receiveHeadersEnd"]
    started = next((timing[name] for name in ("dnsStart", "connectStart", "sendStart") if timing[name] >= 0), 0)
    queued = max(0.0, (timing["requestTime"] - exchange.began) * 1000)
    return {"blocked": round(queued + started, 3), "dns": phase("dns"), "connect": phase("connect"),
            "ssl": phase("ssl"), "send": max(0, phase("send")), "wait": round(max(0.0, first - timing["sendEnd"]), 3),
            "receive": round(max(0.0, total - queued - first), 3)}
