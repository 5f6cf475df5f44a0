"""Placing utterances among the actions."""

from pipeline import Context, derive
from pipeline.chat import ChatLine, ChatLog, merge_chat, recorded_chat, stage
from pipeline.checks import KINDS
from schemas import DemonstrationSchema
from schemas.files import validated
from tests.support.samples.recording_fixtures import make_demonstration, write_recording


def demonstration(*times):
    return {"turns": [{"id": f"t{n}", "type": "browser", "timestamp": time} for n, time in enumerate(times)]}


def log(*lines, precision=1.0):
    return ChatLog("test", "offset", tuple(
        ChatLine(role, role, text, time, precision, n) for n, (role, text, time) in enumerate(lines, 1)))


def order(placed):
    return [turn.get("utterance", turn["id"]) for turn in placed["turns"]]


def test_instructor_comes_before_the_action_that_answers():
    placed = merge_chat(demonstration(9.9, 10.4, 12), log(("instructor", "buy it", 10)))
    assert order(placed) == ["t0", "buy it", "t1", "t2"]


def test_navigator_comes_after_what_was_just_done():
    placed = merge_chat(demonstration(9.9, 10.4, 12), log(("navigator", "done", 10)))
    assert order(placed) == ["t0", "t1", "done", "t2"]
    assert [turn["timestamp"] for turn in placed["turns"]] == [9.9, 10.4, 10.4, 12]


def test_the_order_of_the_log_stands():
    lines = ("navigator", "what?", 10), ("instructor", "that", 10), ("navigator", "ok", 10)
    placed = merge_chat(demonstration(10.4), log(*lines))
    assert order(placed) == ["what?", "that", "t0", "ok"]


def test_exact_times_are_taken_as_they_are():
    placed = merge_chat(demonstration(10.4, 10.6), log(("navigator", "done", 10.5), precision=0.001))
    assert order(placed) == ["t0", "done", "t1"]


def test_before_the_start_and_after_the_end():
    lines = ("instructor", "b", -3), ("instructor", "a", -60), ("navigator", "c", 90)
    placed = merge_chat(demonstration(0.0, 5.0), log(*lines))
    assert order(placed) == ["a", "b", "t0", "t1", "c"]
    assert [turn["timestamp"] for turn in placed["turns"]] == [0, 0, 0, 5, 90]


def test_minutes_are_marked():
    placed = merge_chat(demonstration(65.0), log(("navigator", "done", 60), precision=60.0))
    assert order(placed) == ["done", "t0"]
    assert [item["kind"] for item in placed["turns"][0]["checks"]] == ["coarse-time"]


def test_the_mark_is_still_there_when_all_is_checked(tmp_path):
    recording = write_recording(tmp_path / "rec")
    log = tmp_path / "chat.csv"
    minute = f"{recording.manifest['started_at']:%Y-%m-%dT%H:%M%z}"
    log.write_text(f"time,speaker,utterance\n{minute},instructor,plesae go to the page\n")
    said = next(turn for turn in derive(Context(recording, log))["turns"] if "plesae" in turn.get("utterance", ""))
    assert [item["kind"] for item in said["checks"]] == ["coarse-time", "typo"]
    assert {item["kind"] for item in said["checks"]} <= set(KINDS)


def test_twice_and_from_the_recording(tmp_path):
    recording = write_recording(tmp_path / "rec")
    base = make_demonstration(recording)
    placed = merge_chat(merge_chat(base, recorded_chat(recording)), log(("instructor", "more", 4)))
    added = [turn for turn in placed["turns"] if turn not in base["turns"]]
    assert [(turn["id"], turn["utterance"]) for turn in added] == [
        ("chat-1", "Find lamps – please"), ("chat-2", "Pay now?"), ("chat-3", "more")]
    assert len({turn["id"] for turn in placed["turns"]}) == len(base["turns"]) + 3
    assert [turn for turn in placed["turns"] if turn in base["turns"]] == base["turns"]
    validated(placed, DemonstrationSchema(), "placed")


def test_stage_tells_what_it_left_out(tmp_path, caplog):
    recording = write_recording(tmp_path / "rec")
    base = {"turns": []}
    typed = stage(base, Context(recording))["turns"]
    assert [turn["utterance"] for turn in typed] == ["Find lamps – please", "Pay now?"]
    path = tmp_path / "chat.txt"
    path.write_text("Chat\n19:30:05\t From Ann to Everyone : go\n19:30:09\t From Ben to Everyone : ok\n")
    placed = stage(base, Context(recording, path, {"Ben": "instructor"}))
    assert [(turn["utterance"], turn["speaker"]) for turn in placed["turns"][2:]] == [
        ("go", "navigator"), ("ok", "instructor")]
    assert [record.getMessage().removeprefix(str(path)) for record in caplog.records] == [
        ": written in another time zone, moved by -5.0 hours", ", line 1: text before the first message",
        ": utterances read: 2; notes on lines, see above: 1"]
