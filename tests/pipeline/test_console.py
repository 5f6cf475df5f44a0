"""What pages wrote between two moments: in order, no more than can be read, and of addresses host and path only."""

import json
import time

import pytest

from pipeline import console
from recorder.reader import Recording
from recorder.writer import RecordingWriter
from schemas import InputError, limits
from tests.support.curator.curator_fixtures import HOSTILE, STARTED, manifest
from tests.support.samples.exchanges import SECRET, console_line


def recorded(folder, *lines) -> Recording:
    writer = RecordingWriter(folder / "rec-1", manifest() | {"options": {"console": True}})
    writer.open_console()
    for each in lines:
        writer.console(each)
    writer.close(STARTED.replace(minute=31))
    return Recording(writer.layout.root)


def test_those_between_are_told_in_order(tmp_path):
    recording = recorded(tmp_path, console_line(0.5), console_line(2.5, level="error", text=HOSTILE, script=HOSTILE),
                         console_line(1.0), console_line(3.0, level="error"))
    found = console.summarize(recording, 1.0, 3.0)
    assert [each["time"] for each in found["lines"]] == [1.0, 2.5]
    assert (found["total"], found["errors"]) == (2, 1)
    assert found["lines"][0] == {
        "time": 1.0, "tab": 1, "kind": "call", "level": "log", "text": "3 seats", "host": "air.example",
        "path": "/app/seats.js", "line": 12, "column": 4}
    assert SECRET not in json.dumps(found)
    json.dumps(found, ensure_ascii=False).encode()  # half of a surrogate pair is none any more
    assert console.summarize(recording, 2.0, None)["total"] == 2


def test_a_full_file_is_read_in_the_time_that_a_page_has(tmp_path):
    text = "".join(json.dumps(console_line(60 - number / 1000, text=f"line {number}")) + "\n"
                   for number in range(2 * limits.CONSOLE_LINES))
    recording = recorded(tmp_path)
    recording.layout.console.write_text(text)

    def takes() -> float:
        began = time.thread_time()
        console.summarize(recording, 0.0, None)
        return time.thread_time() - began

    # What other processes take from the processor's caches is counted, too.
    assert any(takes() < limits.VIEW_SECONDS / 2 for _ in range(3))
    found = console.summarize(recording, 0.0, None)
    assert found["total"] == 20_000 and len(found["lines"]) == console.MAX_LINES
    assert found["lines"][0]["text"] == "line 19999"


def test_a_file_that_is_damaged_is_named(tmp_path):
    recording = recorded(tmp_path)
    assert console.summarize(recording, 0.0, None) == {"lines": [], "total": 0, "errors": 0}
    recording.layout.console.write_text('{"time": 1}\n')
    with pytest.raises(InputError, match=r"console.jsonl, line 1: field tab"):
        console.summarize(recording, 0.0, None)
