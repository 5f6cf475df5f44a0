"""Prepared blobs: an export that reads them writes the same bytes, and they are made again when they must be."""

import copy
import io
import json
import shutil
import tarfile

import pytest
import webdataset
import zstandard

from pipeline.cache import derived, prepared
from pipeline.export import FORMATS, Source, export, prepare, states
from tests.support.samples.recording_fixtures import make_demonstration, write_recording

USUAL = {"weblinx": "png", "mind2web": "png", "multimodal-mind2web": "jpg", "webdataset": "jpg", "parquet": "jpg",
         "chat": "jpg", "playwright": "jpg", "trajectories": "jpg", "label-studio": "jpg",
         "atif": "jpg", "adp": "jpg", "agentnet": "jpg"}


@pytest.fixture
def source(tmp_path) -> Source:
    recording = write_recording(tmp_path / "rec")
    return Source(make_demonstration(recording), recording)


@pytest.fixture
def only_reads(monkeypatch):
    """From now on whoever makes a page or encodes a picture fails."""
    def stop():
        def refuse(*arguments):
            raise AssertionError("this was to be read")
        for name in ("flatten", "_encode"):
            monkeypatch.setattr(states, name, refuse)
    return stop


def tree(folder) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def blobs(source: Source) -> list:
    return [path for path in source.recording.layout.derived.rglob("*") if path.is_file()]


@pytest.mark.parametrize("format", FORMATS)
def test_the_bytes_are_the_same_with_and_without(tmp_path, source, only_reads, format):
    folder = tmp_path / "out"
    export([source], folder, format)
    first = tree(folder)
    assert blobs(source)
    for path in blobs(source):
        path.write_bytes(path.read_bytes()[:-3])  # damaged: made again
    export([source], folder, format)
    assert tree(folder) == first
    shutil.rmtree(source.recording.layout.derived)
    export([source], folder, format)
    assert tree(folder) == first
    states.blank(USUAL[format])
    only_reads()
    export([source], folder, format)
    assert tree(folder) == first


def test_what_is_whole_but_not_ours_is_made_again(tmp_path, source):
    export([source], tmp_path / "out", "webdataset")
    first = tree(tmp_path / "out")
    for path in blobs(source):
        if zstandard.ZstdDecompressor().decompress(path.read_bytes())[:1] in (b"[", b"{"):
            path.write_bytes(zstandard.ZstdCompressor().compress(b"nothing\nof ours"))
    path.write_bytes(b"no frame")
    export([source], tmp_path / "out", "webdataset")
    assert tree(tmp_path / "out") == first


def test_prepared_ahead_and_after_an_edit_nothing_is_made_again(tmp_path, source, only_reads):
    prepare(source)
    states.blank("jpg")
    only_reads()
    export([source], tmp_path / "whole", "webdataset")
    edited = copy.deepcopy(source.demonstration)
    edited["turns"][1]["dropped"] = True
    edited["turns"] = edited["turns"][:-1]
    export([Source(edited, source.recording)], tmp_path / "edited", "webdataset")


def test_what_an_edit_tells_is_taken_out_of_a_prepared_page(tmp_path, source):
    prepare(source)
    secret = "https://pay.example/frame"  # stands in the page
    edited = copy.deepcopy(source.demonstration)
    edited["turns"].append({"id": "told", "type": "chat", "timestamp": 99.0, "speaker": "instructor",
                            "utterance": f"my password: {secret}"})
    found = {}
    for name, demonstration in (("before", source.demonstration), ("after", edited), ("again", edited)):
        export([Source(demonstration, source.recording)], tmp_path / name, "webdataset")
        [shard] = (tmp_path / name).glob("*.tar")
        found[name] = shard.read_bytes()
    assert secret.encode() in found["before"]
    assert secret.encode() not in found["after"] and b"my password: [REDACTED]" in found["after"]
    assert found["again"] == found["after"]


def test_a_folder_that_cannot_be_written_to(tmp_path, source):
    source.recording.layout.derived.write_text("in the way")
    export([source], tmp_path / "out", "webdataset")
    other = write_recording(tmp_path / "other" / "rec")
    export([Source(source.demonstration, other)], tmp_path / "beside", "webdataset")
    assert tree(tmp_path / "out") == tree(tmp_path / "beside")


def test_other_rules_read_nothing_of_ours_and_processing_clears_it_away(tmp_path, source, monkeypatch):
    name = derived.store_derived(source.recording.layout, b"[]")  # a blob that the demonstration names
    next(turn for turn in source.demonstration["turns"] if turn.get("state"))["state"]["axtree"] = name
    prepare(source)
    ours = set(blobs(source))
    monkeypatch.setattr(prepared, "rules", lambda: "better ones")
    prepare(source)
    assert len(blobs(source)) == 2 * len(ours) - 1
    derived.clear(source.recording.layout, source.demonstration)
    assert [path.name for path in blobs(source)] == [name]


def test_the_tar_is_what_webdataset_writes(tmp_path, source):
    export([source], tmp_path / "out", "webdataset", screenshots="png", set_of_marks=True)
    [path] = (tmp_path / "out").glob("*.tar")
    theirs = io.BytesIO()
    with webdataset.TarWriter(theirs, encoder=False, mtime=0, user="demotape", group="demotape", mode=0o644) as writer:
        samples: dict[str, dict] = {}
        with tarfile.open(path) as tar:
            for member in tar:
                key, _, name = member.name.partition(".")
                samples.setdefault(key, {"__key__": key})[name] = tar.extractfile(member).read()
        for sample in samples.values():
            writer.write(sample)
    assert path.read_bytes() == theirs.getvalue()
    assert all(json.loads(sample["json"]) for sample in samples.values())


def test_boxes_get_one_more_unless_they_have_it():
    box = {"x": 1.0, "y": 2.0, "width": 3.0, "height": 4.0}
    for boxes in ({}, {"a": box}, {'x"12': box}, {'b, "12': box}, {"12": box}, {"a": box, "12": box}):
        wanted = dict(boxes)
        wanted.setdefault("12", box | {"x": 9})
        assert states.with_box(json.dumps(boxes), "12", box | {"x": 9}) == json.dumps(wanted)
