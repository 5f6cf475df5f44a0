"""Compares what a server sent and received with an archive of it: a recording, a WARC or a HAR."""

import base64
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urldefrag

from replay.archive.exchanges import Archive, Channel, Recorded

from .planning import Planned
from .server import Carried, Entry

_FAILURES = {"cut": ("net::ERR_CONTENT_LENGTH_MISMATCH", "net::ERR_INCOMPLETE_CHUNKED_ENCODING",
                     "net::ERR_CONNECTION_RESET"), "stopped": ("net::ERR_ABORTED",), "open": ("open",)}


@dataclass(frozen=True)
class Kept:
    """An exchange as an archive has it."""

    method: str
    url: str
    status: int
    body: bytes
    content: bytes
    failure: str = ""


@dataclass(frozen=True)
class Difference:
    """What differs: the plan's number, its kind, and how."""

    number: int | None
    kind: str
    text: str


def of_archive(archive: Archive) -> list[Kept]:
    """The exchanges of an archive of ours."""
    return [Kept(line.method, line.url, line.status, line.body or b"", line.answer() or b"", line.failure)
            for line in archive.exchanges]


def of_warc(path: Path) -> list[Kept]:
    """The exchanges of a WARC as warcio reads them."""
    from warcio.archiveiterator import ArchiveIterator
    answers: dict[str, tuple[int, bytes]] = {}
    requests = []
    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            headers = record.rec_headers
            if record.rec_type == "response":
                content = record.content_stream().read()
                answers[headers["WARC-Record-ID"]] = int(record.http_headers.get_statuscode()), content
            elif record.rec_type == "request":
                method = record.http_headers.protocol
                requests.append((method, headers["WARC-Target-URI"], record.content_stream().read(),
                                 headers.get("WARC-Concurrent-To")))
    return [Kept(method, url, *_joined(body, answers.get(of or "", (0, b"")))) for method, url, body, of in requests]


def _joined(body: bytes, answer: tuple[int, bytes]) -> tuple[int, bytes, bytes]:
    return answer[0], body, answer[1]


def of_har(path: Path) -> list[Kept]:
    """The exchanges of a HAR as a program reads them that knows its specification, and base64 of what was sent."""
    kept = []
    for entry in json.loads(path.read_bytes())["log"]["entries"]:
        request, response = entry["request"], entry["response"]
        kept.append(Kept(request["method"], request["url"], max(0, response["status"]),
                         _har_text(request.get("postData", {})), _har_text(response["content"])))
    return kept


def _har_text(part: dict[str, str]) -> bytes:
    text = part.get("text", "")
    return base64.b64decode(text) if part.get("encoding") == "base64" else text.encode("utf-8", "surrogatepass")


def differences(entries: Sequence[Entry], kept: Iterable[Kept], planned: Sequence[Planned], *, whole: bool = True,
                decoded: bool = False) -> list[Difference]:
    """How an archive differs from what was sent. `whole`: it also says how an answer ended. `decoded`: it may have text
    that is decoded."""
    found = []
    kept_urls: set[str] = set()
    by_url: dict[str, list[Kept]] = defaultdict(list)
    for line in kept:
        by_url[_address(line.url)].append(line)
    for entry in entries:
        item = None if entry.number is None else planned[entry.number]
        lines = by_url.get(_address(entry.url), [])
        matching = [line for line in lines if line.method == entry.method]
        kind = "own" if item is None else f"{item.kind}/{item.by}"
        if item and item.by == "audio":
            kind += " range"
        if not matching and "/worker/service-" in entry.url and entry.url in kept_urls:
            continue  # the browser's own look whether there is a newer one
        if not matching:
            found.append(Difference(entry.number, kind, f"not kept: {entry.method} {entry.url}"))
            continue
        line = min(matching, key=lambda line: len(_of_one(entry, item, line, whole=whole, decoded=decoded)))
        lines.remove(line)
        kept_urls.add(entry.url)
        found += [Difference(entry.number, kind, text)
                  for text in _of_one(entry, item, line, whole=whole, decoded=decoded)]
    return found


def _address(url: str) -> str:
    from urllib.parse import unquote_to_bytes
    return repr(unquote_to_bytes(urldefrag(url).url.encode("latin-1", "ignore") if url.isascii()
                                 else urldefrag(url).url.encode()))


def _of_one(entry: Entry, item: Planned | None, line: Kept, *, whole: bool, decoded: bool) -> list[str]:
    texts = []
    content, status = entry.content, entry.status
    if status == 304:  # which the browser fills with what it has
        content, status = (b"", 304) if line.status == 304 and not line.content else (item.content if item else b"", 0)
        if status == 0:
            status = line.status if line.status in (200, 304) else 200
    if entry.ending != "whole" and line.status == 0:  # whose beginning the browser did not give to the page yet
        content, status = b"", 0
    if item and item.read in ("none", "cancel") and content.startswith(line.content):
        content = line.content  # nobody read it
    if line.status != status:
        texts.append(f"status {line.status} for {status} ({line.failure})")
    expected = without_files(entry.body) if item and (item.extra.get("file") or "disk" in item.sent) else entry.body
    if line.body not in (entry.body, expected):
        texts.append(f"sent {_described(line.body)} for {_described(entry.body)}"
                     + (f" as {item.sent}" if item else ""))
    if line.content != content and not (decoded and _is_decoded(line.content, content, item)):
        texts.append(f"content {_described(line.content)} for {_described(content)} "
                     + (f"{item.media!r} {item.coding} {item.framing} {item.ending} read {item.read}" if item else ""))
    if whole and entry.ending in _FAILURES and line.failure not in _FAILURES[entry.ending]:
        texts.append(f"ended {line.failure!r} for {entry.ending}")
    return texts


