"""Pushing an export to the Hugging Face Hub, by its own client, to a server that speaks as it does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.export import Source, export
from pipeline.hub import push as send
from schemas import InputError
from tests.support.samples.recording_fixtures import make_demonstration, write_recording
from tests.support.services import hub

pytest.importorskip("huggingface_hub")


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    root = tmp_path_factory.mktemp("hub")
    recording = write_recording(root / "rec-1")
    export([Source(make_demonstration(recording), recording)], root / "export", "webdataset")
    return root / "export"


@pytest.fixture
def server(tmp_path, monkeypatch):
    with hub.running() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        monkeypatch.setenv("HF_TOKEN", server.token)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
        monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")  # its own store for large files, which nobody can stand in for
        yield server


def push(folder: Path, *options: str) -> subprocess.CompletedProcess:
    """By the command, in a process of its own: the library reads its settings once."""
    return subprocess.run([Path(sys.executable).with_name("demotape"), "push", str(folder), *options], text=True,
                          capture_output=True, env={**os.environ, "HF_HUB_OFFLINE": "0"})


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_repository_holds_the_export_and_nothing_else(exported, server):
    server.files["train-old.tar"] = b"of an earlier export"
    answer = push(exported, "hf://o/n", "--message", "The first")
    assert answer.returncode == 0, answer.stderr
    assert "1 files of an earlier export removed" in answer.stdout and f"{server.address}/datasets/o/n" in answer.stdout
    assert server.files == contents(exported) | {".gitattributes": b"x"}
    assert (server.private, server.commits) == (True, ["The first"]) and server.stored
    server.private = False  # somebody made it public
    answer = push(exported, "hf://o/n")
    assert answer.returncode != 0 and "is public, nothing was uploaded" in answer.stderr and len(server.commits) == 1
    assert push(exported, "hf://o/n", "--public").returncode == 0


def test_what_is_wrong_is_told_and_nothing_is_sent(exported, server, tmp_path, monkeypatch):
    answer = push(exported, "hf://o/n", "--dry-run")
    assert answer.returncode == 0 and "would get" in answer.stdout and server.private is None
    monkeypatch.setenv("HF_TOKEN", "hf_another")
    answer = push(exported, "hf://o/n")
    assert answer.returncode != 0 and "Invalid username or password" in answer.stderr
    assert "hf_another" not in answer.stderr + answer.stdout
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    answer = push(exported, "hf://o/n")
    assert answer.returncode != 0 and "cannot be reached" in answer.stderr and "Traceback" not in answer.stderr
    for address in ("hf://n", "hf://../n", "https://huggingface.co/o/n", "hf://o/n/x"):
        with pytest.raises(InputError, match="hf://OWNER/NAME"):
            send(exported, address)
    with pytest.raises(InputError, match="manifest.json"):
        send(tmp_path, "hf://o/n")
    (exported / "notes.txt").write_text("of somebody else")
    with pytest.raises(InputError, match=r"damaged, nothing was uploaded: .*notes\.txt: not part of the export"):
        send(exported, "hf://o/n")
    assert server.private is None and not server.commits
