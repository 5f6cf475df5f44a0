"""A command that fails leaves no folder behind that was not there before."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from demotape.cli import main
from tests.demotape.test_private_files import LEAVES, run
from tests.support.samples.recording_fixtures import write_recording

# Commands that have what they need to begin, and what makes them fail; several for one command, with `;` between.
FAILING = {
    "import": ("import nowhere --create", "import {folder}/rec/recording.json --create --data deep/down",
               "import {folder}/empty --create", "import {folder}/broken.zip --create --data {folder}/empty",
               "import {folder}/rec --create --project unknown", "import nowhere {folder}/empty --create"),
    "user add": ("user add ann --role king --create", "user add '' --role lead --create --data deep/down",
                 "user add ann --role lead --create --project unknown", "user add ann --role lead --create --db bad://"),
    "review": ("review --port {port} --data made", "review --host 203.0.113.7 --port 0 --data deep/down",
               "review --data made --db bad://", "review --data made --blobs nonsense"),
    "admin restore": ("admin restore {folder}/empty --data made", "admin restore {folder}/backup --data deep/down",
                      "admin restore {folder}/backup --data made --db bad://"),
    "admin backup": ("admin backup copy --data {folder}/empty",),
    "admin move": ("admin move --to other --data {folder}/empty",),
    "export": ("export out --format weblinx --data {folder}/empty",),
    "record": ("record http://127.0.0.1:{free}/ --headless", "record http://127.0.0.1:{free}/ --headless --out a/b",
               "record --connect http://127.0.0.1:{free}", "record http://127.0.0.1:{free}/",
               "record http://127.0.0.1:{free}/ --headless --out a/b --token x --room http://127.0.0.1:{free}/"),
    "room instruct": ("room instruct http://127.0.0.1:{free}/rooms/r --endpoint http://127.0.0.1:{free}/v1 --model m "
                      "--token x",),
    "process": ("process {folder}/empty nowhere",),
    "replay serve": ("replay serve {folder}/rec --cdp 0", "replay serve {folder}/rec --cdp {port} --runs runs"),
    "replay export": ("replay export {folder}/rec out.har", "replay export {folder}/rec deep/down.wacz"),
    "replay run": ("replay run {folder}/rec --out runs",),
    "replay act": ("replay act {folder}/rec nothing",),
    "agents run": ("agents run idle {folder}/rec nowhere --runs runs", "agents run nobody:x {folder}/rec --runs runs"),
    "agents join-log": ("agents join-log {folder}/rec nowhere.json", "agents join-log {folder}/empty {folder}/rec"),
    "env serve": ("env serve {folder}/rec --record actions --runs runs",),
    "env mcp": ("env mcp {folder}/rec --results made/score.json",),
    "env pack": ("env pack {folder}/rec packed", "env pack {folder}/rec deep/down --name Upper"),
    "convert": ("convert {folder}/empty nowhere --format weblinx out", "convert {folder}/rec --format none deep/down",
                "convert {folder}/broken.zip --format chat out"),
    "bundle": ("bundle {folder}/empty deep/down.html", "bundle {folder}/rec out"),
    "outcome": ("outcome {folder}/rec --write-run run --write-task task.json", "outcome {folder}/empty --propose"),
    "judge": ("judge {folder}/rec --model m=http://127.0.0.1:{free} --cache cache --timeout 1",
              "judge {folder}/empty --sample 1 --out sample.jsonl"),
    "ranker train": ("ranker train {folder}/empty --output made/ranker.json",),
}
WITHOUT_FOLDERS = {"check", "diff", "push", "evaluate", "setup"}  # they write nothing
READING = ("user", "project", "task", "admin")  # groups whose other commands refuse a folder that is not there


@pytest.fixture(scope="module")
def given(tmp_path_factory) -> Path:
    """A recording without network, an empty folder, a damaged package and a damaged backup."""
    folder = tmp_path_factory.mktemp("given")
    recording = write_recording(folder / "rec").layout.root
    assert run(folder, "process", str(recording)).returncode == 0
    (folder / "empty").mkdir()
    (folder / "broken.zip").write_bytes(b"PK\3\4 no package")
    (folder / "backup").mkdir()
    (folder / "backup" / "backup.json").write_text(json.dumps({"format": "demotape-backup", "version": 1}))
    return folder


def names(folder: Path) -> set[str]:
    """All that is in a folder, except what processing prepares within a recording."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if "derived" not in path.parts}


@pytest.mark.parametrize("words", [words for commands in FAILING.values() for words in commands])
def test_a_command_that_fails_leaves_nothing(tmp_path, given, words, monkeypatch):
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith("DEMOTAPE_")]:
        monkeypatch.delenv(name)
    before = names(given)
    with socket.socket() as busy, socket.socket() as unused:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        unused.bind(("127.0.0.1", 0))  # nobody listens
        result = CliRunner(env={"CI": "1", "DISPLAY": "", "HOME": str(tmp_path)}).invoke(
            main, [word.strip("'").format(folder=given, port=busy.getsockname()[1], free=unused.getsockname()[1])
                   for word in words.split()])
    assert isinstance(result.exception, SystemExit) and result.exit_code in (1, 2), result.exc_info
    assert names(folder) == set() and names(given) == before, result.stderr
    assert "created" not in result.stderr


def test_every_command_that_writes_is_covered():
    missing = set(LEAVES) - set(FAILING) - WITHOUT_FOLDERS - {"demo"}
    assert {words for words in missing if words.partition(" ")[0] not in READING} == set()


def test_what_was_imported_stays_though_another_fails(tmp_path, given):
    result = run(tmp_path, "import", str(given / "rec"), "nowhere", "--create")
    assert result.returncode == 2 and "Data folder demotape-data created." in result.stderr
    assert (tmp_path / "demotape-data" / "demotape.db").exists()
    listed = subprocess.run([sys.executable, "-m", "demotape", "admin", "check"], cwd=tmp_path, check=False,
                            capture_output=True, text=True, env=os.environ | {"CI": "1"})
    assert listed.returncode == 0, listed.stderr
