"""Verifying recordings, demonstrations and exports: what is damaged is named, what is whole is silent."""

import json

import pytest

from pipeline.export import Source, export
from pipeline.verify import verify
from schemas import InputError, limits
from schemas.files import dump_json
from tests.support.samples.exchanges import console_line, exchange
from tests.support.samples.recording_fixtures import make_demonstration, write_recording


@pytest.fixture
def recording(tmp_path):
    return write_recording(tmp_path / "rec")


def save(recording, demonstration):
    recording.layout.demonstration.write_bytes(dump_json(demonstration))


def test_what_is_whole_has_no_problems(tmp_path, recording):
    demonstration = make_demonstration(recording)
    save(recording, demonstration)
    assert verify(recording.layout.root) == []
    assert verify(recording.layout.demonstration) == []
    for format in ("weblinx", "webdataset"):
        export([Source(demonstration, recording)], tmp_path / format, format)
        assert verify(tmp_path / format) == []


def test_damaged_and_missing_blobs(recording):
    blobs = sorted(path for path in recording.layout.blobs.rglob("*") if path.is_file())
    blobs[0].unlink()
    blobs[1].write_bytes(b"junk")
    problems = verify(recording.layout.root)
    assert len(problems) == 2
    assert any(blobs[0].name in problem and "missing" in problem and "named by" in problem for problem in problems)
    assert any(blobs[1].name in problem for problem in problems)


def change_event(recording, number, **fields):
    lines = recording.layout.events.read_text().splitlines()
    lines[number - 1] = json.dumps(json.loads(lines[number - 1]) | fields)
    recording.layout.events.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("fields, expected", [
    ({"time": -1}, "before the recording's start"), ({"seq": 9}, "missing or out of order"),
    ({"gesture": 7}, "names event 7"), ({"type": "dance"}, "field type"),
])
def test_events(recording, fields, expected):
    change_event(recording, 3, **fields)
    problems = verify(recording.layout.root)
    assert len(problems) == 1 and "line 3" in problems[0] and expected in problems[0]


@pytest.mark.parametrize("line, expected", [
    (b"{", "not JSON"), (b"[1]", ""), (b'{"time": 1}', "field tab"), (b"[" * 100_000, "not JSON"),
    (b'"' + b"x" * (limits.LINE + 1), "longer than 16 MiB"),
    *((json.dumps(console_line(1.0) | {name: value}).encode(), said) for name, value, said in (
        ("time", -1, "before the recording's start"), ("time", "1e999", "field time"), ("level", "loud", "field level"),
        ("text", {"a": 1}, "field text"), ("text", "x" * 2001, "field text"), ("line", 0, "field line"),
        ("script", None, "field script"), ("more", 1, "field more"))),
])
def test_lines_of_the_console(recording, line, expected):
    recording.layout.console.write_bytes(json.dumps(console_line(0.5)).encode() + b"\n" + line + b"\n")
    [problem] = verify(recording.layout.root)
    assert "console.jsonl, line 2" in problem and expected in problem and len(problem) < 400


MESSAGE = {"time": 1.0, "tab": 1, "channel": 1, "kind": "websocket", "direction": "received"}


@pytest.mark.parametrize("name, line, expected", [
    ("network", {}, ""), ("network", {"seq": 3}, "field seq: 3 instead of 2"),
    ("network", {"status": 1000}, "field status"), ("network", {"body": "0" * 64}, "named by"),
    ("network", {"answer_body": "0" * 64}, "named by"), ("network", {"more": 1}, "field more"),
    ("messages", {"text": "x"}, ""), ("messages", {"blob": "0" * 64}, "named by"),
    ("messages", {"direction": "up"}, "field direction"), ("messages", {"channel": 0}, "field channel"),
])
def test_lines_of_the_network(recording, name, line, expected):
    whole = [exchange(1, 1.0), exchange(2, 2.0)] if name == "network" else [MESSAGE, MESSAGE]
    lines = [whole[0], whole[1] | line]
    getattr(recording.layout, name).write_text("".join(json.dumps(each) + "\n" for each in lines))
    problems = verify(recording.layout.root)
    if not expected:
        assert problems == []
        return
    [problem] = problems
    assert f"{name}.jsonl, line 2" in problem and expected in problem


@pytest.mark.parametrize("name", ["events", "chat", "resources", "network", "messages", "console"])
def test_a_cut_off_line_is_reported(recording, name):
    path = getattr(recording.layout, name)
    with path.open("ab") as journal:
        journal.write(b'{"seq": 5, "ti')
    [problem] = verify(recording.layout.root)
    assert str(path) in problem and "cut off" in problem


def test_demonstration(recording):
    demonstration = make_demonstration(recording)
    turns = demonstration["turns"]
    turns[2] = turns[2] | {"id": "t0", "events": [99]}
    turns[3] = turns[3] | {"state": turns[3]["state"] | {"dom": "0" * 64}}
    turns[0] = turns[0] | {"reply_to": "t1"}
    save(recording, demonstration | {"recording": "other"})
    problems = verify(recording.layout.demonstration)
    assert problems == verify(recording.layout.root)
    assert len(problems) == 5
    for part in ("occurs 2 times", "event 99", "state.dom", "'other'",
                 "'chat-a': field reply_to: no other chat turn 't1'"):
        assert any(part in problem for problem in problems)


def test_export(tmp_path, recording):
    root = tmp_path / "out"
    export([Source(make_demonstration(recording), recording)], root, "weblinx")
    folder = root / "demonstrations" / "rec"
    (folder / "form.json").unlink()
    (folder / "replay.json").write_text("{}")
    metadata = (folder / "metadata.json").read_bytes()
    (folder / "metadata.json").write_bytes(metadata.replace(b"Mozilla", b"Nozilla"))
    (root / "extra.txt").write_text("x")
    problems = verify(root)
    assert len(problems) == 4
    expected = {"form": "missing", "replay": "bytes instead of", "metadata": "SHA-256", "extra": "not part"}
    for name, part in expected.items():
        assert any(name in problem and part in problem for problem in problems)


def test_what_is_none_of_them(tmp_path):
    (tmp_path / "x.json").write_text("[]")
    for path in (tmp_path, tmp_path / "x.json", tmp_path / "none"):
        with pytest.raises(InputError, match=str(path)):
            verify(path)
    (tmp_path / "recording.json").write_text("{}")
    assert len(verify(tmp_path)) == 1
