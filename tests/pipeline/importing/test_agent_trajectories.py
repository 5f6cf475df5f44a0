"""Trajectories of agents: our exports of ATIF come back; ATIF, ADP and AgentNet as others write them."""

import json

import cv2
import numpy
import pytest

from pipeline.export import Source, export
from pipeline.importing import list_items
from recorder import Recording
from schemas import InputError
from tests.pipeline.importing.test_own_exports import imported
from tests.support.samples.recording_fixtures import make_demonstration, write_recording

PICTURE = cv2.imencode(".png", numpy.full((400, 800, 3), 99, numpy.uint8))[1].tobytes()


def source_of(path, tmp_path):
    return next(iter(imported(path, tmp_path).values()))


def actions(source):
    return [(turn.get("intent", "say"), turn.get("arguments", turn.get("utterance")),
             turn.get("element") and turn["element"]["uid"]) for turn in source.turns]


REPORT = {"step": 1, "reasoning": "The lamp comes first", "model": "m-1", "input_tokens": 900, "output_tokens": 12,
          "cost": 0.02, "error": "it was late", "reward": 0.5, "duration": 1.5}


def test_our_atif_comes_back(tmp_path):
    recording = write_recording(tmp_path / "shop-1", provenance={"actor": "agent", "agent": "x 1"})
    demonstration = make_demonstration(recording)
    demonstration["turns"][2] |= {"agent": REPORT}
    before = Source(demonstration, recording)
    export([before], tmp_path / "atif", "atif")
    back = source_of(tmp_path / "atif", tmp_path)
    assert [turn["id"] for turn in back.turns] == [turn["id"] for turn in before.turns]
    for turn, old in zip(back.turns, before.turns, strict=True):
        assert turn.get("arguments") == old.get("arguments") and turn.get("utterance") == old.get("utterance")
        assert bool(turn.get("state")) == bool(old.get("state")) and turn.get("agent") == old.get("agent")
    alone = next((tmp_path / "atif").glob("train/*.json"))
    assert source_of(alone, tmp_path / "alone").demonstration == back.demonstration
    export([back], tmp_path / "again", "atif")
    calls = [[step["tool_calls"][0]["arguments"] for step in json.loads(next(folder.glob("train/*.json")).read_text())[
        "steps"] if "tool_calls" in step] for folder in (tmp_path / "atif", tmp_path / "again")]
    assert [{**call, "element": None} for call in calls[0]] == [{**call, "element": None} for call in calls[1]]


def test_atif_of_another_agent(tmp_path):
    steps = [
        {"step_id": 1, "source": "user", "message": "Find lamps", "timestamp": "2026-01-02T03:04:05Z"},
        {"step_id": 2, "source": "agent", "message": "I open it", "timestamp": "2026-01-02T03:04:06Z", "tool_calls": [
            {"tool_call_id": "a", "function_name": "browser_navigate", "arguments": {"url": "https://x.example/"}}],
            "observation": {"results": [{"source_call_id": "a", "content": [{"type": "image", "source": {
                "media_type": "image/png", "path": "one.png"}}]}]}},
        {"step_id": 3, "source": "agent", "message": "", "tool_calls": [
            {"tool_call_id": "b", "function_name": "computer.left_click", "arguments": {"coordinate": [10, 20]}},
            {"tool_call_id": "c", "function_name": "type", "arguments": {"text": "lamps"}},
            {"tool_call_id": "d", "function_name": "bash", "arguments": {"command": "ls"}}]},
        {"step_id": 4, "source": "agent", "message": "copied", "is_copied_context": True},
        {"step_id": 5, "source": "agent", "message": [{"type": "text", "text": "Done"}]}]
    (tmp_path / "run.json").write_text(json.dumps({
        "schema_version": "ATIF-v1.8", "session_id": "s", "agent": {"name": "x", "version": "1"}, "steps": steps}))
    (tmp_path / "one.png").write_bytes(PICTURE)
    source = source_of(tmp_path / "run.json", tmp_path / "out")
    assert actions(source) == [
        ("say", "Find lamps", None), ("load", {"url": "https://x.example/", "transition": "typed"}, None),
        ("click", {"x": 10.0, "y": 20.0, "button": 0, "modifiers": []}, None), ("textInput", {"text": "lamps"}, None),
        ("say", "Done", None)]
    assert source.turns[2]["state"]["screenshot"] and source.turns[1]["timestamp"] == 1.0
    assert source.turns[1]["agent"] == {"step": 1, "reasoning": "I open it"}
    manifest = source.recording.manifest
    assert manifest["imported"]["left_out"] == {"bash: no equal here": 1}
    assert manifest["provenance"] == {"actor": "agent", "agent": "x 1"} and manifest["task"] == "Find lamps"