def _is_decoded(text: bytes, content: bytes, item: Planned | None) -> bool:
    """Whether a text is what a content says in its charset."""
    charset = item.media.partition("charset=")[2] if item else ""
    for codec in (charset, "utf-8", "windows-1252", "latin-1", "utf-16"):
        try:
            if codec and content.decode(codec).lstrip("\ufeff") == text.decode().lstrip("\ufeff"):
                return True
        except (UnicodeDecodeError, LookupError):
            continue
    return False


def without_files(body: bytes) -> bytes:
    """A body without the contents of files, which the browser does not give."""
    if not body.startswith(b"------WebKit"):
        return b""
    return re.sub(rb"(filename=\"[^\r\n]*\r\nContent-Type: [^\r\n]*\r\n\r\n).*?(\r\n------WebKit)", rb"\1\2", body,
                  flags=re.DOTALL)


def _described(content: bytes) -> str:
    return f"{len(content)} bytes {content[:12]!r}"


def channel_differences(carried: Sequence[Carried], channels: Sequence[Channel], planned: Sequence[Planned]
                        ) -> list[Difference]:
    """How recorded WebSockets differ from what the server carried."""
    by_number: dict[int, list[Channel]] = defaultdict(list)
    for channel in channels:
        if channel.kind == "websocket":
            by_number[int(channel.url.rpartition("/")[2])].append(channel)
    found = []
    for one in carried:
        item = planned[one.number]
        kind = f"websocket/{item.by}"
        if not by_number[one.number]:
            found.append(Difference(one.number, kind, "not kept"))
            continue
        channel = by_number[one.number].pop(0)
        messages = [(message.direction, message.data) for message in channel.messages
                    if message.direction in ("sent", "received")]
        if messages != one.messages:
            found.append(Difference(one.number, kind, f"{len(messages)} messages for {len(one.messages)}"))
        ends = [message for message in channel.messages if message.direction == "close"]
        if one.close and one.close[0] != "broken" and item.extra["closed"] != "open":
            end = ends[-1] if ends else None
            expected = (one.close[1] or 1005, one.close[2])
            got = (getattr(end, "code", None), getattr(end, "reason", None)) if end else None
            if got != expected:
                found.append(Difference(one.number, kind, f"closed {got} for {expected} by {one.close[0]}"))
        if getattr(channel, "protocol", None) != one.protocol and item.extra["closed"] != "refused":
            found.append(Difference(one.number, kind, f"protocol {getattr(channel, 'protocol', None)!r} for "
                                                      f"{one.protocol!r}"))
    return found


def flagged_wrongly(texts: Iterable[str], planned: Sequence[Planned]) -> list[Difference]:
    """Partial exchanges that the check does not name, and whole ones that it names."""
    flagged = {int(number) for text in texts for number in re.findall(r"/x/([0-9]+)[:/?]", text)}
    found = []
    for item in planned:
        if item.read in ("none", "cancel") or item.by == "through service" or item.sent == "sliced disk file":
            continue  # of which the browser may have more or less
        has_file = item.sent in ("disk file", "disk form") or (
            item.extra.get("file") and item.sent == "multipart/form-data" and item.method == "POST")
        is_partial = item.ending != "whole" or bool(has_file)
        if is_partial != (item.number in flagged):
            found.append(Difference(item.number, f"{item.kind}/{item.by}", "named by the check" if not is_partial else
                                    f"not named by the check: {item.ending} {item.sent}"))
    return found


def lines_differ(one: Archive, other: Archive) -> list[Difference]:
    """How an archive that was written and read again differs."""
    found = []
    if len(one.exchanges) != len(other.exchanges):
        found.append(Difference(None, "read again", f"{len(other.exchanges)} exchanges for {len(one.exchanges)}"))
    waiting: dict[tuple[str, str], list[Recorded]] = defaultdict(list)
    for line in other.exchanges:
        waiting[line.method, line.url].append(line)
    for line in one.exchanges:
        same = waiting[line.method, line.url]
        if not same:
            found.append(Difference(None, "read again", f"missing {line.method} {line.url}"))
            continue
        again = same.pop(0)
        for name, before, after in (("status", line.status, again.status), ("failure", line.failure, again.failure),
                                    ("body", line.body or b"", again.body or b""),
                                    ("content", line.answer() or b"", again.answer() or b"")):
            if before != after:
                found.append(Difference(None, "read again", f"{name} {str(after)[:60]} for {str(before)[:60]}, "
                                                            f"{line.method} {line.url} {line.kind}"))
    return found
