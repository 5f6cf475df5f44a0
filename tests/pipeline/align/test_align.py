"""Alignment with a real session in a real Chromium, filmed as a meeting tool would, and with the own video."""

import json
import shutil
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.align.faults import copy
from benchmarks.align.meeting import Meeting, Move, Spell, film
from benchmarks.align.run import acting, check_pictures, check_times
from curator_web.storage.recordings import RecordingStore
from demotape.cli import main
from pipeline import process
from pipeline.align import Video
from pipeline.align.clock import flash
from pipeline.align.layout.layout import Layout
from pipeline.align.layout.rectangle import Rectangle
from pipeline.align.pictures.ssim import ssim
from pipeline.verify import verify
from recorder import Recording
from recorder.writer import RecordingWriter
from schemas import InputError
from tests.conftest import painted
from tests.support.rotation import alternated
from tests.support.samples.recording_fixtures import STARTED_AT, element
from tests.support.samples.recording_fixtures import state as made_up_state
from tests.support.services.site import Site

PAGE = """<!DOCTYPE html><body style="margin:0;font:18px sans-serif"><h1>Shop</h1><button id=b>More</button>
<div id=list></div><script>
let n = 0;
const word = i => 'item ' + ((i * 7919 + n * 104729) % 99991) + ' at ' + ((i * 31 + n * 17) % 97) + ' pounds';
function show() { list.innerHTML = '';
  for (let i = 0; i < 14; i++) { const p = document.createElement('p'); p.textContent = word(i);
    p.style.cssText = 'margin:6px;background:hsl(' + (i * 40 + n * 67) % 360 + ',60%,80%)'; list.append(p); } n++; }
b.onclick = show; show();</script>"""
CLICKS = 14
PAUSES = (150, 480, 230, 650, 320)  # milliseconds: nobody acts at an even pace
MEETING = Meeting((960, 600), 0.8, 70, 70, offset=3.2, drift=1.5e-4, fps=(12, 20), crf=28, thumbnails=1, seed=3)


@pytest.fixture(scope="module")
def session(recording_browser):
    """A recording of a click on a page that shows something else after each."""
    site = Site({"/": PAGE})

    async def user_actions(page):
        await painted(page)
        for number in range(CLICKS):
            await page.mouse.click(25, 102)
            await painted(page)
            await page.wait_for_timeout(PAUSES[number % len(PAUSES)])

    made = recording_browser.record(user_actions, url=site.origin, viewport=(800, 600))
    site.close()
    return made.recording.layout.root


@pytest.fixture(scope="module")
def filmed(session, tmp_path_factory):
    """Gives the session's video as a meeting has it, filmed once, and the times of its frames."""
    folder, made = tmp_path_factory.mktemp("film"), {}
    length = max(event["time"] for event in Recording(session).events) + 0.5

    def of(meeting: Meeting):
        if (name := repr(meeting)) not in made:
            path = folder / f"meeting-{len(made)}.mp4"
            made[name] = path, film(session / "video.webm", meeting, length, path)
        return made[name]
    return of


def test_every_action_is_found_in_the_video(session, filmed, tmp_path):
    video, times = filmed(MEETING)
    copy(session, tmp_path / "r")
    turns = acting(process(tmp_path / "r", video=video))
    found = Counter()
    check_times(turns, MEETING, times, found, verbose=True)
    assert found["filmed"] >= CLICKS
    assert found["within_one_frame"] == found["filmed"] and not found["wrong_but_sure"]
    assert sum(turn["state"]["confidence"] >= 0.5 for turn in turns) >= CLICKS - 1
    assert all(turn["state"]["similarity"] > 0.7 for turn in turns[1:])
    assert not any("screenshot_source" in turn["state"] for turn in turns)


def test_speech_is_put_on_the_recordings_clock(session, filmed, tmp_path):
    video, _ = filmed(MEETING)
    copy(session, tmp_path / "r")
    times = [turn["timestamp"] for turn in acting(process(tmp_path / "r", video=video))][2:]
    said = "".join(f"{number}\n00:00:{MEETING.video_time(time - 0.05):06.3f} --> 00:00:30.000\nPress {number}.\n\n"
                   for number, time in enumerate(times))
    subtitles = tmp_path / "said.srt"
    subtitles.write_text(said)
    turns = process(tmp_path / "r", video=video, speech=subtitles)["turns"]
    spoken = [turn for turn in turns if turn.get("source") == "speech"]
    assert [turn["timestamp"] for turn in spoken] == pytest.approx([time - 0.05 for time in times], abs=0.08)
    assert not any(turn["checks"] for turn in spoken), "the place of the video is sure"
    assert [turn["id"] for turn in acting({"turns": turns})] and len(spoken) == len(times)


