"""Blobs that were not on disk when the recorder was killed: `check` names them, and the rest is processed."""

import json
import shutil

import pytest

from pipeline import process
from pipeline.verify import verify
from recorder import Recording
from tests.support.kept import DATA


@pytest.fixture
def killed(tmp_path):
    """The kept recording as a killed recorder leaves it."""
    root = shutil.copytree(DATA / "v1" / "kept", tmp_path / "kept")
    manifest = json.loads((root / "recording.json").read_text())
    (root / "recording.json").write_text(json.dumps(manifest | {"status": "recording", "ended_at": None}))
    shutil.rmtree(root / "derived", ignore_errors=True)
    return root


def acting(root):
    """The event of the first turn with a target and a page, and its state."""
    turn = next(turn for turn in process(root)["turns"]
                if turn["type"] == "browser" and turn["element"] and turn["state"]["dom"])
    return turn["events"][0], turn["state"]


@pytest.mark.parametrize("field", ["dom", "elements", "screenshot"])
@pytest.mark.parametrize("content", [None, b""], ids=["missing", "empty"])
def test_a_turn_stays_without_what_is_missing(killed, field, content):
    whole = process(killed)["turns"]
    number, state = acting(killed)
    path = Recording(killed).layout.blob(state[field])
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    assert any(path.name in problem and f"line {number}: field state.{field}" in problem for problem in verify(killed))
    recording = Recording(killed)
    assert field in recording.lost_blobs[number]
    assert f"blobs of {len(recording.lost_blobs)} event" in recording.loss()
    turns = process(killed)["turns"]
    assert [turn["id"] for turn in turns] == [turn["id"] for turn in whole]
    turn = next(turn for turn in turns if turn["type"] == "browser" and turn["events"][0] == number)
    assert turn["state"]["url"] == state["url"]
    kinds = [check["kind"] for check in turn["checks"]]
    if field == "dom":
        assert turn["state"]["dom"] is None and "not-in-page" in kinds
    elif field == "elements":
        assert turn["state"]["elements"] is None
    else:
        assert turn["state"]["screenshot_status"] == "broken" or turn["state"]["screenshot_source"] == "video"
        assert not kinds or {"broken-screenshot", "replaced-screenshot"} & {*kinds}


def test_without_any_blob_the_actions_are_there(killed):
    whole = process(killed)["turns"]
    shutil.rmtree(killed / "blobs")
    turns = process(killed)["turns"]
    assert [turn["id"] for turn in turns] == [turn["id"] for turn in whole]
    assert verify(killed)


def test_of_a_complete_recording_nothing_is_left_out(tmp_path):
    root = shutil.copytree(DATA / "v1" / "kept", tmp_path / "kept")
    _, state = acting(root)
    recording = Recording(root)
    recording.layout.blob(state["dom"]).unlink()
    assert not recording.lost_blobs and any(event["state"] and event["state"]["dom"] == state["dom"]
                                            for event in recording.events)
