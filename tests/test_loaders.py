"""What `python -m benchmarks.loaders` takes for a fault; the loaders themselves run in environments of their own."""

import sys
from pathlib import Path

import pytest

from benchmarks.loaders import expected, pinned, read, wrong
from pipeline.export import Rule, Source, export
from tests.support.samples.recording_fixtures import make_demonstration, write_recording


@pytest.mark.parametrize("format, told, fault", [
    ("parquet", {"rows": {"train": 2, "valid": 1}, "pictures": 3}, ""),
    ("parquet", {"rows": {"train": 3}, "pictures": 3}, "rows"),
    ("parquet", {"rows": {"train": 2, "valid": 1}, "pictures": 0}, "no picture"),
    ("parquet", {"records": {"rows": 3}, "by_split": {"rows": {"train": 2, "valid": 1}}, "pictures": 3}, ""),
    ("mind2web", {"records": {"actions": 3}, "by_split": {"actions": {"train": 3}}, "pictures": 3}, "rows"),
    ("weblinx", {"records": {"turns": 3}, "by_split": {}, "pictures": 3}, ""),
    ("webdataset", {"records": {f"{split}-{kind}": count for split, count in (("train", 2), ("valid", 1))
                                for kind in ("turns", "screenshots", "pages")}, "pictures": 3}, ""),
    ("webdataset", {"records": {"train-turns": 2, "train-screenshots": 1, "train-pages": 2, "valid-turns": 1,
                                "valid-screenshots": 1, "valid-pages": 1}, "pictures": 3}, "rows")])
def test_what_is_a_fault(format, told, fault):
    assert (fault in wrong(format, told, {"train": 2, "valid": 1})) if fault else not wrong(
        format, told, {"train": 2, "valid": 1})


def test_a_program_reads_what_is_whole_and_complains_of_what_is_not(tmp_path):
    recording = write_recording(tmp_path / "rec")
    source = Source(make_demonstration(recording), recording)
    export([source], tmp_path / "out", "webdataset", rule=Rule(held_out={"test_web": ["shop.example"]}))
    wanted = expected(tmp_path / "out", "webdataset")
    assert wanted == {"test_web": len(source.turns)}
    python = Path(sys.executable)
    assert read("webdataset", python, tmp_path / "out", "webdataset", tmp_path / "home", wanted) == (
        "", len(source.turns))
    [shard] = (tmp_path / "out").rglob("*.tar")
    content = shard.read_bytes()
    at = content.index(b"\xff\xd8\xff", 10)
    shard.write_bytes(content[:at] + bytes(64) + content[at + 64:])
    fault, pictures = read("webdataset", python, tmp_path / "out", "webdataset", tmp_path / "home", wanted)
    assert fault.startswith("exit code 1: ") and pictures == 0


def test_the_library_is_the_pinned_one():
    assert pinned("weblinx").startswith("weblinx==")
