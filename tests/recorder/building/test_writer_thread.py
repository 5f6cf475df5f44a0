"""The writer's thread is late when the machine is too busy; pictures are then kept as they came."""

import math
from datetime import UTC, datetime

import cv2
import numpy as np
import pytest

from recorder import Recording
from recorder.building import writer_thread
from recorder.building.event_writer import EventWriter
from recorder.building.lost_values import LostValues
from recorder.building.writer_thread import WriterThread
from recorder.media.painted_frames import PaintedFrame
from recorder.privacy.secret_values import Secrets
from recorder.writer import RecordingWriter
from tests.support.curator.curator_fixtures import manifest

PICTURE = cv2.imencode(".png", np.arange(60 * 80 * 3, dtype=np.uint8).reshape(60, 80, 3))[1].tobytes()


@pytest.mark.parametrize("waited, starved, late", [
    (math.inf, math.inf, False), (0.0, math.inf, True), (math.inf, -1.0, True)])
def test_it_is_late_when_jobs_waited_or_the_thread_did_not_run(monkeypatch, waited, starved, late):
    monkeypatch.setattr(writer_thread, "_LATE_S", waited)
    monkeypatch.setattr(writer_thread, "_STARVED_S", starved)
    thread, seen = WriterThread(lambda _: None, lambda _: None), []
    thread.begin()
    for _ in range(3):
        thread.submit(lambda: seen.append(thread.is_late()))
    thread.close()
    assert seen == [late] * 3


@pytest.mark.parametrize("late, kind", [(False, b"BM"), (True, b"\x89P")])
def test_a_picture_is_kept_as_it_came_when_the_thread_is_late(tmp_path, late, kind):
    writer = RecordingWriter(tmp_path / "rec", manifest())
    events = EventWriter(writer, Secrets(), LostValues([], lambda _: None), lambda: late)
    events.page_archive(0.5, 1, "https://shop.example/", b"")
    events.better_screenshot(1, 1, PaintedFrame(PICTURE, 0.4))
    writer.close(datetime.now(UTC))
    recording = Recording(tmp_path / "rec")
    line = list(recording.raw_events())[1]
    assert recording.blob(line["data"]["screenshot"])[:2] == kind