def test_adp(tmp_path):
    content = [
        {"class_": "text_observation", "content": "Find lamps", "source": "user"},
        {"class_": "web_observation", "html": '<input bid="12" aria-label="Search"><a bid="13">Go</a>',
         "url": "https://x.example/", "viewport_size": [1280, 720]},
        {"class_": "api_action", "function": "fill", "kwargs": {"bid": "12", "value": "lamps"}},
        {"class_": "web_observation", "html": '<a bid="13">Go</a>', "url": "https://x.example/2", "axtree": None},
        {"class_": "code_action", "language": "python", "content": "click('13')"},
        {"class_": "code_action", "language": "bash", "content": "rm -rf x"},
        {"class_": "message_action", "content": "Done"}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"schema_version": "1.2", "id": name, "content": content,
                                                          "details": {}}) + "\n" for name in ("a/1", "a/2")))
    sources = imported(tmp_path / "a.jsonl", tmp_path / "out")
    assert len(sources) == 2
    assert actions(next(iter(sources.values()))) == [
        ("say", "Find lamps", None), ("textInput", {"text": "lamps"}, "12"),
        ("click", {"x": None, "y": None, "button": 0, "modifiers": []}, "13"), ("say", "Done", None)]


def test_agentnet(tmp_path):
    trajectory = [
        {"index": 0, "image": "a.png", "value": {"thought": "t", "code": "pyautogui.click(x=0.5, y=0.25)"}},
        {"index": 1, "image": "a.png", "value": {
            "code": "pyautogui.write(message='hi')\npyautogui.hotkey(['ctrl', 'c'])\npyautogui.scroll(-5)"}},
        {"index": 2, "image": "a.png", "value": {
            "code": "pyautogui.moveTo(x=0.1, y=0.1)\npyautogui.dragTo(x=0.2, y=0.2, button='left')"}},
        {"index": 3, "image": "a.png", "value": {
            "code": "pyautogui.keyDown('shift')\npyautogui.click(x=0.5, y=0.5)\npyautogui.keyUp('shift')\n"
                    "pyautogui.hscroll(2)"}},
        {"index": 4, "image": "gone.png", "value": {"code": "computer.terminate(status='success')"}}]
    (tmp_path / "net.jsonl").write_text(json.dumps({"task_id": "t", "instruction": "Do it", "traj": trajectory}) + "\n")
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(PICTURE)
    source = source_of(tmp_path / "net.jsonl", tmp_path / "out")
    assert [(intent, arguments) for intent, arguments, _ in actions(source)] == [
        ("click", {"x": 400.0, "y": 100.0, "button": 0, "modifiers": []}), ("textInput", {"text": "hi"}),
        ("press", {"key": "Control+c"}), ("scroll", {"x": 0.0, "y": 500.0, "delta": {"x": 0.0, "y": 500.0}}),
        ("drag", {"from": {"x": 80.0, "y": 40.0}, "to": {"x": 160.0, "y": 80.0}}),
        ("click", {"x": 400.0, "y": 200.0, "button": 0, "modifiers": ["Shift"]}),
        ("scroll", {"x": 200.0, "y": 0.0, "delta": {"x": 200.0, "y": 0.0}}), ("say", "success")]
    assert source.turns[0]["state"]["viewport"] == {"width": 800, "height": 400}


@pytest.mark.parametrize("code", ["import os; os.system('touch x')", "pyautogui.click(open('x'))", "while True: pass"])
def test_code_is_never_executed(tmp_path, monkeypatch, code):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.jsonl").write_text(json.dumps({"task_id": "t", "traj": [{"value": {"code": code}}]}) + "\n")
    with pytest.raises(InputError):
        source_of(tmp_path / "net.jsonl", tmp_path / "out")
    assert not (tmp_path / "x").exists()


def test_kinds_are_told_apart(tmp_path):
    recording = write_recording(tmp_path / "shop-1")
    for format in ("atif", "trajectories", "chat"):
        export([Source(make_demonstration(Recording(recording.layout.root)), recording)], tmp_path / format, format)
        assert list_items(tmp_path / format)[0] == format
