"""Near-duplicates: who is one, that they share a split, and that nothing else moves."""

import json
import time
import tracemalloc
from dataclasses import replace
from datetime import timedelta

import pytest

from pipeline.export import Rule, Source, export, read_rule
from pipeline.export.near_duplicates import near_duplicates
from recorder import Recording
from tests.support.samples.recording_fixtures import STARTED_AT, make_demonstration, write_recording

PARIS = "Book the cheapest flight from London to Paris on the 3rd of May"
TOOLS = ["spanner", "hammer", "chisel", "plane", "saw", "file", "vice"]


@pytest.fixture
def make(tmp_path):
    """A demonstration of a task on a website, recorded on a later day than those before; `tools`: what was clicked."""
    template = make_demonstration(write_recording(tmp_path / "template"))
    turn = next(each for each in template["turns"] if each.get("intent") == "click")
    count = 0

    def one(task: str, site: str = "shop.example", tools: list[str] = (), **manifest) -> Source:
        nonlocal count
        count += 1
        recording: Recording = write_recording(
            tmp_path / f"rec-{count}", started_at=STARTED_AT + timedelta(days=count), **manifest)
        turns = [turn | {"id": f"t{number}", "element": turn["element"] | {"text": tool, "name": ""}}
                 for number, tool in enumerate(tools)] or template["turns"][:3]
        text = json.dumps(make_demonstration(recording) | {"task": task, "turns": turns})
        return Source(json.loads(text.replace("shop.example", site)), recording)

    return one


def grouped(sources: list[Source], **rule) -> list[tuple[str, ...]]:
    return [group.ids for group in near_duplicates(sources, Rule(near_duplicates=0.75, **rule))]


def test_the_same_task_in_other_words_and_the_same_actions(make):
    sources = [make(PARIS), make("Find a lamp"), make(PARIS.replace("3rd", "4th").lower()), make("Return the order"),
               make("Buy what a joiner needs", tools=TOOLS), make("Fill the basket", tools=TOOLS[1:]),
               make("Another", tools=TOOLS[:4]), make("The third one", tools=TOOLS[:3] + ["x", "y", "z"]),
               make("五月三日の東京から大阪までの最安の切符を一枚予約してください"),
               make("五月四日の東京から大阪までの最安の切符を一枚予約してください")]
    found = [("rec-1", "rec-3"), ("rec-5", "rec-6"), ("rec-9", "rec-10")]
    assert grouped(sources) == found and grouped(sources[::-1]) == found[::-1]


def test_the_same_task_on_another_website_is_none(make):
    """It is what held-out websites are there for; also where one on each of them is like it."""
    sources = [make(PARIS, "a.example"), make(PARIS, "b.example"), make(PARIS + "!", "a.example"),
               make(PARIS.replace("3rd", "4th"), "b.example")]
    assert grouped(sources) == [("rec-1", "rec-3"), ("rec-2", "rec-4")]


def test_who_is_like_one_of_a_group_is_in_it(make):
    task = "Put two red chairs, a table and the green lamp into the basket and pay with the card"
    words = [task, task.replace("red", "blue"), task.replace("red", "blue").replace("green", "pale"),
             task.replace("red", "blue").replace("green", "pale").replace("card", "coins")]
    assert grouped([make(each) for each in words]) == [("rec-1", "rec-2", "rec-3", "rec-4")]
    assert grouped([make(words[0]), make(words[3])]) == []


def test_they_share_the_split_of_the_oldest(tmp_path, make):
    """Whatever comes first, in all orders; and one that is held out takes the others along."""
    tasks = [PARIS.replace("Paris", city) for city in ("Paris", "Parma", "Padua")]
    sources = [make(task) for task in tasks] + [make(f"{number} {'abc' * number}") for number in range(1, 9)]
    (tmp_path / "rule.json").write_text(json.dumps({"valid": 0.4, "test_iid": 0.4}))
    rule = read_rule(tmp_path / "rule.json")
    alone = {source.id: rule.assign(source).split for source in sources}
    assert len({alone[f"rec-{number}"] for number in (1, 2, 3)}) > 1  # else this tries nothing
    for order in (sources, sources[::-1]):
        summary = export(iter(order), tmp_path / "out", "chat", rule=rule)
        entries = {entry["id"]: entry for entry in json.loads(
            (tmp_path / "out" / "manifest.json").read_bytes())["demonstrations"]}
        splits = {name: entry["split"] for name, entry in entries.items()}
        assert splits == alone | {f"rec-{number}": alone["rec-1"] for number in (1, 2, 3)}
        assert {name: entry.get("near_duplicate_of") for name, entry in entries.items()} == dict.fromkeys(
            entries) | {"rec-2": "rec-1", "rec-3": "rec-1"}
        assert summary.near_duplicates == 2
    (tmp_path / "rule.json").write_text(json.dumps(
        {"test_geo": ["IN"], "demonstrations": {"rec-3": {"region": "IN"}}}))
    summary = export(iter(sources), tmp_path / "out", "parquet", rule=read_rule(tmp_path / "rule.json"))
    assert summary.splits["test_geo"] == 3
    (tmp_path / "rule.json").write_text(json.dumps(
        {"near_duplicates": 0, "test_geo": ["IN"], "demonstrations": {"rec-3": {"region": "IN"}}}))
    summary = export(iter(sources), tmp_path / "out", "parquet", rule=read_rule(tmp_path / "rule.json"))
    assert summary.splits["test_geo"] == 1 and summary.near_duplicates == 0


def test_thousands_of_one_pattern_and_huge_texts_take_little(make):
    """Nobody fills the memory: those that are in one group already are not compared with each other."""
    sources = [make("Click the button that says ok, then close the dialog and sign out of the shop"),
               make("x" * 10_000_000)]
    many = [replace(sources[0], demonstration=sources[0].demonstration | {
        "id": f"many-{number}", "task": sources[0].demonstration["task"] + f" {number:04}"}) for number in range(500)]
    tracemalloc.start()
    begun = time.process_time()
    groups = near_duplicates([*sources, *many], Rule(near_duplicates=0.75))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [len(group.ids) for group in groups] == [501] and peak < 50 << 20 and time.process_time() - begun < 15
