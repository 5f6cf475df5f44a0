"""Requests of the browser between two times of a recording, from its recorded network: no headers, no bodies, and only
host and path of addresses."""

import heapq
import json
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict

from marshmallow import EXCLUDE

from recorder.reader import Recording
from schemas import InputError, limits
from schemas.addresses import split_address
from schemas.files import open_inside, read_lines, reason
from schemas.formats.network import ExchangeSchema

MAX_REQUESTS = 100  # requests that are told
_SHOWN = 300  # characters of a path, and of what else others chose
_LENGTH = re.compile("[0-9]{1,12}")
_SUMMARY_FIELDS = ("time", "duration", "tab", "method", "url", "status", "answer_headers", "answer_body", "failure")


class Request(TypedDict):
    """One request with what came back. `time`, `duration`: seconds; `type`: the media type of the answer; `size`: bytes
    of the answer, None where that is not known; `status`: 0 without an answer, and then `failure` says why."""

    time: float
    duration: float
    tab: int
    method: str
    host: str
    path: str
    status: int
    type: str
    size: int | None
    failure: str


class Requests(TypedDict):
    """The first requests in order of time, and how many there are."""

    requests: list[Request]
    total: int


def requests(recording: Recording, begin: float, end: float | None) -> Requests:
    """The requests that were sent from `begin` on and before `end` (None: to the end), seconds of the recording.

    Raises InputError for a file that cannot be read.
    """
    total = 0
    first: list[tuple[float, int, _StoredRequest]] = []  # a heap that begins with the last of those that are told
    for number, read in enumerate(_stored_or_har(recording)):
        time = read.request["time"]
        if time < begin or (end is not None and time >= end):
            continue
        total += 1
        heapq.heappush(first, (-time, -number, read))
        if len(first) > MAX_REQUESTS:
            heapq.heappop(first)
    result = [_with_size(recording, read) for _, _, read in sorted(first, key=lambda entry: entry[:2], reverse=True)]
    return {"requests": result, "total": total}


@dataclass(frozen=True)
class _StoredRequest:
    """A request as it was read; `body`: the blob of its answer, by which its size is found where no header tells it."""

    request: Request
    body: str | None = None


def _stored_or_har(recording: Recording) -> Iterator[_StoredRequest]:
    if recording.layout.network.exists():
        return _stored_requests(recording)
    return _har_requests(recording) if recording.layout.har.exists() else iter(())


def _stored_requests(recording: Recording) -> Iterator[_StoredRequest]:
    schema = ExchangeSchema(only=_SUMMARY_FIELDS, unknown=EXCLUDE)
    for line in read_lines(recording.layout.network, schema, recording.version):
        headers = {header["name"].lower(): header["value"] for header in line["answer_headers"]}
        length = headers.get("content-length", "")
        yield _StoredRequest(_request(line["time"], line["duration"], line["tab"], line["method"], line["url"],
                                      line["status"],
                             headers.get("content-type", ""), int(length) if _LENGTH.fullmatch(length) else None,
                             line["failure"]), line["answer_body"])


def _har_requests(recording: Recording) -> Iterator[_StoredRequest]:
    """Those of network.har, which the recorder writes line by line; what is no entry of ours is passed over."""
    path, started = recording.layout.har, recording.manifest["started_at"]
    try:
        with open_inside(path) as file:
            while line := file.readline(limits.LINE + 1):
                if not line.endswith(b"\n"):
                    continue
                with suppress(ValueError, TypeError, KeyError, OverflowError, RecursionError):
                    yield _har_request(json.loads(line.strip().rstrip(b",")), started)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None


def _har_request(entry: Any, started: datetime) -> _StoredRequest:
    request, answer = entry["request"], entry["response"]
    began = (datetime.fromisoformat(entry["startedDateTime"]) - started).total_seconds()
    status, size, took = int(answer["status"]), int(answer["content"]["size"]), float(entry["time"]) / 1000
    if not math.isfinite(took):
        raise ValueError
    return _StoredRequest(_request(began, took, int(entry.get("_tab", 1)), str(request["method"]),
                          str(request["url"]), max(status, 0), str(answer["content"]["mimeType"]),
                          size if size > 0 or status > 0 else None, str(entry.get("_failure", ""))))


def _request(time: float, duration: float, tab: int, method: str, url: str, status: int, type: str, size: int | None,
             failure: str) -> Request:
    """A request as it is shown: of its address, only the host (without credentials) and the path; texts shortened."""
    address = split_address(url)
    path = address.path if address.netloc else ""  # of data: and the like the whole content would be one
    return {"time": round(time, 3), "duration": round(duration, 3), "tab": tab, "method": method[:_SHOWN],
            "host": (address.netloc.rpartition("@")[2] or address.scheme)[:_SHOWN], "path": path[:_SHOWN],
            "status": status, "type": type.partition(";")[0].strip()[:_SHOWN], "size": size,
            "failure": failure[:_SHOWN]}


def _with_size(recording: Recording, read: _StoredRequest) -> Request:
    if read.request["size"] is not None or read.body is None:
        return read.request
    with suppress(InputError):  # a blob that is damaged, or missing
        return {**read.request, "size": len(recording.blob(read.body))}
    return read.request
