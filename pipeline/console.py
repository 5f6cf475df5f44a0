"""Console messages of pages between two times of a recording, if recorded; only host and path of addresses."""

import heapq
from typing import NotRequired, TypedDict

from recorder.reader import Recording
from schemas.addresses import split_address
from schemas.text import storable
from schemas.types.recordings import ConsoleLine

MAX_LINES = 100  # lines that are told
_SHOWN = 300  # characters of a path


class Line(TypedDict):
    """One line. `time`: seconds; `kind`, `level`, `line`, `column`: as ConsoleLineSchema has them; `host`, `path`: of
    the script, empty where it is not told."""

    time: float
    tab: int
    kind: str
    level: str
    text: str
    host: str
    path: str
    line: NotRequired[int]
    column: NotRequired[int]


class Lines(TypedDict):
    """The first lines in order of time, how many there are, and how many of them are errors."""

    lines: list[Line]
    total: int
    errors: int


def summarize(recording: Recording, begin: float, end: float | None) -> Lines:
    """What was written from `begin` on and before `end` (None: to the end), seconds of the recording.

    Raises InputError for a file that cannot be read.
    """
    total = errors = 0
    first: list[tuple[float, int, ConsoleLine]] = []  # a heap that begins with the last of those that are told
    for number, line in enumerate(recording.console()):
        if line["time"] < begin or (end is not None and line["time"] >= end):
            continue
        total += 1
        errors += line["level"] == "error"
        heapq.heappush(first, (-line["time"], -number, line))
        if len(first) > MAX_LINES:
            heapq.heappop(first)
    result = [_shown_line(line) for *_, line in sorted(first, key=lambda entry: entry[:2], reverse=True)]
    return {"lines": result, "total": total, "errors": errors}


def _shown_line(line: ConsoleLine) -> Line:
    """A recorded line as it is shown: of its script's address, only the host (without credentials) and the path."""
    script = storable(line.get("script", ""))
    address = split_address(script)
    path = address.path if address.netloc else ""  # of data: and the like the whole content would be one
    shown: Line = {"time": round(line["time"], 3), "tab": line["tab"], "kind": line["kind"], "level": line["level"],
                   "text": storable(line["text"]), "path": path[:_SHOWN],
                   "host": (address.netloc.rpartition("@")[2] or address.scheme)[:_SHOWN]}
    if "line" in line:
        shown["line"] = line["line"]
    if "column" in line:
        shown["column"] = line["column"]
    return shown
