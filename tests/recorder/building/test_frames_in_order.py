"""Frames come in the order in which the browser has compressed them, not in which they were painted."""

import subprocess
import sys
from itertools import permutations
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from recorder import Recording
from recorder.building.builder import RecordingBuilder
from recorder.building.recording_clock import RecordingClock
from recorder.building.tab_state import TabState
from recorder.media.encoder import HEADER
from recorder.media.painted_frames import PaintedFrame
from recorder.media.video import VideoWriter

_EVENT = 0.4


def picture(level: int, size: tuple[int, int] = (320, 200), kind: str = ".png") -> bytes:
    page = np.full((size[1], size[0], 3), level, np.uint8)
    return cv2.imencode(kind, page)[1].tobytes()


def levels(video: Path) -> list[tuple[float, int, tuple[int, int]]]:
    """Time, brightness of the middle and size of a video's frames."""
    with av.open(str(video)) as container:
        frames = [(frame.time, frame.to_ndarray(format="gray")) for frame in container.decode(video=0)]
    return [(round(time, 3), int(page[page.shape[0] // 2, page.shape[1] // 2]), page.shape[::-1])
            for time, page in frames]


@pytest.mark.parametrize("told_after", range(4))
@pytest.mark.parametrize("order", list(permutations((0.1, 0.2, 0.6))), ids=str)
def test_the_screenshot_is_what_was_painted_last_before_the_event(tmp_path, order, told_after):
    """Whatever the order in which the frames come, and whenever the event comes between them."""
    now = 0.0
    clock = lambda: RecordingClock(wall=lambda: 1000 + now, steady=lambda: now)  # noqa: E731
    builder = RecordingBuilder(tmp_path / "one", clock=clock)
    builder.begin("Chromium")
    tab = TabState(1, "about:blank", builder.on_frame)
    builder.add_tab(tab, None)
    frames = [PaintedFrame(picture(round(250 * time)), time) for time in order]
    now = 0.65
    for frame in frames[:told_after]:
        tab.paint(frame)
    tab.confirm_secret_positions(now)
    builder.on_browser_event(tab, "navigate", 1000 + _EVENT, {"url": "about:blank", "transition": "reload"})
    for frame in frames[told_after:]:
        tab.paint(frame)
    tab.confirm_secret_positions(now)
    builder.settle()
    builder.finish(1001)
    assert builder.problems == []
    event = next(event for event in Recording(tmp_path / "one").events if event["type"] == "navigate")
    assert event["state"]["screenshot_time"] == 0.2
    times = [time for time, _, _ in levels(tmp_path / "one" / "video.webm")]
    assert times == sorted(times) and times[-1] == 0.6  # what comes too late for the video is not in it


def test_a_page_that_is_painted_again_as_it_was_counts_from_when_it_was_first_seen(tmp_path):
    """The browser is asked for what is on the screen once the page rests; that did not change then."""
    now = 0.0
    clock = lambda: RecordingClock(wall=lambda: 1000 + now, steady=lambda: now)  # noqa: E731
    builder = RecordingBuilder(tmp_path / "one", clock=clock)
    builder.begin("Chromium")
    tab = TabState(1, "about:blank", builder.on_frame)
    builder.add_tab(tab, None)
    now = 2.0
    for time, level in ((0.1, 10), (0.2, 20), (0.5, 20), (0.8, 10)):
        tab.paint(PaintedFrame(picture(level), time))
    tab.confirm_secret_positions(now)
    for time in (0.6, 0.9):
        builder.on_browser_event(tab, "navigate", 1000 + time, {"url": "about:blank", "transition": "reload"})
    builder.settle()
    builder.finish(1002)
    states = [event["state"] for event in Recording(tmp_path / "one").events if event["type"] == "navigate"]
    assert [state["screenshot_time"] for state in states] == [0.2, 0.8]



def test_the_video_keeps_its_size(tmp_path):
    """The first frame says how large; a window that grew is scaled into it, one odd pixel is cut off."""
    video = VideoWriter(tmp_path / "video.webm")
    for number, size in enumerate([(321, 201), (320, 200), (640, 400), (100, 300)]):
        video.add(PaintedFrame(picture(60 + 40 * number, size), number / 10))
    video.close()
    assert video.error is None
    found = levels(tmp_path / "video.webm")
    assert [(time, size) for time, _, size in found] == [(number / 10, (320, 200)) for number in range(4)]
    # the last one is scaled to the height, and stands at the left
    assert all(abs(level - (60 + 40 * number)) < 6 for number, (_, level, _) in enumerate(found[:3]))


@pytest.mark.parametrize("kind", [".png", ".jpg", ".bmp"])
def test_a_frame_may_be_any_kind_of_picture(tmp_path, kind):
    video = VideoWriter(tmp_path / "video.webm")
    for number in (1, 2):
        video.add(PaintedFrame(picture(80 * number, kind=kind), float(number)))
    video.close()
    assert video.error is None
    assert [time for time, _, _ in levels(tmp_path / "video.webm")] == [1.0, 2.0]
    assert all(abs(level - 80 * time) < 6 for time, level, _ in levels(tmp_path / "video.webm"))


def test_a_picture_that_is_none_ends_the_video_and_says_so(tmp_path):
    video = VideoWriter(tmp_path / "video.webm")
    video.add(PaintedFrame(picture(90), 0.1))
    video.add(PaintedFrame(b"no picture", 0.2))
    video.close()
    assert "Invalid data" in str(video.error)


def test_a_folder_that_is_gone_is_said(tmp_path):
    video = VideoWriter(tmp_path / "gone" / "video.webm")
    video.add(PaintedFrame(picture(90), 0.1))
    video.close()
    assert "No such file" in str(video.error)


def test_a_video_is_whole_though_its_frames_were_cut_off(tmp_path):
    """So it is when the recorder was killed: the process that encodes lives on and closes the file."""
    target = tmp_path / "video.webm"
    encoder = subprocess.Popen([sys.executable, "-m", "recorder.media.encoder", str(target)], stdin=subprocess.PIPE)
    for number in range(5):
        content = picture(50 * number)
        encoder.stdin.write(HEADER.pack(number / 10, len(content)) + content)
    encoder.stdin.write(HEADER.pack(0.5, 1000) + b"cut off")
    encoder.stdin.close()
    assert encoder.wait(60) == 0
    assert len(levels(target)) == 5
