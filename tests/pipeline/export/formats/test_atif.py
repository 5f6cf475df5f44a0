"""Trajectories in ATIF 1.8, held against the models of the package atif."""

import json
from pathlib import Path

import pytest
from atif import Trajectory

from pipeline.export import FORMATS, Source, export
from tests.support.samples.recording_fixtures import make_demonstration, write_recording


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recordings")
    agent = {"actor": "agent", "agent": "browser-use 0.13"}
    return [write_recording(folder / "person", provenance={"actor": "person", "license": "CC-BY-4.0"}),
            write_recording(folder / "agent", provenance=agent)]


def trajectory(out: Path) -> dict:
    [path] = out.glob("train/*.json")
    document = json.loads(path.read_bytes())
    Trajectory.model_validate(document)
    return document


def paths(document: dict) -> list[str]:
    """Of pages and pictures."""
    results = [result for step in document["steps"] for result in step.get("observation", {}).get("results", ())]
    parts = [part["source"]["path"] for result in results for part in result["content"] if part["type"] == "image"]
    return parts + [result["extra"]["html"] for result in results]


@pytest.mark.parametrize("number", [0, 1], ids=["person", "agent"])
@pytest.mark.parametrize("options", [{}, {"axtree": True, "screenshots": "png"}], ids=["usual", "options"])
def test_a_trajectory_is_valid_and_complete(recordings, tmp_path, number, options):
    recording = recordings[number]
    demonstration = make_demonstration(recording)
    summary = export([Source(demonstration, recording)], tmp_path / "out", "atif", **options)
    document = trajectory(tmp_path / "out")
    exported = [turn for turn in demonstration["turns"] if not turn.get("dropped")]
    steps = document["steps"]
    assert [step["step_id"] for step in steps] == list(range(1, len(steps) + 1))
    assert [step["extra"]["turn"] for step in steps if "turn" in step["extra"]] == [turn["id"] for turn in exported]
    calls = [call for step in steps for call in step.get("tool_calls", ())]
    acted = [turn for turn in exported if turn["type"] == "browser"]
    assert [call["function_name"] for call in calls] == [turn["intent"] for turn in acted]
    for call, turn in zip(calls, acted, strict=True):
        assert turn["arguments"].items() <= call["arguments"].items()
        assert ("element" in call["arguments"]) == (turn["element"] is not None)
    assert {step["source"] for step in steps} == {"user", "agent", "system"}
    assert {step.get("llm_call_count") for step in steps if step["source"] == "agent"} == {None if number else 0}
    assert document["agent"]["name"] == ("browser-use 0.13" if number else "person")
    assert paths(document) and all((tmp_path / "out" / path).is_file() for path in paths(document))
    assert summary.samples == len(exported)


def test_a_page_is_the_result_of_the_action_before_it_only_if_nothing_is_between(recordings, tmp_path):
    recording = recordings[0]
    demonstration = make_demonstration(recording)
    turns = demonstration["turns"][1:5]
    utterance = {**demonstration["turns"][0], "timestamp": 1.6, "id": "chat-x"}
    for dropped, between, expected in (((), (), ["system", "agent+", "agent+", "agent+", "agent"]),
                                       (("t1",), (), ["system", "agent", "system", "agent+", "agent"]),
                                       ((), (utterance,), ["system", "agent+", "agent", "user", "system", "agent+",
                                                           "agent"])):
        chosen = [{**turn, "dropped": turn["id"] in dropped} for turn in turns]
        chosen[2:2] = between
        export([Source(demonstration | {"turns": chosen}, recording)], tmp_path / "out", "atif")
        steps = trajectory(tmp_path / "out")["steps"]
        assert [step["source"] + "+" * ("observation" in step and step["source"] == "agent") for step in steps
                ] == expected


def test_arguments_from_which_values_were_removed_are_marked(recordings, tmp_path):
    recording = recordings[0]
    demonstration = make_demonstration(recording)
    turn = next(turn for turn in demonstration["turns"] if turn.get("intent") == "textInput")
    turn["arguments"]["text"] = "ann@shop.example"
    export([Source(demonstration, recording)], tmp_path / "out", "atif")
    marked = [step for step in trajectory(tmp_path / "out")["steps"] if step["extra"].get("redacted")]
    assert [step["extra"]["turn"] for step in marked] == [turn["id"]]
    assert marked[0]["tool_calls"][0]["extra"] == {"redacted": True}


def test_what_the_agent_reported_is_in_the_step_redacted(recordings, tmp_path):
    recording = recordings[1]
    demonstration = make_demonstration(recording)
    turn = next(turn for turn in demonstration["turns"] if turn["type"] == "browser")
    turn["agent"] = {"step": 1, "reasoning": "I ask ann@shop.example", "model": "m-1", "input_tokens": 900,
                     "cost": 0.02, "error": "late", "duration": 1.5}
    export([Source(demonstration, recording)], tmp_path / "out", "atif")
    [step] = [step for step in trajectory(tmp_path / "out")["steps"] if step["extra"].get("turn") == turn["id"]]
    assert (step["reasoning_content"], step["model_name"]) == ("I ask [REDACTED]", "m-1")
    assert step["metrics"] == {"prompt_tokens": 900, "cost_usd": 0.02}
    assert step["extra"] | {"redacted": 0} == {"turn": turn["id"], "step": 1, "error": "late", "duration": 1.5,
                                               "redacted": 0}


def test_it_is_a_format():
    assert "atif" in FORMATS
