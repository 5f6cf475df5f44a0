"""Trajectories: each step with what was seen before it and after it."""

import json
from pathlib import Path

import datasets
import pytest

from pipeline.export import Source, export, read_rule
from pipeline.verify import verify
from tests.support.samples.recording_fixtures import make_demonstration, write_recording


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Source:
    recording = write_recording(tmp_path_factory.mktemp("recordings") / "rec-a")
    return Source(make_demonstration(recording), recording)


def steps(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "train.jsonl").read_bytes().splitlines()]


def test_each_step_leads_to_the_next(tmp_path, source):
    summary = export([source], tmp_path / "out", "trajectories")
    assert verify(tmp_path / "out") == [] and summary.samples == 21
    found = steps(tmp_path / "out")
    ids = [step["observation"]["id"] for step in found]
    assert [step["next_observation"] for step in found] == [*ids[1:], None] and len(set(ids)) == 21
    assert [step["done"] for step in found] == [False] * 20 + [True]
    assert sum(step["left_out"] for step in found) == sum(summary.left_out.values()) == 3
    assert {step["outcome"] for step in found} == {"unknown"}
    typed = found[2]
    assert (typed["action"], typed["turn"], typed["intent"]) == ("fill('10', 'lamps')", "t2", "textInput")
    assert found[0]["utterances"] == [{"speaker": "instructor", "utterance": "Find “lamps”"}]
    assert typed["utterances"] == [] and typed["observation"]["screenshot_status"] == "good"
    pages = [(tmp_path / "out" / step["observation"]["html"]).read_text(encoding="utf-8") for step in found[1:]]
    assert all('data-demotape-uid="10"' in page for page in pages) and 'value="lamps"' in pages[-1]
    assert all((tmp_path / "out" / step["observation"]["screenshot"]).is_file() for step in found)
    assert len(list((tmp_path / "out" / "pages").iterdir())) == 2  # equal ones are written once


def test_datasets_loads_it(tmp_path, source):
    export([source], tmp_path / "out", "trajectories", grammar="weblinx")
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))["train"]
    assert loaded.num_rows == 18 and loaded[1]["action"] == 'click(uid="10")'
    assert loaded[1]["observation"]["url"] == "https://shop.example/"


def test_the_outcome_is_told_where_it_is_known(tmp_path, source):
    rule = tmp_path / "rule.json"
    rule.write_text(json.dumps({"valid": 0, "test_iid": 0, "demonstrations": {"rec-a": {"labels": {
        "outcome": "success"}}}}))
    export([source], tmp_path / "out", "trajectories", rule=read_rule(rule))
    assert {step["outcome"] for step in steps(tmp_path / "out")} == {"success"}
