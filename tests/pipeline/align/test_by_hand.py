"""A person's word on where the external video belongs: `process` follows it, keeps it, and gives it up when told to."""

import json

import pytest
from click.testing import CliRunner

from benchmarks.align.faults import copy
from benchmarks.align.run import acting
from demotape.cli import main
from pipeline import process
from pipeline.processing import refresh
from recorder import Recording
from schemas import InputError
from tests.pipeline.align.test_align import MEETING, filmed, session  # noqa: F401  # fixtures

OFF = 0.4  # seconds by which the word differs from the truth, so that it is seen to count


def test_the_alignment_is_told(session, filmed, tmp_path):  # noqa: F811
    copy(session, tmp_path / "r")
    found = process(tmp_path / "r", video=filmed(MEETING)[0])["alignment"]
    assert (found["width"], found["height"]) == (960, 600) and found["duration"] > 5
    stretch, = found["stretches"]
    assert stretch["offset"] == pytest.approx(MEETING.video_time(0.0), abs=0.05) and "by_hand" not in found
    segment, = found["segments"]
    assert (segment["begin"], segment["end"]) == (0.0, found["duration"])
    found = segment["rectangle"]
    assert (found["left"], found["top"]) == pytest.approx((70, 70), abs=2)  # pixels; the few states of a slow machine
    assert (found["width"], found["height"]) == pytest.approx((0.8, 0.8), abs=0.004)  # shares: three pixels
    assert "alignment" not in process(tmp_path / "r", without=("video",))


def test_a_clock_by_hand_counts_and_is_kept(session, filmed, tmp_path):  # noqa: F811
    copy(session, tmp_path / "r")
    offset = MEETING.video_time(0.0) + OFF
    word = {"offset": offset, "drift": 150.0}
    first = process(tmp_path / "r", video=filmed(MEETING)[0], placement=word)
    assert first["alignment"]["by_hand"] == word
    assert [each["offset"] for each in first["alignment"]["stretches"]] == [pytest.approx(offset, abs=1e-3)]
    for turn in acting(first):
        expected = offset + turn["timestamp"] * (1 + 150e-6)
        assert -0.01 < expected - turn["state"]["video_time"] < 0.2, "the frame shown then, or the one before"
        assert turn["state"]["confidence"] == 1.0
        assert "unsure-in-video" not in {check["kind"] for check in turn["checks"]}
    assert process(tmp_path / "r") == first
    assert refresh(tmp_path / "r") == (first, False)
    anew = process(tmp_path / "r", without=("place",))
    assert anew["alignment"]["stretches"][0]["offset"] == pytest.approx(offset - OFF, abs=0.05)
    assert process(tmp_path / "r") == anew


def test_a_rectangle_by_hand_counts_beside_the_clock_that_is_found(session, filmed, tmp_path):  # noqa: F811
    copy(session, tmp_path / "r")
    drawn = {"left": 70.0, "top": 70.0, "width": 0.8, "height": 0.8}
    found = process(tmp_path / "r", video=filmed(MEETING)[0], placement={"rectangle": drawn})
    assert found["alignment"]["segments"][0]["rectangle"] == drawn
    assert found["alignment"]["stretches"][0]["offset"] == pytest.approx(MEETING.video_time(0.0), abs=0.05)
    both = process(tmp_path / "r", placement={"offset": 3.0, "drift": 0.0})["alignment"]["by_hand"]
    assert both == {"rectangle": drawn, "offset": 3.0, "drift": 0.0}
    other = tmp_path / "other.mp4"
    other.write_bytes(filmed(MEETING)[0].read_bytes())
    assert "by_hand" not in process(tmp_path / "r", video=other)["alignment"], "another video belongs elsewhere"


def test_the_command_takes_it_and_names_what_is_wrong(session, filmed, tmp_path):  # noqa: F811
    copy(session, tmp_path / "r")
    path = str(tmp_path / "r")
    result = run(path, "--video", str(filmed(MEETING)[0]), "--video-offset", "3.5", "--video-rectangle", "70,70,.8,.8")
    assert result.exit_code == 0, result.output
    told = json.loads(Recording(path).layout.demonstration.read_text())["alignment"]["by_hand"]
    assert told == {"offset": 3.5, "drift": 0.0, "rectangle": {"left": 70, "top": 70, "width": 0.8, "height": 0.8}}
    before = Recording(path).layout.demonstration.read_bytes()
    for options, words in ((("--video-drift", "3"), "--video-drift requires --video-offset"),
                           (("--video-rectangle", "1,2,3"), "--video-rectangle: must be four numbers"),
                           (("--video-rectangle", "1,2,3,x"), "--video-rectangle: must be four numbers"),
                           (("--video-rectangle", "1,2,0,1"), "rectangle.width"),
                           (("--video-offset", "nan"), "offset"),
                           (("--without-video", "--video-offset", "1"), "requires --video")):
        result = run(path, *options)
        assert result.exit_code and words in " ".join(result.output.split()), result.output
    assert Recording(path).layout.demonstration.read_bytes() == before


def test_a_place_without_a_video_is_refused(session, tmp_path):  # noqa: F811
    copy(session, tmp_path / "r")
    with pytest.raises(InputError, match="requires --video"):
        process(tmp_path / "r", placement={"offset": 1.0, "drift": 0.0})


def run(*arguments: str):
    return CliRunner().invoke(main, ["process", *arguments])
