"""Exports are whole or absent, the same each time, and replace nothing that is not theirs."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import webdataset

from pipeline.export import FORMATS, Source, export
from pipeline.export.manifest import FileSchema, ManifestSchema, MemberSchema, SourceSchema
from pipeline.verify import verify
from schemas import InputError
from tests.support.checkout import ROOT
from tests.support.samples.recording_fixtures import make_demonstration, write_recording


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    root = tmp_path_factory.mktemp("recordings")
    recordings = [write_recording(root / name) for name in ("rec-a", "rec-b")]
    return [Source(make_demonstration(recording), recording) for recording in recordings]


def content(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("format", FORMATS)
def test_same_input_same_bytes(tmp_path, sources, format):
    done = []
    export(sources, tmp_path / "a", format, done.append)
    time.sleep(1.1)  # past the second that a tar or a PNG might have noted
    export(iter(sources), tmp_path / "sub" / "b", format)
    first = content(tmp_path / "a")
    assert first == content(tmp_path / "sub" / "b")
    assert done == ["rec-a", "rec-b"]
    export(sources, tmp_path / "a", format)
    assert content(tmp_path / "a") == first
    assert sorted(os.listdir(tmp_path)) == ["a", "sub"]


@pytest.mark.parametrize("format", FORMATS)
def test_interrupted_leaves_nothing_or_what_was_there(tmp_path, sources, format):
    def stop(name):
        if name == "rec-b":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(sources, tmp_path / "out", format, stop)
    assert list(tmp_path.iterdir()) == []
    export(sources[:1], tmp_path / "out", format)
    before = content(tmp_path / "out")
    with pytest.raises(KeyboardInterrupt):
        export(sources, tmp_path / "out", format, stop)
    assert content(tmp_path / "out") == before


def test_killed_leaves_no_folder_and_the_next_export_cleans_up(tmp_path, sources):
    script = ("import sys, time\nfrom recorder import Recording\nfrom pipeline.export import Source, export\n"
              "from tests.support.samples.recording_fixtures import make_demonstration\n"
              "r = Recording(sys.argv[1])\n"
              "export([Source(make_demonstration(r), r)], sys.argv[2], 'weblinx',\n"
              "       lambda name: (print('half', flush=True), time.sleep(60)))\n")
    process = subprocess.Popen([sys.executable, "-c", script, sources[0].recording.layout.root, tmp_path / "out"],
                               stdout=subprocess.PIPE, cwd=ROOT)
    try:
        assert process.stdout.readline() == b"half\n"
        with pytest.raises(InputError, match="another export"):
            export(sources, tmp_path / "out", "weblinx")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    assert not (tmp_path / "out").exists()
    export(sources, tmp_path / "out", "weblinx")
    assert verify(tmp_path / "out") == []
    assert os.listdir(tmp_path) == ["out"]


def test_what_is_not_ours_is_left_alone(tmp_path, sources):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for name in ("notes", "file"):
        with pytest.raises(InputError, match=name):
            export(sources, tmp_path / name, "weblinx")
    export(sources, tmp_path / "out", "weblinx")
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="notes.txt"):
        export(sources, tmp_path / "out", "webdataset")
    assert sorted(os.listdir(tmp_path)) == ["file", "notes", "out"]


def test_wrong_input(tmp_path, sources):
    with pytest.raises(InputError, match="weblinx, mind2web, multimodal-mind2web, webdataset"):
        export(sources, tmp_path / "out", "floppy")
    with pytest.raises(InputError, match="no demonstrations"):
        export([], tmp_path / "out", "weblinx")
    with pytest.raises(InputError, match="occurs twice"):
        export([sources[0], sources[0]], tmp_path / "out", "weblinx")
    assert list(tmp_path.iterdir()) == []


def test_names_are_file_names(sources):
    recording = sources[0].recording
    names = [Source({"id": text, "turns": []}, recording).name for text in
             ("ok-1-A", "a_b", "../x", "a.b", "a/b", "", "é", "x" * 200, "---")]
    assert names[0] == "ok-1-A"
    assert len(set(names)) == len(names)
    assert all(0 < len(name) <= 60 and set(name) <= set(map(chr, range(45, 123))) - set("./_") for name in names)


def test_manifest(tmp_path, sources):
    export(sources, tmp_path / "out", "weblinx")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert manifest["layout"] == "weblinx" and manifest["tool"].startswith("demotape ")
    assert {entry["path"] for entry in manifest["files"]} | {"manifest.json"} == set(content(tmp_path / "out"))
    assert [entry["id"] for entry in manifest["demonstrations"]] == ["rec-a", "rec-b"]


def test_the_documentation_names_every_field_and_format(tmp_path, sources):
    text = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
    export(sources[:1], tmp_path / "out", "webdataset")
    sample = next(iter(webdataset.WebDataset([str(tmp_path / "out" / "train-000000.tar")], shardshuffle=False)))
    schemas = ManifestSchema, FileSchema, MemberSchema, SourceSchema
    names = {*FORMATS, *json.loads(sample["json"]), *(name for schema in schemas for name in schema().fields)}
    assert [name for name in sorted(names) if f"`{name}`" not in text] == []
