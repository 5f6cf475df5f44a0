"""Trajectories in ADP 1.2, held against the fields of the protocol, of which it refuses others."""

import json

import jsonschema
import pytest

from pipeline.export import Source, export
from pipeline.export.formats import adp
from tests.pipeline.importing.test_own_exports import imported
from tests.support.samples.recording_fixtures import make_demonstration, write_recording


def part(class_, required, **optional):
    fields = {"class_": {"const": class_}, **required, **optional}
    return {"type": "object", "properties": fields, "required": ["class_", *required], "additionalProperties": False}


TEXT, NULL = {"type": "string"}, {"type": "null"}
TEXT_OR_NULL = {"type": ["string", "null"]}
SOURCE = {"enum": ["user", "agent", "environment"]}
THOUGHT = {"description": TEXT_OR_NULL, "reasoning_content": TEXT_OR_NULL, "reward": {"type": ["number", "null"]}}
IMAGE = part("image_observation", {"content": TEXT, "source": SOURCE}, annotations={"type": ["array", "null"]})
SIZE = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
TRAJECTORY = {
    "type": "object", "additionalProperties": False, "required": ["id", "content", "details"],
    "properties": {
        "schema_version": {"const": "1.2.0"}, "id": TEXT, "details": {"type": "object"},
        "available_apis": {"type": "array", "items": TEXT},
        "content": {"type": "array", "items": {"oneOf": [
            part("api_action", {"function": TEXT, "kwargs": {"type": "object"}}, **THOUGHT),
            part("code_action", {"language": TEXT, "content": TEXT}, **THOUGHT),
            part("message_action", {"content": TEXT}, **THOUGHT),
            part("text_observation", {"content": TEXT, "source": SOURCE}, name=TEXT_OR_NULL), IMAGE,
            part("web_observation", {"html": TEXT_OR_NULL, "axtree": TEXT_OR_NULL, "url": TEXT_OR_NULL,
                                     "image_observation": {"oneOf": [IMAGE, NULL]},
                                     "viewport_size": {"oneOf": [SIZE, NULL]}})]}}}}


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recordings")
    agent = {"actor": "agent", "agent": "browser-use 0.13"}
    return [write_recording(folder / "person", provenance={"actor": "person", "license": "CC-BY-4.0"}),
            write_recording(folder / "agent", provenance=agent)]


def trajectory(out):
    """The one document, which is a line and valid."""
    [path] = out.glob("train/*.json")
    [line] = path.read_bytes().splitlines()
    document = json.loads(line)
    jsonschema.validate(document, TRAJECTORY)
    return document


def kinds(document):
    return [part["class_"].removesuffix("_observation").removesuffix("_action") for part in document["content"]]


@pytest.mark.parametrize("number", [0, 1], ids=["person", "agent"])
def test_a_trajectory_is_valid_and_complete(recordings, tmp_path, number):
    recording = recordings[number]
    source = Source(make_demonstration(recording), recording)
    summary = export([source], tmp_path / "out", "adp", screenshots="png")
    document = trajectory(tmp_path / "out")
    actions = [part for part in document["content"] if part["class_"] == "api_action"]
    acted = [turn for turn in source.turns if turn["type"] == "browser"]
    assert [action["function"] for action in actions] == [turn["intent"] for turn in acted]
    for action, turn in zip(actions, acted, strict=True):
        assert turn["arguments"].items() <= action["kwargs"].items()
        assert ("element" in action["kwargs"]) == (turn["element"] is not None)
    pages = [part for part in document["content"] if part["class_"] == "web_observation"]
    assert len(pages) == sum(turn["state"] is not None for turn in acted)
    assert all("data-demotape-uid" in page["html"] and page["viewport_size"] == [640, 400] for page in pages)
    assert all((tmp_path / "out" / page["image_observation"]["content"]).read_bytes().startswith(b"\x89PNG")
               for page in pages)
    about = document["details"]["demotape"]
    assert [turn["id"] for turn in about["turns"]] == [turn["id"] for turn in source.turns]
    assert about["actor"] == ("agent" if number else "person") and about["task"] == "Find lamps & pay"
    assert summary.samples == len(source.turns)