def test_late_screenshots_are_replaced_and_marked(session, filmed, tmp_path):
    video, times = filmed(MEETING)
    faults = copy(session, tmp_path / "r", late=True)
    result = CliRunner().invoke(main, ["process", str(tmp_path / "r"), "--video", str(video)])
    assert result.exit_code == 0, result.output
    recording = Recording(tmp_path / "r")
    turns = acting(json.loads(recording.layout.demonstration.read_text()))
    found = Counter()
    for turn in turns:
        wrong_before = found["pictures"] - found["pictures_right"]
        check_pictures([turn], faults, recording, MEETING, times, found, verbose=True)
        # A picture that is at a frame's very edge, or of a machine too busy to film, may be left, but is never sure.
        assert found["pictures"] - found["pictures_right"] == wrong_before or turn["state"]["confidence"] < 0.5
    assert found["pictures_late"] >= CLICKS // 2 - 1
    assert found["late_put_right"] >= found["pictures_late"] - 2
    replaced = [turn for turn in turns if "screenshot_source" in turn["state"]]
    for turn in replaced:
        assert turn["state"]["screenshot_taken"] == faults[turn["id"]].late
        assert "replaced-screenshot" in {check["kind"] for check in turn["checks"]}
    assert verify(recording.layout.root) == []
    RecordingStore(tmp_path / "data").add(recording)
    for turn in turns:
        assert RecordingStore(tmp_path / "data").open(recording.id).blob(turn["state"]["screenshot"])


HALF = 2.5  # seconds of the recording, about the middle of it
SHOWN_OTHERWISE = {
    "moved": {"moves": [Move(HALF, 0.8, 190, 110)]},
    "dragged": {"moves": [Move(HALF, 0.8, 190, 110, takes=0.4)]},
    "resized": {"moves": [Move(HALF, 0.65, 190, 110)]},
    "dimmed": {"spells": [Spell(-9, 99, 0.55)]},
    "dimmed for a time": {"spells": [Spell(1.5, 2, 0.55)]},
    "dragged for long": {"moves": [Move(HALF, 0.8, 190, 110, takes=1.2)]},
    "dimmed soon after it began": {"spells": [Spell(0.6, 99, 0.3)]},
    "moved while it was not shown": {"moves": [Move(HALF + 0.3, 0.8, 190, 110)], "spells": [Spell(HALF, 0.6, 1)]},
}


@pytest.mark.parametrize("how, late", alternated(SHOWN_OTHERWISE, (False, True)))
def test_a_window_that_moves_or_is_dimmed_spoils_nothing(session, filmed, tmp_path, how, late):
    meeting = replace(MEETING, **SHOWN_OTHERWISE[how])
    video, times = filmed(meeting)
    faults = copy(session, tmp_path / "r", late=late)
    turns = acting(process(tmp_path / "r", video=video))
    found = Counter()
    check_times(turns, meeting, times, found, verbose=True)
    check_pictures(turns, faults, Recording(tmp_path / "r"), meeting, times, found, verbose=True)
    assert not found["wrong_but_sure"] and not found["good_spoiled"]
    assert [likeness for likeness in of_video(turns, faults, Recording(tmp_path / "r")) if likeness < 0.7] == []
    if not late:
        unseen = 5 * ("not shown" in how or "for long" in how) + ("soon" in how)
        assert found["within_one_frame"] >= found["filmed"] - 1 - unseen
        assert found["low_confidence"] <= 1 + unseen
        assert not any("screenshot_source" in turn["state"] for turn in turns)
    elif not found["low_confidence"]:  # so short a session with half its screenshots late may not tell its clock
        assert found["late_put_right"] >= found["pictures_late"] - 2


def of_video(turns, faults, recording):
    """How like the right screenshot (SSIM) each picture is that was cut out of the video."""
    def grey(name):
        return cv2.imdecode(np.frombuffer(recording.blob(name), np.uint8), cv2.IMREAD_GRAYSCALE)
    return [ssim(grey(turn["state"]["screenshot"]), grey(faults[turn["id"]].right)) for turn in turns
            if turn["state"].get("screenshot_source") == "video" and turn["id"] in faults]


