"""What cannot be kept is counted, whenever it is lost; only a disk that takes no more ends a recording."""

import json

from recorder import Recording
from recorder.building.builder import RecordingBuilder
from recorder.building.tab_state import TabState
from schemas import DemotapeError


def test_what_is_lost_at_the_very_end_is_counted_too(tmp_path):
    builder = RecordingBuilder(tmp_path / "rec")
    builder.begin("Chromium 1")
    builder.note(user_agent="agent", browser="Chromium 1", viewport={"width": 800, "height": 600})
    tab = TabState(1, "http://site.example/", builder.on_frame)
    builder.add_tab(tab, None)
    for number in range(3):
        builder.on_browser_event(tab, "download", builder.now, {"url": "http://[", "files": [f"{number}"]})
    builder._writer_thread.submit(lambda: json.loads("{"))
    builder.finish(builder.now)
    recording = Recording(tmp_path / "rec")
    assert recording.manifest["status"] == "complete" and recording.manifest["lost_values"] == 1
    assert [event["data"]["url"] for event in recording.events] == ["http://["] * 3
    assert builder.problems == ["a value could not be recorded (JSONDecodeError)"]


def test_a_disk_that_takes_no_more_ends_it(tmp_path):
    builder = RecordingBuilder(tmp_path / "rec")
    builder.begin("Chromium 1")

    def full():
        raise OSError(28, "No space left on device")

    builder._writer_thread.submit(full)
    builder.finish(builder.now)
    assert isinstance(builder.failed, DemotapeError) and Recording(tmp_path / "rec").manifest["status"] == "recovered"