def test_a_page_after_dropped_turns_is_not_the_result_of_an_action(recordings, tmp_path):
    recording = recordings[0]
    turns = make_demonstration(recording)["turns"][:5]
    for dropped, expected in (((), ["text", "web", "api", "web", "api", "web", "api", "web", "api"]),
                              (("t0",), ["text", "text", "web", "api", "web", "api", "web", "api"]),
                              (("t1",), ["text", "web", "api", "text", "web", "api", "web", "api"])):
        chosen = [{**turn, "dropped": turn["id"] in dropped} for turn in turns]
        export([Source(make_demonstration(recording) | {"turns": chosen}, recording)], tmp_path / "out", "adp")
        document = trajectory(tmp_path / "out")
        assert kinds(document) == expected
        texts = [part["content"] for part in document["content"] if part.get("source") == "environment"]
        assert texts == [adp.GAP] * len(dropped)


def test_arguments_from_which_values_were_removed_are_marked(recordings, tmp_path):
    recording = recordings[0]
    demonstration = make_demonstration(recording)
    turn = next(turn for turn in demonstration["turns"] if turn.get("intent") == "textInput")
    turn["arguments"]["text"] = "ann@shop.example"
    export([Source(demonstration, recording)], tmp_path / "out", "adp")
    document = trajectory(tmp_path / "out")
    [marked] = [turn for turn in document["details"]["demotape"]["turns"] if turn.get("redacted")]
    assert marked["id"] == turn["id"] and document["content"][marked["part"]]["kwargs"]["text"] == "[REDACTED]"


def test_pages_beyond_the_limit_are_left_out_and_counted(recordings, tmp_path, monkeypatch):
    monkeypatch.setattr(adp, "MAX_PAGES_BYTES", 10_000)
    recording = recordings[0]
    summary = export([Source(make_demonstration(recording), recording)], tmp_path / "out", "adp")
    pages = [part["html"] for part in trajectory(tmp_path / "out")["content"] if part["class_"] == "web_observation"]
    left_out = sum(html is None for html in pages)
    assert 0 < left_out < len(pages) and sum(len(html or "") for html in pages) < 10_000
    assert [count for reason, count in summary.notes.items() if reason.startswith("page left out")] == [left_out]


def test_the_same_turns_come_back(recordings, tmp_path):
    recording = recordings[1]
    demonstration = make_demonstration(recording)
    demonstration["turns"][2]["agent"] = {"step": 1, "reasoning": "The lamp first", "model": "m-1", "reward": 0.5,
                                          "output_tokens": 12, "duration": 1.5}
    before = Source(demonstration, recording)
    export([before], tmp_path / "out", "adp")
    [back] = imported(tmp_path / "out", tmp_path).values()
    assert [turn["id"] for turn in back.turns] == [turn["id"] for turn in before.turns]
    for turn, old in zip(back.turns, before.turns, strict=True):
        assert turn.get("arguments") == old.get("arguments") and turn.get("utterance") == old.get("utterance")
        assert bool(turn.get("state")) == bool(old.get("state")) and turn["timestamp"] == old["timestamp"]
        assert turn.get("agent") == old.get("agent")
    manifest = back.recording.manifest
    assert manifest["provenance"] == {"actor": "agent", "agent": "browser-use 0.13"}
    assert manifest["started_at"] == recording.manifest["started_at"] and manifest["task"] == "Find lamps & pay"
    export([back], tmp_path / "again", "adp")
    parts = [[{**part, "kwargs": {**part["kwargs"], "element": None}} for part in trajectory(folder)["content"]
              if part["class_"] == "api_action"] for folder in (tmp_path / "out", tmp_path / "again")]
    assert parts[0] == parts[1]
