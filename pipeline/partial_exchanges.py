"""Partial exchanges of a recorded network: sizes of requests and responses are compared with those in their headers."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from recorder.reader import Recording
from schemas.types.network import Exchange, Header

_LENGTH = re.compile(r"[0-9]{1,15}")
_STAND_IN = b"demotape-secret-"  # text in which a secret was replaced has another size
_SHOWN_CHARS = 200  # of an address
_WITHOUT_CONTENT = (204, 205, 304)


def partial_exchanges(recording: Recording) -> Iterator[str]:
    """A sentence for each exchange of which something is missing. Raises InputError for a file that cannot be read."""
    if not recording.layout.network.exists():
        return
    for number, line in enumerate(recording.exchanges(), 1):
        texts = [text for text in (_sent(recording, line), _received(recording, line)) if text]
        if texts:
            yield (f"{recording.layout.network}, line {number}: {line['method'][:20]} {line['url'][:_SHOWN_CHARS]}: "
                   f"{'; '.join(texts)}")


def _sent(recording: Recording, line: Exchange) -> str:
    """What is missing of what was sent; empty for nothing."""
    expected = _length(line["headers"])
    content = _content(recording, line, "body")
    if expected is None or len(content) == expected or _STAND_IN in content:
        return ""
    return f"{len(content)} of {expected} sent bytes are in the recording (contents of files are not)"


def _received(recording: Recording, line: Exchange) -> str:
    """What is missing of the answer, and how it ended; empty for nothing."""
    if line["status"] == 0:
        return "no response until the end of the recording" if line["failure"] == "open" else ""
    expected = None if _has_header(line["answer_headers"], "content-encoding") else _length(line["answer_headers"])
    if line["method"].upper() == "HEAD" or line["status"] in _WITHOUT_CONTENT or line["kind"] == "preflight":
        return ""
    if expected is None and not line["failure"]:
        return ""
    content = _content(recording, line, "answer_body")
    if len(content) == expected or (_STAND_IN in content and not line["failure"]):
        return ""
    if 300 <= line["status"] < 400 and not content:  # browsers do not read it
        return ""
    size = f"{len(content)} bytes" if expected is None else f"{len(content)} of {expected} bytes"
    if line["failure"] == "open":
        return f"the response had not ended with the recording; it has {size}"
    if line["failure"]:
        return f"the response ended early ({line['failure'][:_SHOWN_CHARS]}); it has {size}"
    return f"the response has {size}"


def _content(recording: Recording, line: Mapping[str, Any], name: str) -> bytes:
    return recording.blob(line[name]) if line[name] else b""


def _has_header(headers: list[Header], name: str) -> bool:
    return any(header["name"].lower() == name for header in headers)


def _length(headers: list[Header]) -> int | None:
    """The size that headers name; None where they name none."""
    values = [header["value"].strip() for header in headers if header["name"].lower() == "content-length"]
    return int(values[0]) if values and _LENGTH.fullmatch(values[0]) else None
