"""What earlier versions wrote (tests/data/v<version>, see tests/kept.py) is opened, processed and exported the same."""

import json

import pytest

from pipeline.verify import verify
from recorder import Recording
from recorder.package.receiving import receive
from tests.support.kept import DATA, outcome

VERSIONS = sorted(path for path in DATA.iterdir() if path.name.startswith("v"))


@pytest.fixture(params=VERSIONS, ids=lambda path: path.name)
def kept(request):
    return request.param


def test_a_kept_recording_is_processed_and_exported_to_the_same(kept, tmp_path):
    expected = json.loads((kept / "expected.json").read_bytes())
    found = outcome(kept / "kept", tmp_path)
    differing = {name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)}
    assert not differing, "meant? then: python -m tests.support.kept expect " + kept.name


def test_a_kept_recording_export_and_package_are_whole(kept, tmp_path):
    before = {path: path.read_bytes() for path in kept.rglob("*") if path.is_file()}
    assert verify(kept / "kept") == []
    assert verify(kept / "export") == []
    assert receive(kept / "package.zip", tmp_path / "received") == []
    types = [event["type"] for event in Recording(tmp_path / "received").events]
    assert {"navigate", "pointerdown", "click", "input"} <= set(types)
    assert before == {path: path.read_bytes() for path in kept.rglob("*") if path.is_file()}


def test_a_kept_recording_holds_what_was_done(kept):
    turns = json.loads((kept / "kept" / "demonstration.json").read_bytes())["turns"]
    intents = [turn.get("intent", "say") for turn in turns]
    assert intents == ["load", "say", "click", "textInput", "change", "click", "textInput", "click", "scroll", "click",
                       "say"]
    assert turns[6]["arguments"] == {"text": "[REDACTED]"} and turns[7]["element"]["frame"]
    assert all(b"pass-9" not in path.read_bytes() for path in kept.rglob("*") if path.is_file())
