"""Splits: stable, seeded, leak-free, the same in every format."""

import json
import os
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import datasets

from pipeline.export import FORMATS, Rule, Source, export, read_rule
from pipeline.export.splits import MIND2WEB, SPLIT_FACTORS, SPLITS, Facts, LeakCheck, RuleSchema
from pipeline.verify import verify
from schemas import InputError
from tests.support.checkout import ROOT
from tests.support.samples.recording_fixtures import make_demonstration, write_recording

SITES = [f"site{number}.example" for number in range(12)]
FACTS = st.builds(
    Facts, task=st.text(min_size=1, max_size=8), websites=st.frozensets(st.sampled_from(SITES), max_size=3),
    category=st.sampled_from(["", "Shopping", "Travel", "News"]), region=st.sampled_from(["", "IN", "PH"]),
    instructor=st.sampled_from(["", "a", "b"]), vision=st.booleans())
SHARE = st.one_of(st.floats(0, 1), st.lists(st.sampled_from([*SITES, "Travel", "IN", "a"])))


@settings(max_examples=200, deadline=None)
@given(st.lists(FACTS, max_size=30), st.integers(0, 9),
       st.fixed_dictionaries({split: SHARE for split in SPLIT_FACTORS}))
def test_what_is_held_out_is_never_in_train(all_facts, seed, held_out):
    rule = Rule(seed, 0.2, 0.2, held_out)
    seen = {"test": set(), "rest": set()}
    for facts in all_facts:
        split = rule.split(facts)
        assert split in SPLITS
        for kind_split, kind in SPLIT_FACTORS.items():
            for name in facts.websites if kind == "website" else {getattr(facts, kind)} - {""}:
                if rule.is_held_out(kind_split, name):
                    assert split not in ("train", "valid", "test_iid")
        if split.startswith("test_") and split != "test_iid":
            seen["test"] |= facts.websites
        assert facts.vision or split == "test_vis"


