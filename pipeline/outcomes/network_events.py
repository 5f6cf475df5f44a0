"""Requests as WebArena-Verified selects and compares network events (version 1.2.3)."""

import json
import re
from typing import Any
from urllib.parse import parse_qs

from schemas.addresses import split_address
from schemas.types.outcome import Match, OutcomeCheck, Value

from .addresses import Address, address_of
from .evidence import Evidence, Request, describe_request
from .folding import Undecided
from .texts import holds, shorten
from .values import compiled, fits

_FILES = (".css", ".js", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".woff", ".woff2", ".ttf", ".ico", ".webp")
_FORM, _JSON, _PARTS = "application/x-www-form-urlencoded", "application/json", "multipart/form-data"
_ELSEWHERE = "it went elsewhere"
_BOUNDARY = re.compile(r"boundary=([^;\s]{1,200})")
_NAME = re.compile(r'name="([^"]{1,1000})"')


def event_holds(wanted: OutcomeCheck, evidence: Evidence) -> tuple[bool | None, str]:
    """Whether a request of a check with `events` was among those of a session; None where that cannot be said."""
    reason = unsaid = ""
    for request in _looked_at(wanted, evidence):
        try:
            difference = _unlike(wanted, request)
        except Undecided as error:
            unsaid = str(error)
            if wanted["events"] == "last":
                return None, unsaid
            continue
        if not difference:
            return True, f"the request was {describe_request(request)}"
        if difference == _ELSEWHERE and wanted["events"] != "navigation":
            continue
        reason = difference
        if wanted["events"] == "last":
            break
    if unsaid:
        return None, unsaid
    return False, f"no request was like that{f' ({reason})' if reason else ''}"


def is_navigation(request: Request) -> bool:
    """Whether a request is for a page that the person went to, by its headers."""
    headers = {name.lower(): value.lower() for name, value in request.headers}
    accepted = headers.get("accept", "")
    if request.method != "GET":
        return False
    if "sec-fetch-user" not in headers:
        return accepted.startswith("text/html")
    return (headers.get("sec-fetch-dest"), headers.get("sec-fetch-mode"), headers["sec-fetch-user"]) == (
        "document", "navigate", "?1") and "text/html" in accepted


def _looked_at(wanted: OutcomeCheck, evidence: Evidence) -> list[Request]:
    """The requests that a check is held against, the last first; no files that pages are made of."""
    events = [request for request in sorted(evidence.requests or (), key=lambda request: request.time)
              if not split_address(request.url).path.endswith(_FILES)]
    return [request for request in events
            if is_navigation(request)][-1:] if wanted["events"] == "navigation" else events[::-1]


def _unlike(wanted: OutcomeCheck, request: Request) -> str:
    """Why a request is not the wanted one; empty when it is."""
    if wanted.get("method", request.method) != request.method:
        return _ELSEWHERE
    address = address_of(request.url)
    if not _address_fits(wanted["match"], address):
        return _ELSEWHERE
    status = wanted.get("status", request.status if 0 < request.status < 400 else None)
    if status != request.status and ("status" not in wanted or status is not None):
        return f"it was answered {request.status or 'by nobody'}"
    return _query_differs(wanted, dict(address.parameters)) or _body_differs(wanted.get("body", {}), request)


def _address_fits(match: Match, address: Address) -> bool:
    value = match.get("value")
    if value is None or value["type"] != "url":
        return bool(holds(match, address.base)[0])
    if any(compiled(pattern, False).match(address.base) for pattern in value.get("patterns", [])):
        return True
    return any(address_of(pattern).plain == address.plain for pattern in value.get("any_of", []))


def _query_differs(wanted: OutcomeCheck, actual: dict[str, str]) -> str:
    matches, ignored = wanted.get("query", {}), wanted.get("ignored")
    for name, match in matches.items():
        if reason := _differs(match, actual.get(name, "")):
            return f"parameter {shorten(name)}: {reason}"
    others = {name.lower() for name in matches} if ignored is None else set()
    for name, value in actual.items():
        if value and name not in matches:
            if name.lower() in others:
                raise Undecided(f"parameter {shorten(name)} is there in other letters")
            if ignored and not name.isascii():
                raise Undecided("a parameter has letters that are not compared here")
            if ignored is not None and not any(compiled(pattern, False).search(name) for pattern in ignored):
                return f"parameter {shorten(name)} is there"
    return ""


def _body_differs(wanted: dict[str, Match], request: Request) -> str:
    if not wanted:
        return ""
    body = posted(request)
    if not body:
        return "what was sent is no form and no JSON object"
    for name, match in wanted.items():
        if reason := _differs(match, member(body, name)):
            return f"field {shorten(name)}: {reason}"
    return ""


def _differs(match: Match, actual: Any) -> str:
    value: Value | None = match.get("value")
    if value is None:
        decided, reason = holds(match,
                                actual if isinstance(actual, str) else "" if actual is None else json.dumps(actual))
        if decided is None:
            raise Undecided(reason)
        return reason
    if fits(value, actual):
        return ""
    return "is missing" if actual is None else f"{shorten(str(actual))} is not what is wanted"


def posted(request: Request) -> dict[str, Any]:
    """What a request sent, by the names of fields or members, as its content type says; empty for anything else."""
    kind = next((value for name, value in request.headers if name.lower() == "content-type"), "")
    text = request.body.decode("utf-8", "replace")
    if not text:
        return {}
    if _FORM in kind:
        return {name: values[0] for name, values in parse_qs(text, keep_blank_values=True).items()}
    if _JSON in kind:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}
    boundary = _BOUNDARY.search(kind) if _PARTS in kind else None
    return _parts(text, boundary[1]) if boundary else {}


def _parts(text: str, boundary: str) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    for part in text.split(f"--{boundary}"):
        gap = "\r\n\r\n" if "\r\n\r\n" in part.strip() else "\n\n"
        head, there, body = part.strip().partition(gap)
        line = next((header for header in head.split("\r\n") if header.lower().startswith("content-disposition:")), "")
        if there and (name := _NAME.search(line)):
            parts[name[1]] = body.rstrip("\r\n")
    return parts


def member(body: dict[str, Any], path: str) -> Any:
    """What stands at a path such as `order.items.0.name`; None where nothing does. A text on the way that is JSON is
    looked into, once."""
    first, *rest = path.split(".")
    value, opened = body.get(first), False
    for name in rest:
        if isinstance(value, str) and not opened:
            opened = True
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                return None
        if isinstance(value, dict) and not name.isdigit():
            value = value.get(name)
        elif isinstance(value, list) and name.isdigit():
            value = value[int(name)] if len(name) < 9 and int(name) < len(value) else None
        else:
            return None
    return value

