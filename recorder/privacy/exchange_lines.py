"""Lines of network.jsonl: exchanges for replays, with secrets replaced by stand-ins. Pure functions."""

from typing import Any
from urllib.parse import urldefrag

from schemas.formats.network import RESOURCE_KINDS
from schemas.types.network import Header

from .body_text import text_of
from .har import Exchange, is_text, sent_bytes
from .secret_values import is_secret_name
from .stand_ins import StandIns

_CHARSET_LENGTH = 100
_SHORT = 6  # characters of a cookie's value from which on it may be secret; shorter ones are flags and languages


def line(exchange: Exchange, secrets: StandIns) -> tuple[dict[str, Any], bytes | None, bytes | None]:
    """The line of an exchange but its number, time and blobs; and what goes into these: what was sent, what came."""
    answer = exchange.response or {}
    kind = exchange.kind.lower()
    fields = {
        "duration": max(0.0, round((exchange.ended or exchange.began) - exchange.began, 4)),
        "tab": exchange.tab, "kind": kind if kind in RESOURCE_KINDS else "other", "top": exchange.top,
        "method": exchange.method, "url": secrets.in_address(urldefrag(exchange.url).url),
        "headers": headers(exchange.headers, secrets),
        "status": answer.get("status", 0), "status_text": answer.get("statusText", ""),
        "answer_headers": headers(exchange.response_headers, secrets), "failure": exchange.failure,
        **({"seed": exchange.seed} if exchange.seed is not None else {}),
        **({"charset": exchange.charset[:_CHARSET_LENGTH]} if exchange.charset is not None else {}),
    }
    received = _content(exchange, answer.get("mimeType", ""), secrets) if answer else None
    return fields, sent_bytes(exchange, secrets), received


def headers(named: dict[str, str], secrets: StandIns) -> list[Header]:
    """Headers in order, those that come several times apart, each secret in them replaced."""
    return [{"name": name, "value": _value(name.lower(), value, secrets)}
            for name, values in named.items() if not name.startswith(":") for value in values.split("\n")]


def _value(name: str, value: str, secrets: StandIns) -> str:
    if name == "set-cookie":
        pair, semicolon, rest = value.partition(";")
        return cookie(pair, secrets) + semicolon + rest
    if name == "cookie":
        return "; ".join(cookie(pair, secrets) for pair in value.split("; "))
    if name in ("authorization", "proxy-authorization"):
        scheme, blank, credentials = value.partition(" ")
        return f"{scheme} {secrets.instead(credentials)}" if blank else secrets.instead(scheme)
    if is_secret_name(name):
        return secrets.instead(value)
    return secrets.in_address(value) if value.startswith(("http:", "https:", "/")) else secrets.in_request(value)


def cookie(pair: str, secrets: StandIns) -> str:
    """`name=value` with a value that may be secret replaced."""
    name, equals, value = pair.partition("=")
    if not equals or (len(value) < _SHORT and not is_secret_name(name)):
        return pair
    return f"{name}={secrets.instead(value)}"


def stored_line(environment: dict[str, Any], secrets: StandIns) -> dict[str, Any]:
    """BrowserAtStartSchema of what the browser held, its secrets replaced."""
    cookies = [entry | {"value": cookie(f"{entry['name']}={entry['value']}", secrets).partition("=")[2]}
               for entry in environment["cookies"]]
    origins = [origin | {kind: [_item(item, secrets) for item in origin[kind]]
                       for kind in ("local_storage", "session_storage")} for origin in environment["origins"]]
    return environment | {"cookies": cookies, "origins": origins}


def _item(item: dict[str, str], secrets: StandIns) -> dict[str, str]:
    name, value = item["name"], item["value"]
    hidden = secrets.instead(value) if is_secret_name(name) and value else secrets.in_body(value, "application/json")
    return {"name": secrets.in_text(name), "value": hidden}


def _content(exchange: Exchange, kind: str, secrets: StandIns) -> bytes | None:
    """An answer's text without secrets, anything else as it is."""
    if exchange.body is None or not is_text(kind):
        return exchange.body
    text, codec = text_of(exchange.body, exchange.text_charset)
    shown = secrets.in_body(text, kind, labels=True)
    return exchange.body if shown == text else shown.encode(codec, "replace")
