"""Frames around a pause: what was painted in it is recorded only if it is what the page shows when the pause ends."""

from recorder.building.pauses import Pauses
from recorder.media.painted_frames import PaintedFrame


def frame(time: float) -> PaintedFrame:
    return PaintedFrame(b"", time)


def test_of_the_frames_of_a_pause_the_last_one_counts_whenever_they_arrive():
    pauses = Pauses()
    pauses.begin(2.0)
    assert pauses.is_recorded(frame(1.9), None) and not pauses.is_recorded(frame(2.5), None)
    pauses.end(4.0)
    for painted, newest, recorded in ((1.9, 4.5, True), (2.5, 3.0, False), (3.0, 3.0, True), (3.0, None, True),
                                      (3.0, 4.5, True), (4.0, 4.0, True), (4.5, 5.0, True)):
        assert pauses.is_recorded(frame(painted), newest and frame(newest)) is recorded, (painted, newest)
