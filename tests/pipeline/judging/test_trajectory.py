"""What a judge is given: what the demonstration keeps, shown as it was, and the end."""

import base64
import json

import cv2
import numpy
import pytest

from pipeline.judging.prompt import RULES, messages
from pipeline.judging.trajectory import WIDTH, read_trajectory, select_turns
from recorder import Recording
from schemas import InputError
from tests.support.curator.curator_fixtures import TASK, make_recording, state, turns


def acted(name: str | None, dropped: bool = False) -> dict:
    return {"type": "browser", "dropped": dropped, "state": name and {"screenshot": name}}


@pytest.mark.parametrize("given, last, names", [
    ([acted("a"), acted("b")], {"screenshot": "z"}, ["a", "b", "z"]), ([acted("a"), acted("b")], None, ["a", "b"]),
    ([acted("a"), acted("a"), acted(None), acted("b")], {"screenshot": "b"}, ["a", "b"]),
    ([acted("a"), acted("b", True), acted("c")], {"screenshot": None}, ["a", "c"]),
    # after the last that is kept comes what the next began with, not the end
    ([acted("a"), acted("b"), acted("c", True), acted("d", True)], {"screenshot": "z"}, ["a", "b", "c"]),
    ([acted("a", True)], {"screenshot": "z"}, []), ([], {"screenshot": "z"}, [])])
def test_screenshots_before_each_action_and_after_the_last(given, last, names):
    assert select_turns(given, last) == names


def test_task_answer_and_the_last_screenshots(tmp_path):
    path = make_recording(tmp_path)
    whole, end = read_trajectory(path, 15), read_trajectory(path, 2, "Flight 7")
    assert (whole.task, whole.answer, end.answer) == (TASK, "Done, which date?", "Flight 7")
    assert len(whole.pictures) == 4 and end.pictures == whole.pictures[-2:]
    system, user = messages(end)
    assert system == {"role": "system", "content": RULES}
    text, *pictures = user["content"]
    assert TASK in text["text"] and "Flight 7" in text["text"] and "The last 2 screenshots" in text["text"]
    assert [base64.b64decode(each["image_url"]["url"].removeprefix("data:image/jpeg;base64,")) for each in pictures
            ] == [*end.pictures]


def test_what_nobody_said_is_told_as_that(tmp_path):
    path = make_recording(tmp_path, change=lambda turns: turns[4].update(dropped=True))
    text = messages(read_trajectory(path, 1))[1]["content"][0]["text"]
    assert "(none; the screenshots" in text and "The last screenshot:" in text


def test_wide_pictures_are_made_smaller(tmp_path):
    def wide(writer):
        made = turns(writer)
        content = cv2.imencode(".png", numpy.zeros((200, 2 * WIDTH, 3), numpy.uint8))[1].tobytes()
        made[3]["state"] = state(writer, 4, "") | {"screenshot": writer.blob(content)}
        return made

    *_, before_last, _ = read_trajectory(make_recording(tmp_path, make_turns=wide), 15).pictures
    assert before_last.startswith(b"\xff\xd8\xff")
    assert cv2.imdecode(numpy.frombuffer(before_last, numpy.uint8), cv2.IMREAD_COLOR).shape == (100, WIDTH, 3)


def test_what_cannot_be_judged_is_refused(tmp_path):
    def broken(writer):
        made = turns(writer)
        made[5]["state"]["screenshot"] = writer.blob(b"no picture")
        return made

    empty = make_recording(tmp_path / "task", task=" ")
    shapeless = make_recording(tmp_path / "broken", make_turns=broken)
    blind = make_recording(tmp_path / "blind", make_turns=lambda writer: turns(writer)[:1])
    raw = make_recording(tmp_path / "raw")
    (raw / "demonstration.json").unlink()
    for path, told in ((empty, "no task"), (shapeless, "cannot be read"), (blind, "no screenshot"),
                       (raw, "demotape process"), (tmp_path, "not a recording")):
        with pytest.raises(InputError, match=told):
            read_trajectory(path, 15)


def test_the_end_of_the_recording_is_the_last_picture(tmp_path):
    path = make_recording(tmp_path)
    before = read_trajectory(path, 15).pictures
    first = Recording(path)
    demonstration = json.loads((path / "demonstration.json").read_bytes())
    manifest = json.loads((path / "recording.json").read_bytes())
    seen = demonstration["turns"][1]["state"]
    manifest["last_state"] = {name: value for name, value in seen.items()
                              if name not in ("video_time", "screenshot_status")}
    (path / "recording.json").write_text(json.dumps(manifest))
    assert first.id == Recording(path).id and read_trajectory(path, 15).pictures == (*before, before[0])
