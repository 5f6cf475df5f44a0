"""The webdataset export, as the public `webdataset` library sees it."""

import io
import json
import os
import tarfile

import cv2
import numpy
import pytest
import webdataset

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import datasets

from pipeline.export import Rule, Source, export
from tests.pipeline.pages.test_dom import UID, uids
from tests.support.samples.recording_fixtures import make_demonstration, write_recording


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    root = tmp_path_factory.mktemp("recordings")
    recordings = [write_recording(root / name) for name in ("rec-a", "rec-b")]
    return [Source(make_demonstration(recording), recording) for recording in recordings]


def samples(folder):
    shards = sorted(str(path) for path in folder.glob("*.tar"))
    return list(webdataset.WebDataset(shards, shardshuffle=False))


def test_it_reads_back(tmp_path, sources):
    summary = export(sources, tmp_path / "out", "webdataset")
    read = samples(tmp_path / "out")
    turns = [turn for source in sources for turn in source.turns]
    assert [sample["__key__"] for sample in read[:2]] == ["rec-a-0000", "rec-a-0001"]
    assert summary.samples == len(read) == len(turns)
    assert {frozenset(sample) - {"__key__", "__url__", "__local_path__"} for sample in read} == {
        frozenset({"json", "jpg", "html"})}
    records = [json.loads(sample["json"]) for sample in read]
    assert [record["turn"] for record in records] == [turn["id"] for turn in turns]
    assert {tuple((key, type(value)) for key, value in record.items()) for record in records} == {
        tuple((key, type(value)) for key, value in records[0].items())}
    for sample, record, turn in zip(read, records, turns, strict=True):
        assert cv2.imdecode(numpy.frombuffer(sample["jpg"], numpy.uint8), cv2.IMREAD_COLOR) is not None
        assert json.loads(record["arguments"]) == turn.get("arguments", {})
        page = uids(sample["html"].decode().replace("data-demotape-uid", UID)).found
        if record["uid"]:
            assert record["uid"] in page
            assert record["uid"] in json.loads(record["boxes"]) or not turn["element"]["bbox"]
    decoded = next(iter(webdataset.WebDataset(sorted(map(str, (tmp_path / "out").glob("*.tar"))),
                                              shardshuffle=False).decode("rgb8")))
    assert decoded["jpg"].shape[2] == 3 and isinstance(decoded["json"], dict)


def test_replies_and_reactions_and_no_reply_to_what_is_not_exported(tmp_path, sources):
    def said(name, **more):
        return {"id": name, "type": "chat", "timestamp": 22.0, "speaker": "navigator", "utterance": "ok"} | more
    reactions = [{"emoji": "👍", "count": 2, "speakers": ["instructor"]}]
    turns = [said("r1", reply_to="chat-a"), said("r2", reply_to="gone", reactions=reactions),
             said("r3", reply_to="t1"), said("r4", reply_to="nobody"), said("r5", reply_to="r5")]
    source = sources[0]
    more = Source({**source.demonstration, "turns": source.demonstration["turns"] + turns}, source.recording)
    export([more], tmp_path / "out", "webdataset")
    records = {record["turn"]: record for record in (json.loads(each["json"]) for each in samples(tmp_path / "out"))}
    assert {name: records[name]["reply_to"] for name in ("r1", "r2", "r3", "r4", "r5", "t1")} == {
        "r1": "chat-a", "r2": "", "r3": "", "r4": "", "r5": "", "t1": ""}
    assert json.loads(records["r2"]["reactions"]) == reactions and records["t1"]["reactions"] == "[]"
    assert more.demonstration["turns"][-4]["reply_to"] == "gone", "the demonstration keeps it: a turn may be restored"


def test_speech_says_so_and_is_without_personal_data(tmp_path, sources):
    said = {"id": "s1", "type": "chat", "timestamp": 22.0, "speaker": "navigator", "source": "speech",
            "utterance": "write to ann.lee@example.org"}
    source = sources[0]
    more = Source({**source.demonstration, "turns": [*source.demonstration["turns"], said]}, source.recording)
    export([more], tmp_path / "out", "webdataset")
    records = {record["turn"]: record for record in (json.loads(each["json"]) for each in samples(tmp_path / "out"))}
    assert (records["s1"]["source"], records["t1"]["source"]) == ("speech", "")
    assert "ann.lee" not in records["s1"]["utterance"] and records["s1"]["utterance"].startswith("write to ")


