"""A person's word on where the external video belongs: what follows for turns and alignment; it can be undone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.turns.edits import append, apply_edits
from pipeline.turns.video_placement import alignment_after, recording_time, video_time, without_video
from schemas import InputError
from tests.support.samples.recording_fixtures import make_demonstration, write_recording

RECTANGLE = {"left": 70.0, "top": 71.0, "width": 0.8, "height": 0.79}
ALIGNMENT = {"width": 960, "height": 600, "duration": 8.0, "segments": [], "stretches": [
    {"begin": 0.0, "end": 4.0, "offset": 1.0, "drift": 0.0}, {"begin": 4.0, "end": 8.0, "offset": 2.0, "drift": 0.0}]}


@pytest.fixture
def turns(tmp_path):
    found = make_demonstration(write_recording(tmp_path / "rec"))["turns"]
    for turn in found:
        turn["checks"] = [{"kind": kind, "reason": "x"} for kind in ("unsure-in-video", "not-in-video", "empty-input")]
    return found


@given(time=st.floats(-1e4, 1e4), offset=st.floats(-1e4, 1e4), drift=st.floats(-10_000, 10_000))
def test_the_two_clocks_are_each_others_reverse(time, offset, drift):
    assert recording_time(video_time(time, offset, drift), offset, drift) == pytest.approx(time, abs=1e-6)


def test_every_action_gets_its_time_and_what_is_past_the_end_is_not_in_it(turns):
    placed = apply_edits(turns, [place(offset=3.5, drift=100.0, duration=8.0)])
    acting = [turn for turn in placed if turn["type"] == "browser" and turn["state"]]
    assert acting[0]["timestamp"] == 1.0 and acting[0]["state"]["video_time"] == 4.5001
    for turn in acting:
        shown = turn["timestamp"] < 4.5
        assert (turn["state"]["video_time"] is not None) == shown
        assert turn["state"]["confidence"] == (1.0 if shown else 0.0)
        kept = ["empty-input"] if shown else ["not-in-video", "empty-input"]
        assert [check["kind"] for check in turn["checks"]] == kept
    untouched = [turn for turn in turns if turn["type"] == "chat" or not turn["state"]]
    assert [turn for turn in placed if turn["type"] == "chat" or not turn["state"]] == untouched


def test_nothing_else_of_a_turn_changes_and_undo_brings_it_back(turns):
    log = append(turns, [], place(offset=3.5, drift=0.0))
    placed = apply_edits(turns, log)
    assert placed != turns and [*map(without_video, placed)] == [*map(without_video, turns)]
    assert apply_edits(turns, append(turns, log, {"op": "undo"})) == turns
    assert apply_edits(turns, append(turns, [], place(rectangle=RECTANGLE))) == turns


def test_the_alignment_follows_and_what_is_not_said_again_stays():
    found = alignment_after(ALIGNMENT, [place(rectangle=RECTANGLE), place(offset=3.5, drift=-20.0)])
    assert found["stretches"] == [{"begin": 0.0, "end": 8.0, "offset": 3.5, "drift": -20.0}]
    assert found["segments"] == [{"begin": 0.0, "end": 8.0, "rectangle": RECTANGLE}]
    assert found["by_hand"] == {"offset": 3.5, "drift": -20.0, "rectangle": RECTANGLE}
    assert alignment_after(ALIGNMENT, [place(rectangle=RECTANGLE)])["stretches"] == ALIGNMENT["stretches"]
    gaps = [{"begin": 0.0, "end": 3.0, "rectangle": RECTANGLE}, {"begin": 5.0, "end": 8.0, "rectangle": RECTANGLE}]
    drawn = alignment_after(ALIGNMENT | {"segments": gaps}, [place(rectangle=RECTANGLE | {"left": 1.0})])["segments"]
    assert [(each["begin"], each["end"], each["rectangle"]["left"]) for each in drawn] == [(0, 3, 1.0), (5, 8, 1.0)]
    assert alignment_after(None, [place(offset=1.0, drift=0.0)]) is None


@pytest.mark.parametrize(("said", "field"), [
    ({"offset": 1.0}, "drift"), ({"drift": 1.0}, "offset"), ({}, "place"), ({"duration": 3.0}, "place"),
    ({"offset": float("nan"), "drift": 0.0}, "offset"), ({"offset": 1.0, "drift": 1e6}, "drift"),
    ({"rectangle": {**RECTANGLE, "width": 0.0}}, "width"), ({"rectangle": {"left": 1.0}}, "top")])
def test_what_cannot_be_meant_is_told_by_its_field(turns, said, field):
    with pytest.raises(InputError, match=field):
        append(turns, [], place(**said))


def place(**said) -> dict:
    return {"op": "place_video", "place": said}
