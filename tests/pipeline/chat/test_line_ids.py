"""Ids of chat turns stay with their lines when a recording is processed again."""

import json

from hypothesis import given
from hypothesis import strategies as st

from pipeline import process
from pipeline.chat.line_ids import keep_chat_ids
from tests.support.samples.recording_fixtures import write_recording


def log(path, *lines: str):
    path.write_text("".join(f"00:00:{second:02d}\tLea:\t{line}\n" for second, line in enumerate(lines, 4)))
    return path


def chat_ids(path) -> dict[str, str]:
    turns = json.loads((path / "demonstration.json").read_bytes())["turns"]
    return {turn["utterance"]: turn["id"] for turn in turns if turn["type"] == "chat"}


def test_a_line_keeps_its_id_when_others_come_before_it_change_or_go(tmp_path):
    recording = tmp_path / "rec"
    write_recording(recording)
    process(recording, chat=log(tmp_path / "chat.txt", "first", "second", "third"), speakers={"Lea": "instructor"})
    before = chat_ids(recording)
    assert len(before) == 5  # two were typed during the recording
    process(recording, chat=log(tmp_path / "chat.txt", "earlier", "first", "changed", "third"))
    after = chat_ids(recording)
    same = {"first", "third", *(before.keys() - {"first", "second", "third"})}
    assert {line: after[line] for line in same} == {line: before[line] for line in same}
    assert not {after["earlier"], after["changed"]} & set(before.values())
    content = (recording / "demonstration.json").read_bytes()
    process(recording)
    assert (recording / "demonstration.json").read_bytes() == content


def test_a_demonstration_that_cannot_be_read_is_replaced(tmp_path):
    recording = tmp_path / "rec"
    write_recording(recording)
    process(recording)
    before = chat_ids(recording)
    (recording / "demonstration.json").write_text("{")
    process(recording)
    assert chat_ids(recording) == before


def demonstration(lines: list[str], first: int = 1) -> dict:
    turns = [{"id": f"chat-{number}", "type": "chat", "timestamp": 1.0, "speaker": "instructor", "utterance": line}
             for number, line in enumerate(lines, first)]
    for number in range(1, len(turns)):
        turns[number]["reply_to"] = turns[number - 1]["id"]
    return {"turns": turns}


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_ids_are_unique_and_answers_go_with_their_lines(before, now):
    result = keep_chat_ids(demonstration(now), demonstration(before))["turns"]
    ids = [turn["id"] for turn in result]
    assert len(set(ids)) == len(ids) and [turn["utterance"] for turn in result] == now
    assert [turn.get("reply_to") for turn in result] == [None, *ids[:-1]][:len(ids)]
    earlier = {f"chat-{number}": line for number, line in enumerate(before, 1)}
    assert all(earlier.get(turn["id"], turn["utterance"]) == turn["utterance"] for turn in result)
