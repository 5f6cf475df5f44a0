"""What is selected for an export, what the manifest says of the rest, and what rows and card tell of who acted."""

import json
from collections import Counter

import pyarrow.parquet
import pytest

from pipeline.export import FORMATS, Options, ReviewState, Rule, Selection, Source, Summary, export
from pipeline.export.formats.card import Counts, Words
from pipeline.export.formats.card import card as card_text
from pipeline.export.manifest import read_manifest
from pipeline.export.selection import select
from schemas import InputError
from tests.support.samples.recording_fixtures import make_demonstration, write_recording

AGENT = {"actor": "agent", "agent": "walker 1.0", "consent": True, "license": "CC-BY-4.0"}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    root = tmp_path_factory.mktemp("selection")
    told = write_recording(root / "rec-a", provenance=AGENT)
    untold = write_recording(root / "rec-b")
    review = ReviewState("approved", ("reviewer-1", "reviewer-2"), "reviewer-3")
    return [Source(make_demonstration(told), told, review=review), Source(make_demonstration(untold), untold)]


def rows(folder):
    return pyarrow.parquet.read_table(folder / "data").to_pylist()


def card(folder):
    return (folder / "README.md").read_text(encoding="utf-8")


def test_rows_and_card_say_what_is_known_and_no_more(sources, tmp_path):
    export(sources, tmp_path / "out", "parquet")
    by_demonstration = {row["demonstration"]: row for row in rows(tmp_path / "out")}
    told, untold = by_demonstration["rec-a"], by_demonstration["rec-b"]
    assert {name: told[name] for name in ("actor", "agent", "license", "consent", "review_status", "validator")} == {
        "actor": "agent", "agent": "walker 1.0", "license": "CC-BY-4.0", "consent": "yes",
        "review_status": "approved", "validator": "reviewer-3"}
    assert json.loads(told["annotators"]) == ["reviewer-1", "reviewer-2"]
    assert {untold[name] for name in ("actor", "agent", "license", "consent", "review_status", "validator")} == {""}
    text = card(tmp_path / "out")
    assert "| agent walker 1.0 | 1 |" in text and "| not told | 1 |" in text and "license: other" in text
    assert "3 people worked on them in review; 1 of 2 were validated or approved" in text
    assert "reviewers went over" not in text and "People did the tasks" not in text


@pytest.mark.parametrize("told", [{"agent": "ann@shop.example"}, {"license": "MIT | <img src=x>"}, {"actor": "robot"},
                                  {"agent": ""}, {"license": "x" * 101}, {"agent": "a\n"}])
def test_what_would_go_into_the_card_as_it_is_has_to_be_plain(tmp_path, told):
    with pytest.raises(InputError, match="field provenance"):
        write_recording(tmp_path / "rec", provenance=told).manifest  # noqa: B018


def test_a_card_lists_no_more_than_can_be_read():
    counts = Counts(licenses=Counter({f"L{number}": 1 for number in range(1000)}))
    text = card_text(counts, {}, Options(), Summary("parquet", "out"), Words("turn", "intent", ""))
    assert text.count("| L") == 50 and "| 950 others | 950 |" in text


def test_the_licence_of_all_is_the_card_s_and_nobody_reviewed_is_said(sources, tmp_path):
    told = sources[0]
    export([Source(told.demonstration, told.recording)], tmp_path / "out", "parquet")
    text = card(tmp_path / "out")
    assert "license: cc-by-4.0" in text and "Nobody is known to have reviewed them" in text


@pytest.mark.parametrize("selection, kept, reason", [
    (Selection(actors=("agent",)), ["rec-a"], "demonstration: its actor is unknown"),
    (Selection(actors=("person",)), [], "demonstration: its actor is agent"),
    (Selection(websites=("nowhere.example",)), [], "demonstration: on other websites"),
    (Selection(labels={"difficulty": "hard"}), ["rec-b"], "demonstration: has another label"),
    (Selection(intents=("wink",)), [], "demonstration: no action in it is selected")])
def test_whole_demonstrations(sources, selection, kept, reason):
    rule, left_out = Rule(demonstrations={"rec-b": {"labels": {"difficulty": "hard"}}}), Counter()
    assert [source.id for source in select(sources, selection, rule, left_out)] == kept
    assert left_out[reason]


def test_labels_of_a_demonstration_go_before_its_websites(sources):
    site = "shop.example"
    rule = Rule(websites={site: {"labels": {"difficulty": "easy", "area": "food"}}},
                demonstrations={"rec-b": {"category": "travel", "labels": {"difficulty": "hard"}}})
    labels = rule.labels(sources[1])
    assert labels["difficulty"] == "hard" and labels["category"] == "travel"


def test_turns_of_other_intents_are_left_out_counted_and_told(sources, tmp_path):
    selection = Selection(intents=("click",), recorded_by=("ann",))
    summary = export(sources[:1], tmp_path / "out", "parquet", selection=selection)
    [kinds] = [{row["intent"] for row in rows(tmp_path / "out")}]
    assert kinds == {"click", "say"}
    manifest = read_manifest(tmp_path / "out")
    assert manifest["selection"] == {"intents": ["click"], "recorded_by": 1}
    others = [turn for turn in sources[0].turns if turn["type"] == "browser" and turn["intent"] != "click"]
    assert manifest["not_selected"] == {"turn: another intent": len(others)} and others
    assert ("not selected: turn: another intent", len(others)) in summary.reasons()


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_every_format_leaves_the_same_turns_out_also_in_other_processes(sources, tmp_path, format):
    selection = Selection(intents=("click", "load"))
    summary = export(sources, tmp_path / "out", format, selection=selection, jobs=2)
    whole = export(sources, tmp_path / "whole", format)
    assert 0 < summary.samples < whole.samples
    assert summary.not_selected == export(sources, tmp_path / "again", format, selection=selection).not_selected


def test_only_good_screenshots_and_no_open_checks(sources, tmp_path):
    demonstration = json.loads(json.dumps(sources[0].demonstration))
    acts = [turn for turn in demonstration["turns"] if turn["type"] == "browser" and turn["state"]]
    acts[0]["state"]["screenshot_status"] = "broken"
    acts[1]["checks"] = [{"kind": "target-hidden", "reason": "It is hidden."}]
    source, left_out = Source(demonstration, sources[0].recording), Counter()
    [kept] = select([source], Selection(good_screenshots=True, without_checks=("target-hidden",)), Rule(), left_out)
    kinds = {turn["id"] for turn in kept.turns}
    assert not kinds & {acts[0]["id"], acts[1]["id"]}
    assert left_out["turn: its screenshot is not good"] >= 1 and left_out["turn: a check asks for a look"] == 1
