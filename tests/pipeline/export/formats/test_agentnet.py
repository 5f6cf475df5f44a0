"""Tasks in the layout of AgentNet, held against its fields; the code is parsed, and comes back as the same turns."""

import ast
import json

import datasets
import jsonschema
import pytest

from pipeline.export import Source, export
from pipeline.export.splits import Rule
from tests.pipeline.importing.test_own_exports import imported
from tests.support.samples.recording_fixtures import make_demonstration, write_recording

TEXT, SCORE = {"type": "string"}, {"type": ["integer", "null"]}
FLAG = {"type": ["boolean", "null"]}
STEP = {"type": "object", "required": ["index", "image", "value"], "properties": {
    "index": {"type": "integer"}, "image": {"type": "string", "pattern": r"^[\w-]+\.(png|jpg|webp)$"},
    "value": {"type": "object", "required": ["code", "action", "thought"], "properties": {
        "code": TEXT, "action": TEXT, "thought": TEXT, "observation": TEXT, "reflection": TEXT,
        "last_step_correct": FLAG, "last_step_redundant": FLAG}}}}
TASK = {"type": "object", "required": ["task_id", "instruction", "traj"], "properties": {
    "task_id": TEXT, "instruction": TEXT, "natural_language_task": TEXT, "actual_task": TEXT, "reason": TEXT,
    "task_completed": FLAG, "alignment_score": SCORE, "efficiency_score": SCORE, "task_difficulty": SCORE,
    "traj": {"type": "array", "items": STEP, "minItems": 1}}}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return write_recording(tmp_path_factory.mktemp("recordings") / "shop-1", provenance={"actor": "person"})


def task(out):
    [line] = (out / "train.jsonl").read_bytes().splitlines()
    row = json.loads(line)
    jsonschema.validate(row, TASK)
    for step in row["traj"]:
        ast.parse(step["value"]["code"])
        assert (out / "images" / step["image"]).is_file()
    return row


def changed(recording, **changes):
    """The demonstration with other arguments of the turns with these ids."""
    demonstration = make_demonstration(recording)
    for turn in demonstration["turns"]:
        if turn["id"] in changes:
            turn["arguments"] = turn["arguments"] | changes[turn["id"]]
    return demonstration


def test_a_task_is_valid_and_what_has_no_form_is_counted(recording, tmp_path):
    source = Source(changed(recording, t14={"from": {"x": 32.0, "y": 40.0}, "to": {"x": 64.0, "y": 80.0}}), recording)
    summary = export([source], tmp_path / "out", "agentnet")
    row = task(tmp_path / "out")
    code = {step["demotape"]["turn"]: step["value"]["code"] for step in row["traj"]}
    assert code["t1"] == "pyautogui.keyDown('shift')\npyautogui.click(x=0.078125, y=0.125)\npyautogui.keyUp('shift')"
    assert code["t2"] == "pyautogui.write(message='lamps')" and code["t3"] == "pyautogui.press(keys='enter')"
    assert code["t0"].splitlines() == ["pyautogui.hotkey(['ctrl', 'l'])", "pyautogui.write(message="
                                       "'https://shop.example/')", "pyautogui.press(keys='enter')"]
    assert code["t14"] == "pyautogui.moveTo(x=0.05, y=0.1)\npyautogui.dragTo(x=0.1, y=0.2, button='left')"
    assert code["chat-b"] == "computer.terminate(status='success', answer='Done ✓')"
    words = {step["demotape"]["turn"]: step["value"]["action"] for step in row["traj"]}
    assert words["t1"] == 'Click: input ""' and row["task_completed"] is None
    assert summary.left_out["chat: only the task and the navigator's last utterance have a form"] == 1
    assert summary.left_out["upload: what it acts on is not in the picture"] == 1
    assert summary.samples == len(row["traj"]) and summary.samples + sum(summary.left_out.values()) == len(source.turns)


def test_a_step_without_a_good_picture_is_left_out(recording, tmp_path):
    demonstration = make_demonstration(recording)
    for turn in demonstration["turns"]:
        if turn.get("id") == "t3":
            turn["state"] = {**turn["state"], "screenshot_status": "broken"}
    summary = export([Source(demonstration, recording)], tmp_path / "out", "agentnet")
    assert "t3" not in {step["demotape"]["turn"] for step in task(tmp_path / "out")["traj"]}
    assert summary.left_out["press: no good picture"] == 1


@pytest.mark.parametrize("outcome, completed, status", [("success", True, "success"), ("failure", False, "failure"),
                                                        ("unknown", None, "success")])
def test_the_outcome_says_whether_the_task_was_completed(recording, tmp_path, outcome, completed, status):
    rule = Rule(demonstrations={"shop-1": {"labels": {"outcome": outcome}}})
    export([Source(make_demonstration(recording), recording)], tmp_path / "out", "agentnet", rule=rule)
    row = task(tmp_path / "out")
    assert row["task_completed"] is completed and f"status='{status}'" in row["traj"][-1]["value"]["code"]


def test_code_from_which_values_were_removed_is_marked(recording, tmp_path):
    export([Source(changed(recording, t2={"text": "ann@shop.example"}), recording)], tmp_path / "out", "agentnet")
    marked = [step for step in task(tmp_path / "out")["traj"] if step["demotape"]["redacted"]]
    assert [step["value"]["code"] for step in marked] == ["pyautogui.write(message='[REDACTED]')"]


def test_datasets_reads_the_tasks(recording, tmp_path):
    export([Source(make_demonstration(recording), recording)], tmp_path / "out", "agentnet")
    [row] = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))["train"]
    assert row["task_id"] == "shop-1" and row["traj"] == task(tmp_path / "out")["traj"]


def test_the_same_turns_come_back(recording, tmp_path):
    before = Source(make_demonstration(recording), recording)
    clicked = next(turn for turn in before.turns if turn.get("intent") == "click")
    clicked["agent"] = {"step": 1, "reasoning": "The lamp first"}
    export([before], tmp_path / "out", "agentnet")
    ids = {step["demotape"]["turn"] for step in task(tmp_path / "out")["traj"]}
    [back] = imported(tmp_path / "out", tmp_path).values()
    was = {turn["id"]: turn for turn in before.turns if turn["id"] in ids}
    assert [turn["id"] for turn in back.turns] == [*was]
    other = {"copy": "press", "paste": "press", "dialog": "press", "change": "click"}  # what they are on the screen
    for turn in back.turns:
        old = was[turn["id"]]
        if turn["type"] == "chat":
            assert turn["utterance"] == old["utterance"]
            continue
        assert turn["intent"] == other.get(old["intent"], old["intent"]) and turn["timestamp"] == old["timestamp"]
        assert turn.get("agent") == old.get("agent")
        for name in ("x", "y", "button", "modifiers", "text", "key", "url", "from", "to", "tab", "target"):
            expected = old["arguments"].get(name)
            if name == "modifiers" and old["intent"] != "click":
                continue  # the grammar of computer use has them for clicks only
            if old["intent"] not in (*other, "scroll") and expected is not None:
                assert turn["arguments"][name] == pytest.approx(expected, abs=1e-3)
    assert back.recording.manifest["provenance"] == {"actor": "person"}
    export([back], tmp_path / "again", "agentnet")
    again = {step["demotape"]["turn"]: step["value"]["code"] for step in task(tmp_path / "again")["traj"]}
    first = {step["demotape"]["turn"]: step["value"]["code"] for step in task(tmp_path / "out")["traj"]}
    assert again.items() <= first.items()
