"""Lines of a journal that cannot be read: they are named and left out, and the rest goes on."""

import json
import shutil
from collections.abc import Callable

import pytest

from pipeline import process
from pipeline.turns.folding import fold
from pipeline.verify import verify
from recorder import Recording
from schemas import limits
from tests.support.kept import DATA


@pytest.fixture
def broken(tmp_path) -> Callable[..., Recording]:
    """The kept recording with other lines in its journal."""
    root = shutil.copytree(DATA / "v1" / "kept", tmp_path / "kept")
    lines = (root / "events.jsonl").read_bytes().splitlines(keepends=True)

    def change(number: int, line: bytes) -> Recording:
        changed = [*lines[:number - 1], line, *lines[number:]]
        (root / "events.jsonl").write_bytes(b"".join(changed))
        return Recording(root)

    change.lines = lines
    return change


@pytest.mark.parametrize("line", [
    b"{\n", b"\xff\xfe\n", b"\n", b"[" * 5000 + b"\n", b"{}\n", b"x" * (limits.LINE + 5) + b"\n"])
def test_one_line_costs_one_event(broken, line):
    whole = broken(1, broken.lines[0]).events
    found = broken(4, line)
    assert [event["seq"] for event in found.events] == [event["seq"] for event in whole if event["seq"] != 4]
    assert list(found.broken_lines) == [4] and "line 4: " in found.broken_lines[4]
    assert found.loss().startswith("1 line of events.jsonl cannot be read and is skipped, such as ")


def test_whatever_line_is_lost_the_others_become_turns(broken):
    whole = {number for turn in fold(broken(1, broken.lines[0]).events) for number in turn["events"]}
    for number in range(1, len(broken.lines) + 1):
        kept = {each for turn in fold(broken(number, b"{\n").events) for each in turn["events"]}
        assert len(whole - kept) <= len(whole) // 3, number


def test_what_was_lost_is_told_and_checked_once(broken):
    recording = broken(4, b"{\n")
    turns = process(recording.layout.root)["turns"]
    (told,) = [(turn, check) for turn in turns for check in turn["checks"] if check["kind"] == "lost-lines"]
    assert told[0]["events"][0] > 4 and told[1]["reason"].startswith("1 line of the recording about here")
    problems = verify(recording.layout.root)
    assert len([each for each in problems if "line 4" in each]) == 1 and len(problems) <= 2


def test_lines_that_stand_twice_or_are_gone_are_told(broken):
    second = json.loads(broken.lines[1])
    twice = broken(3, json.dumps(second).encode() + b"\n")
    assert [event["seq"] for event in twice.events[:3]] == [1, 2, 4] and list(twice.broken_lines) == [3]
    gone = broken(3, b"")
    assert [event["seq"] for event in gone.events[:3]] == [1, 2, 4] and list(gone.broken_lines) == [3]
    assert any("missing or out of order" in problem for problem in verify(gone.layout.root))
