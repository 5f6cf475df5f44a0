"""What is read of a folder that is not trusted are its own regular files: links lead anywhere, a FIFO never ends."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline import process
from pipeline.verify import verify
from recorder import Recording
from schemas import InputError, RecordingLayout
from tests.support.checkout import ROOT
from tests.support.curator.curator_fixtures import make_recording, typed_recording

FILES = ("recording.json", "events.jsonl", "chat.jsonl", "resources.jsonl", "demonstration.json", "processed.json",
         "video.webm", "network.har", "console.jsonl")
WAYS = {
    "FIFO": lambda path, _: os.mkfifo(path),
    "link to a device": lambda path, _: path.symlink_to("/dev/zero"),
    "link out of the folder": lambda path, outside: path.symlink_to(outside),
}


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    (tmp_path / "outside").write_text('{"mine": "private"}')
    return typed_recording(tmp_path)


def replaced(path: Path, way: str) -> Path:
    """The path, with something there that is no regular file."""
    path.unlink(missing_ok=True)
    WAYS[way](path, path.parents[1] / "outside")
    return path


def told(command: str, *arguments: object) -> subprocess.CompletedProcess:
    """What a command says, which ends by itself."""
    return subprocess.run([Path(sys.executable).parent / "demotape", command, *map(str, arguments)],
                          capture_output=True, text=True, timeout=60, cwd=ROOT, check=False)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FILES)
def test_every_file_of_a_recording_is_a_regular_one(recording, name, way):
    odd = replaced(recording / name, way)
    for ask in (process, verify):
        try:
            said = " ".join(ask(recording))
        except InputError as error:
            said = str(error)
        assert str(odd) in said and ("is a link" in said or "not a regular file" in said), ask
        assert "private" not in said and "\n" not in said


def test_every_place_of_the_layout_is_looked_at_whatever_its_case(recording, tmp_path):
    places = {name: place.kind for name, place in vars(RecordingLayout).items() if hasattr(place, "kind")}
    assert len(places) == 20
    for name, kind in places.items():
        path = getattr(RecordingLayout(recording), name)
        kept = path.rename(tmp_path / "kept") if path.exists() else None
        for odd in (path, path.with_name(path.name.title())):  # some disks give it by either name
            for way, said in (("link out of the folder", "is a link"), ("FIFO", f"not a regular {kind}")):
                WAYS[way](odd, tmp_path / "outside")
                with pytest.raises(InputError, match=f"{odd}: {said}"):
                    RecordingLayout(recording).require_regular_files()
                odd.unlink()
        if kept:
            kept.rename(path)
    assert Recording(recording).events


@pytest.mark.parametrize("way", WAYS)
def test_every_blob_is_a_regular_file(recording, way):
    found = Recording(recording)
    name = next(event["state"]["dom"] for event in found.events if event["state"])
    odd = replaced(found.layout.blob(name), way)
    with pytest.raises(InputError, match=r"is a link|not a regular file"):
        found.blob(name)
    assert any(str(odd) in problem for problem in verify(recording))


@pytest.mark.parametrize("place", ["blobs", "derived", "blobs/ab", "derived/ab"])
def test_nothing_is_read_or_removed_through_a_folder_that_is_a_link(recording, tmp_path, place):
    process(recording)
    outside = tmp_path / "elsewhere"
    (outside / "ab").mkdir(parents=True)
    mine = outside / "ab" / "mine.txt"
    mine.write_text("mine")
    if place in ("blobs", "derived"):
        if (recording / place).exists():
            shutil.rmtree(recording / place)
        (recording / place).symlink_to(outside)
    else:
        if (recording / place).exists():
            shutil.rmtree(recording / place)
        (recording / place).parent.mkdir(exist_ok=True)
        (recording / place).symlink_to(outside / "ab")
    if place != "blobs/ab":  # which no blob of this recording need be in
        with pytest.raises(InputError, match="link"):
            process(recording)
    assert [path.name for path in outside.rglob("*") if path.is_file()] == ["mine.txt"]
    assert mine.read_text() == "mine"
    if place == "blobs/ab":
        with pytest.raises(InputError, match="link"):
            Recording(recording).blob("ab" + "0" * 62)


@pytest.mark.parametrize("way", WAYS)
def test_a_lone_demonstration_is_a_regular_file(tmp_path, way):
    path = make_recording(tmp_path) / "demonstration.json"
    (tmp_path / "outside").write_text("{}")
    replaced(path, way)
    with pytest.raises(InputError, match="not a recording"):
        verify(path)


def test_commands_end_with_one_line(recording):
    odd = replaced(recording / "events.jsonl", "FIFO")
    for command in ("check", "process", "import"):
        done = told(command, recording, *(["--create", "--data", recording.parent / "data"]
                                           if command == "import" else []))
        assert done.returncode in (1, 2), command
        assert "not a regular file" in " ".join(done.stderr.split()) and "Traceback" not in done.stderr
        assert odd.name in done.stderr


def test_what_the_user_names_may_be_a_link(recording, tmp_path):
    chat, link = tmp_path / "chat.txt", tmp_path / "link.txt"
    chat.write_text("00:00:01\tAnn:\tHello\n")
    link.symlink_to(chat)
    process(recording, chat=link)
    os.mkfifo(tmp_path / "fifo.txt")
    with pytest.raises(InputError, match="not a regular file"):
        process(recording, chat=tmp_path / "fifo.txt")
    (tmp_path / "shelf").symlink_to(recording.parent)
    assert Recording(tmp_path / "shelf" / recording.name).id == RecordingLayout(recording).root.name
