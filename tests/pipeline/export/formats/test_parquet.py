"""The Parquet export, as `datasets` and pyarrow see it."""

import json
import os

import pyarrow.parquet
import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import datasets

from pipeline.export import Source, export
from tests.support.samples.recording_fixtures import make_demonstration, write_recording


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    root = tmp_path_factory.mktemp("recordings")
    recordings = [write_recording(root / name) for name in ("rec-a", "rec-b")]
    return [Source(make_demonstration(recording), recording) for recording in recordings]


def test_datasets_loads_the_folder(tmp_path, sources):
    summary = export(sources, tmp_path / "out", "parquet")
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    assert list(loaded) == ["train"]
    turns = [turn for source in sources for turn in source.turns]
    assert loaded["train"]["turn"][:] == [turn["id"] for turn in turns]
    assert summary.samples == len(turns)
    rows = loaded["train"]
    assert rows[0]["screenshot"] is None and rows[2]["screenshot"].size == (640, 400)
    assert rows[2]["intent"] == "click" and json.loads(rows[2]["arguments"]) == turns[2]["arguments"]
    assert json.loads(rows[2]["boxes"])[rows[2]["uid"]]["width"] == 200
    assert f'data-demotape-uid="{rows[2]["uid"]}"' in rows[2]["html"]


def test_a_shuffled_read_of_two_epochs_returns_each_turn_once_an_epoch(tmp_path, sources):
    export(sources, tmp_path / "out", "parquet", shard_size=30_000)
    stream = datasets.load_dataset(str(tmp_path / "out"), split="train", streaming=True,
                                   cache_dir=str(tmp_path / "cache")).shuffle(seed=1, buffer_size=16)
    wanted = sorted((source.id, turn["id"]) for source in sources for turn in source.turns)
    orders = []
    for epoch in range(2):
        stream.set_epoch(epoch)
        orders.append([(row["demonstration"], row["turn"]) for row in stream])
        assert sorted(orders[-1]) == wanted
    assert orders[0] != orders[1]


def test_shards_are_numbered_and_limited(tmp_path, sources):
    export(sources, tmp_path / "out", "parquet", shard_size=1)
    files = sorted((tmp_path / "out" / "data").iterdir())
    assert len(files) >= len(sources) and all(path.name.startswith("train-") for path in files)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    rows = {f"data/{path.name}": pyarrow.parquet.ParquetFile(path).metadata.num_rows for path in files}
    assert rows == {entry["path"]: entry["samples"] for entry in manifest["files"] if entry["path"] in rows}


def test_the_card_counts(tmp_path, sources):
    export(sources, tmp_path / "out", "parquet")
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    for line in ("| train | 2 | 50 |", "| click | 6 |", "| shop.example | 2 |", "license: other",
                 "    path: data/train-*.parquet"):
        assert line in text, line