@pytest.mark.parametrize("late", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_session_is_found_where_it_is_a_small_part_of_the_video(session, filmed, tmp_path, late):
    """What frames show before does not count as what covers the page."""
    meeting = replace(MEETING, offset=25.0, moves=[Move(HALF, 0.8, 190, 110)])
    video, times = filmed(meeting)
    copy(session, tmp_path / "r", late=late)
    turns = acting(process(tmp_path / "r", video=video))
    found = Counter()
    check_times(turns, meeting, times, found, verbose=True)
    assert found["filmed"] >= CLICKS and not found["wrong_but_sure"]
    times = [(turn["state"]["video_time"], meeting.video_time(turn["timestamp"])) for turn in turns]
    assert sum(time is None or abs(time - truth) > 0.5 for time, truth in times) <= 1  # one may be while it moves
    assert late or found["low_confidence"] <= found["filmed"] // 2


def test_a_video_of_something_else_is_never_sure(session, tmp_path):
    video = tmp_path / "other.mp4"
    black = Meeting((640, 400), 0.8, 5000, 0, offset=1.0, drift=0.0, fps=(10, 12), chrome=False, seed=4)
    film(session / "video.webm", black, 4.0, video)
    copy(session, tmp_path / "r")
    for turn in acting(process(tmp_path / "r", video=video)):
        assert turn["state"]["confidence"] < 0.5
        assert {"not-in-video", "unsure-in-video"} & {check["kind"] for check in turn["checks"]}


def test_a_red_flash_marks_the_start(session, tmp_path):
    meeting = Meeting((960, 600), 0.8, 70, 70, offset=2.0, drift=0.0, fps=(12, 20), flash=True, seed=5)
    film(session / "video.webm", meeting, 1.0, tmp_path / "flash.mp4")
    video = Video(tmp_path / "flash.mp4")
    bracket = flash.find(video, Layout.always(Rectangle(70, 70, 0.8, 0.8)), (800, 600), [2.6])
    assert bracket.after < meeting.video_time(0.0) <= bracket.until
    assert flash.find(video, Layout.always(Rectangle(70, 70, 0.8, 0.8)), (800, 600), [0.2]) is None


@pytest.mark.parametrize("content", [b"", b"no video at all", None])
def test_what_is_no_video_is_refused_in_one_line(session, tmp_path, content):
    copy(session, tmp_path / "r")
    video = tmp_path / "v.mp4"
    if content is not None:
        video.write_bytes(content)
    with pytest.raises(InputError, match="v.mp4"):
        process(tmp_path / "r", video=video)


def test_the_own_video_has_the_recordings_clock(session, tmp_path):
    shutil.copytree(session, tmp_path / "r")
    for turn in acting(process(tmp_path / "r")):
        if turn["state"]["screenshot"]:  # of an empty page, the first frame may come too late for it
            assert turn["state"]["video_time"] == turn["state"]["screenshot_time"]
        assert "confidence" not in turn["state"]


def test_a_screenshot_that_is_late_by_its_own_time_gives_way_to_the_own_video(session, tmp_path):
    root = tmp_path / "r"
    shutil.copytree(session, root)
    as_recorded = (root / "events.jsonl").read_bytes()
    lines = [json.loads(line) for line in as_recorded.splitlines()]
    late = next(line for line in lines if line["type"] == "pointerdown" and line["state"]["screenshot"])
    late["state"]["screenshot_time"] = late["time"] + 0.5
    for line in lines:  # a better one that followed
        if line["type"] == "screenshot" and line["data"]["event"] == late["seq"]:
            line["data"]["screenshot_time"] = late["time"] + 0.5
            late["state"]["screenshot"] = line["data"]["screenshot"]
    (root / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    turn = next(turn for turn in acting(process(root)) if turn["id"] == f"turn-{late['seq']}")
    assert turn["state"]["screenshot_source"] == "video" and turn["state"]["video_time"] <= turn["timestamp"]
    assert turn["state"]["screenshot_taken"] == late["state"]["screenshot"]
    assert cv2.imdecode(np.frombuffer(Recording(root).blob(turn["state"]["screenshot"]), np.uint8), 1).shape
    made = Recording(root).layout.derived_blob(turn["state"]["screenshot"])
    assert made.exists()
    (root / "events.jsonl").write_bytes(as_recorded)
    process(root)
    assert not made.exists()  # nothing names it any more


def test_without_any_video_there_is_no_video_time(tmp_path):
    writer = RecordingWriter(tmp_path / "r", {
        "format": "demotape/recording", "version": 1, "id": "r", "task": "", "started_at": STARTED_AT, "user_agent": "",
        "browser": "", "viewport": {"width": 640, "height": 400}, "options": {}})
    writer.event({"time": 1.0, "type": "click", "tab": 1, "gesture": None, "target": element("10", "input"),
                  "data": {"x": 50.0, "y": 50.0, "button": 0, "modifiers": []}, "state": made_up_state(writer, 0)})
    writer.close(STARTED_AT + timedelta(seconds=3))
    (turn,) = process(tmp_path / "r")["turns"]
    assert turn["state"]["video_time"] is None and turn["state"]["screenshot_status"] == "good"