def test_shares_seed_and_the_same_task_twice():
    facts = [Facts(f"task {number}", frozenset({f"site{number % 50}.example"})) for number in range(4000)]
    rule = Rule(0, 0.1, 0.2, {"test_web": 0.3})
    counts = Counter(map(rule.split, facts))
    rest = 4000 - counts["test_web"]
    assert 0.1 < counts["test_web"] / 4000 < 0.5  # of 50 websites
    assert abs(counts["valid"] / rest - 0.1) < 0.03 and abs(counts["test_iid"] / rest - 0.2) < 0.03
    assert [rule.split(each) for each in reversed(facts)] == [rule.split(each) for each in facts][::-1]
    assert [Rule(1, 0.1, 0.2, {"test_web": 0.3}).split(each) for each in facts] != [rule.split(each) for each in facts]
    assert len({rule.split(Facts("Book  it", frozenset({site}))) for site in SITES} - {"test_web"}) <= 1


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Six demonstrations of different tasks; four on websites of their own."""
    root = tmp_path_factory.mktemp("recordings")
    made = []
    for number in range(6):
        recording = write_recording(root / f"rec-{number}")
        text = json.dumps(make_demonstration(recording) | {"task": f"Task {number}"})
        if number > 1:
            text = text.replace("shop.example", f"shop{number}.example")
        made.append(Source(json.loads(text), recording))
    return made


RULE = {"seed": 3, "valid": 0.3, "test_iid": 0.3, "test_web": ["shop2.example"], "test_cat": ["News"],
        "test_geo": ["IN"], "websites": {"shop3.example": {"category": "News"}},
        "demonstrations": {"rec-4": {"region": "IN"}, "rec-5": {"vision": False}}}


@pytest.fixture
def rule(tmp_path):
    (tmp_path / "rule.json").write_text(json.dumps(RULE))
    return read_rule(tmp_path / "rule.json")


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_has_the_same_splits(tmp_path, sources, rule, format):
    summary = export(sources, tmp_path / "out", format, rule=rule)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    splits = {entry["name"]: entry["split"] for entry in manifest["demonstrations"]}
    assert [splits[f"rec-{number}"] for number in range(2, 6)] == ["test_web", "test_cat", "test_geo", "test_vis"]
    assert {splits["rec-0"], splits["rec-1"]} <= {"train", "valid", "test_iid"}
    assert summary.splits == Counter(splits.values()) and verify(tmp_path / "out") == []
    names = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*")}
    for split in splits.values():
        assert any(name.startswith({
            "weblinx": "splits.json", "webdataset": f"{split}-000000", "parquet": f"data/{split}-000000.parquet",
            "mind2web": f"data/{MIND2WEB.get(split, split)}/", "chat": f"{split}.jsonl",
            "playwright": f"{split}/", "atif": f"{split}/", "adp": f"{split}/", "trajectories": f"{split}.jsonl",
            "agentnet": f"{split}.jsonl",
            "label-studio": f"{split}.json",
            "multimodal-mind2web": f"data/{MIND2WEB.get(split, split)}-000000.parquet"}[format]) for name in names)
    if "mind2web" in format:
        loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
        counts = Counter(MIND2WEB.get(split, split) for split in splits.values())
        assert {"test_website", "test_domain"} < set(loaded) and {
            split: len(set(rows["annotation_id"])) for split, rows in loaded.items()} == counts
    if format == "weblinx":
        written = json.loads((tmp_path / "out" / "splits.json").read_bytes())
        assert {name: split for split, demos in written.items() for name in demos} == splits


def test_more_demonstrations_move_none(tmp_path, sources, rule):
    export(sources[:3], tmp_path / "few", "weblinx", rule=rule)
    export(sources[::-1], tmp_path / "all", "weblinx", rule=rule)
    few, all_ = ({entry["id"]: entry["split"] for entry in json.loads(
        (tmp_path / name / "manifest.json").read_bytes())["demonstrations"]} for name in ("few", "all"))
    assert few == {name: all_[name] for name in few}


def test_a_leak_is_told_and_nothing_is_exported(tmp_path, sources, rule, monkeypatch):
    monkeypatch.setattr(Rule, "split", lambda self, *facts: "train")  # a rule that is wrong
    with pytest.raises(InputError, match="category 'News' is held out, but also occurs in train"):
        export(sources, tmp_path / "out", "weblinx", rule=rule)
    assert not (tmp_path / "out").exists()
    list(LeakCheck(rule).watch(sources))


@pytest.mark.parametrize("content, reason", [
    ("{", "not JSON"), ('{"test_web": 2}', "test_web: Must be a share"), ('{"valid": 0.9, "test_iid": 0.9}', "valid"),
    ('{"sites": {}}', "sites"), ('{"websites": {"a": {"country": "x"}}}', "country")])
def test_a_wrong_rule_is_refused(tmp_path, content, reason):
    (tmp_path / "rule.json").write_text(content)
    with pytest.raises(InputError, match=reason):
        read_rule(tmp_path / "rule.json")


def test_every_field_of_the_rule_is_documented():
    text = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
    assert [name for name in RuleSchema().fields if f"| `{name}` |" not in text] == []


SHARED = Rule(seed=3, valid=0.3, test_iid=0.3, near_duplicates=0.75)


def splits_of(folder):
    return {entry["id"]: entry["split"] for entry in json.loads((folder / "manifest.json").read_text())[
        "demonstrations"]}


def corrected(source, number):
    """The source after edits of its task and texts, and with turns that are another demonstration's since a split."""
    turns = [turn | {"arguments": {"text": f"other {number}"}} if turn.get("intent") == "textInput" else turn
             for turn in source.demonstration["turns"][:-1]]
    changed = source.demonstration | {"task": f"Quite another task, number {number}", "turns": turns}
    return Source(changed, source.recording, recorded=source.demonstration)


def test_no_edit_moves_a_demonstration_to_another_split(tmp_path, sources):
    export(sources, tmp_path / "before", "webdataset", rule=SHARED)
    export([corrected(source, number) for number, source in enumerate(sources)], tmp_path / "after", "webdataset",
           rule=SHARED)
    assert splits_of(tmp_path / "before") == splits_of(tmp_path / "after")
    assert len({*splits_of(tmp_path / "before").values()}) > 1


def test_a_release_keeps_the_splits_of_the_one_before_unless_asked(tmp_path, sources):
    export(sources[1:], tmp_path, "webdataset", rule=SHARED, release="v1")
    other = Rule(seed=4, valid=0.3, test_iid=0.3, near_duplicates=0.75)
    export(sources, tmp_path, "webdataset", rule=other, release="v2")
    first, second = splits_of(tmp_path / "v1"), splits_of(tmp_path / "v2")
    assert first.items() <= second.items() and len(second) == len(first) + 1
    export(sources, tmp_path, "webdataset", rule=other, release="v3", new_splits=True)
    export(sources, tmp_path / "fresh", "webdataset", rule=other)
    assert splits_of(tmp_path / "v3") == splits_of(tmp_path / "fresh") != second
