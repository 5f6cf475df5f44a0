"""Shards that stay when a demonstration is added, changed or taken away: the same is neither made nor written again."""

import hashlib
import os
from dataclasses import replace

import pytest

from pipeline.export import InOrder, ReviewState, Source, export, order_key
from pipeline.export.formats import mind2web_actions, turnwise
from schemas import InputError
from tests.support.samples.recording_fixtures import make_demonstration, write_recording

SHARDED = ("webdataset", "parquet", "multimodal-mind2web")
SIZES = {"webdataset": 900_000, "parquet": 60_000, "multimodal-mind2web": 60_000}  # a few demonstrations


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A dozen demonstrations of one recording."""
    recording = write_recording(tmp_path_factory.mktemp("recordings") / "rec-a")
    demonstration = make_demonstration(recording)
    return [Source(demonstration | {"id": f"demo-{number}"}, recording) for number in range(12)]


@pytest.fixture
def made(monkeypatch):
    """Ids of the demonstrations that are made."""
    found = []
    for module in (turnwise, mind2web_actions):
        def counting(source, *more, states=module.States):
            found.append(source.id)
            return states(source, *more)
        monkeypatch.setattr(module, "States", counting)
    return found


def files_of(folder):
    """SHA-256 of each file by its path."""
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in folder.rglob("*") if path.is_file()}


def shards_of(folder):
    """Each shard by its path and what tells that it is the same file."""
    return {path.name: path.stat().st_ino for path in folder.rglob("*-*") if path.is_file()}


def edited(source):
    """The same with another task."""
    return replace(source, demonstration=source.demonstration | {"task": "Something else"})


@pytest.mark.parametrize("format", SHARDED)
@pytest.mark.parametrize(("change", "makes"), [
    ("nothing", []), ("added", ["demo-new"]), ("edited", ["demo-5"]), ("reviewed", ["demo-5"]), ("taken away", [])])
def test_only_what_differs_is_made_and_the_bytes_are_those_of_a_new_export(tmp_path, many, made, format, change, makes):
    changed = list(many)
    match change:
        case "added":
            changed.append(replace(many[0], demonstration=many[0].demonstration | {"id": "demo-new"}))
        case "edited":
            changed[5] = edited(many[5])
        case "reviewed":
            changed[5] = replace(many[5], review=ReviewState("approved", ("reviewer-1",), "reviewer-2"))
        case "taken away":
            del changed[5]
    export(many, tmp_path / "out", format, shard_size=SIZES[format])
    before = shards_of(tmp_path / "out")
    made.clear()
    summary = export(changed, tmp_path / "out", format, shard_size=SIZES[format])
    assert made == makes and summary.demonstrations == len(changed)
    after = shards_of(tmp_path / "out")
    assert len(before) >= 4, "the test needs some shards"
    assert len({*before.items()} - {*after.items()}) <= 1
    fresh = export(changed, tmp_path / "fresh", format, shard_size=SIZES[format])
    assert files_of(tmp_path / "out") == files_of(tmp_path / "fresh")
    assert replace(summary, destination="") == replace(fresh, destination="")


@pytest.mark.parametrize("format", SHARDED)
def test_a_demonstration_that_is_a_shard_by_itself_stays_in_its_files(tmp_path, many, made, format):
    export(many[:3], tmp_path / "out", format, shard_size=1)
    before = shards_of(tmp_path / "out")
    made.clear()
    export(many[:4], tmp_path / "out", format, shard_size=1)
    assert made == ["demo-3"] and {*before.items()} < {*shards_of(tmp_path / "out").items()}
    export(many[:4], tmp_path / "fresh", format, shard_size=1)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "fresh")


def test_other_options_make_all_anew(tmp_path, many, made):
    export(many[:3], tmp_path / "out", "webdataset")
    for options in ({"screenshots": "png"}, {"allow": frozenset({"email"})}, {"axtree": True}):
        made.clear()
        export(many[:3], tmp_path / "out", "webdataset", **options)
        assert len(made) == 3
    made.clear()
    export(many[:3], tmp_path / "out", "parquet", axtree=True)
    assert len(made) == 3


def test_a_shard_that_was_touched_is_made_anew(tmp_path, many, made):
    export(many, tmp_path / "out", "webdataset", shard_size=SIZES["webdataset"])
    wanted = files_of(tmp_path / "out")
    shard = next((tmp_path / "out").glob("*.tar"))
    content = bytearray(shard.read_bytes())
    content[700] ^= 1
    shard.write_bytes(content)
    made.clear()
    export(many, tmp_path / "out", "webdataset", shard_size=SIZES["webdataset"])
    assert 0 < len(made) < len(many) and files_of(tmp_path / "out") == wanted


def test_nothing_is_copied_from_a_shard_that_is_not_what_was_written(tmp_path, many):
    export(many, tmp_path / "out", "webdataset")
    [shard] = (tmp_path / "out").glob("*.tar")
    found = shard.stat()
    content = bytearray(shard.read_bytes())
    content[700] ^= 1
    shard.write_bytes(content)
    os.utime(shard, ns=(found.st_atime_ns, found.st_mtime_ns))
    with pytest.raises(InputError, match="was changed after the export"):
        export(many[1:], tmp_path / "out", "webdataset")
    assert shard.read_bytes() == content


def test_sources_come_in_any_order(tmp_path, many):
    for name, sources in (("list", many), ("stream", iter(many)), ("backwards", reversed(many)),
                          ("in-order", InOrder(sorted(many, key=lambda source: order_key(source.id))))):
        export(sources, tmp_path / name, "webdataset", shard_size=SIZES["webdataset"])
        assert files_of(tmp_path / name) == files_of(tmp_path / "list")