def test_chat_carries_the_last_state_before_it(tmp_path, sources):
    export(sources[:1], tmp_path / "out", "webdataset")
    records = [json.loads(sample["json"]) for sample in samples(tmp_path / "out")]
    first, last = records[0], records[-1]
    assert (first["type"], first["state_turn"], first["screenshot_status"]) == ("chat", "", "none")
    assert (last["utterance"], last["state_turn"], last["url"]) == ("Done ✓", "t19", "https://shop.example/")


def test_shards_are_limited_and_samples_whole(tmp_path, sources):
    limit = 60_000
    export(sources, tmp_path / "out", "webdataset", shard_size=limit)
    shards = sorted((tmp_path / "out").glob("*.tar"))
    assert len(shards) > 5 and any(shard.stem.endswith("_001") for shard in shards)
    assert all(shard.stat().st_size <= limit + 20_480 for shard in shards)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    read = [list(webdataset.WebDataset([str(shard)], shardshuffle=False)) for shard in shards]
    tars = [entry for entry in manifest["files"] if entry["path"].endswith(".tar")]
    assert [len(shard) for shard in read] == [entry["samples"] for entry in tars]
    assert len(samples(tmp_path / "out")) == manifest["samples"]


def test_a_shuffled_read_of_two_epochs_returns_each_sample_once_an_epoch(tmp_path, sources):
    export(sources, tmp_path / "out", "webdataset", shard_size=100_000)
    shards = sorted(str(path) for path in (tmp_path / "out").glob("*.tar"))
    assert len(shards) > 2
    read = webdataset.WebDataset(shards, shardshuffle=len(shards), seed=5).shuffle(20)
    orders = [[sample["__key__"] for sample in read] for _ in range(2)]
    wanted = sorted(f"{source.name}-{number:04d}" for source in sources for number in range(len(source.turns)))
    assert [sorted(order) for order in orders] == [wanted, wanted]
    assert orders[0] != wanted and orders[1] != wanted


def test_datasets_loads_the_folder(tmp_path, sources):
    export(sources, tmp_path / "out", "webdataset", rule=Rule(valid=0.5))
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    splits = json.loads((tmp_path / "out" / "manifest.json").read_bytes())["demonstrations"]
    assert set(loaded) == {entry["split"] for entry in splits}
    assert sum(len(split) for split in loaded.values()) == sum(len(source.turns) for source in sources)
    row = next(iter(loaded.values()))[1]
    assert row["json"]["intent"] == "load" and row["jpg"].size == (640, 400) and "html" in row
    keys = [key for split in loaded.values() for key in split["__key__"]]
    assert len(keys) == len(set(keys))


def test_tars_name_nobody_and_no_time(tmp_path, sources):
    export(sources[:1], tmp_path / "out", "webdataset")
    with tarfile.open(fileobj=io.BytesIO((tmp_path / "out" / "train-000000.tar").read_bytes())) as tar:
        assert {(member.mtime, member.uid, member.gid, member.uname, member.mode) for member in tar} == {
            (0, 0, 0, "demotape", 0o644)}


def test_a_moved_chat_turn_carries_the_page_of_its_own_time(tmp_path, sources):
    turns = sources[0].demonstration["turns"]
    acted = [turn for turn in turns if turn["type"] == "browser" and turn["state"]]
    early, late = acted[0], acted[-1]
    line = {"type": "chat", "speaker": "navigator", "utterance": "x", "checks": [], "dropped": False,
            "timestamp": (early["timestamp"] + acted[1]["timestamp"]) / 2}
    moved = [line | {"id": "moved-first"}, *turns, line | {"id": "moved-last"},
             line | {"id": "at-the-end", "timestamp": late["timestamp"] + 9}]
    export([Source({**sources[0].demonstration, "turns": moved}, sources[0].recording)], tmp_path / "out", "webdataset")
    records = {record["turn"]: record for record in (json.loads(each["json"]) for each in samples(tmp_path / "out"))}
    assert [records[name]["state_turn"] for name in ("moved-first", "moved-last", "at-the-end")] == [
        early["id"], early["id"], max(acted, key=lambda turn: turn["timestamp"])["id"]]


@pytest.mark.parametrize("format", ["webdataset", "weblinx", "mind2web", "parquet"])
def test_a_demonstration_whose_turns_are_all_dropped_is_counted_and_not_exported(tmp_path, sources, format):
    turns = [turn | {"dropped": True} for turn in sources[0].demonstration["turns"]]
    dropped = Source({**sources[0].demonstration, "id": "dropped", "turns": turns}, sources[0].recording)
    summary = export([sources[0], dropped], tmp_path / "out", format)
    assert summary.not_selected == {"demonstration: all its turns are dropped": 1}
    assert not [path for path in (tmp_path / "out").rglob("*") if "dropped" in path.name]
