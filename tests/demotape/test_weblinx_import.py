"""Data sets in WebLINX's layout are imported: what we exported comes back, and what is broken is told."""

import json
import shutil

import pytest
from click.testing import CliRunner

from curator_web import create_app, default_db_url
from curator_web.db.database import open_database
from curator_web.demonstrations.library.library import current
from demotape.cli import main
from pipeline.export import Source, export
from schemas import INTENTS
from tests.support.samples.recording_fixtures import make_demonstration, write_recording


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A data set in WebLINX's layout, and the turns that it was made from."""
    folder = tmp_path_factory.mktemp("weblinx")
    recording = write_recording(folder / "shop-1")
    demonstration = make_demonstration(recording)
    export([Source(demonstration, recording)], folder / "out", "weblinx")
    return folder / "out", demonstration["turns"]


@pytest.fixture
def data_set(exported, tmp_path):
    return shutil.copytree(exported[0], tmp_path / "set")


def run(path, tmp_path):
    return CliRunner().invoke(main, ["import", "--create", str(path), "--data", str(tmp_path / "data")])


def imported(tmp_path):
    db = open_database(default_db_url(tmp_path / "data"))
    turns = current(db, "shop-1")["turns"]
    db.close()
    return turns


def test_what_was_exported_comes_back(exported, data_set, tmp_path):
    done = run(data_set, tmp_path)
    assert done.exit_code == 0, done.stderr
    assert "imported (shop-1)" in done.stdout
    turns = imported(tmp_path)
    replay = json.loads(next(data_set.glob("demonstrations/*/replay.json")).read_text())["data"]
    assert len(turns) == len(replay)
    assert [turn.get("utterance") for turn in turns] == [turn.get("utterance") for turn in replay]
    before = {turn["timestamp"]: turn for turn in exported[1]}
    for turn in (turn for turn in turns if turn["type"] == "browser"):
        old = before[turn["timestamp"]]
        assert turn["intent"] == INTENTS[old["intent"]].weblinx
        if turn["intent"] == old["intent"] and turn["intent"] in ("textInput", "copy", "scroll", "tabswitch"):
            assert turn["arguments"] == old["arguments"]
        if turn["element"] and old["element"]["bbox"] and not old["element"]["frame"]:
            assert turn["element"]["bbox"] == old["element"]["bbox"] and turn["element"]["tag"] == old["element"]["tag"]
    assert any(turn["state"] and turn["state"]["elements"] for turn in turns if turn["type"] == "browser")


def test_pages_pictures_and_targets_are_shown(data_set, tmp_path):
    run(data_set, tmp_path)
    client = create_app(data_dir=tmp_path / "data").test_client()
    for turn in imported(tmp_path):
        for view in ("screenshot", "dom", "targets"):
            assert client.get(f"/demonstrations/shop-1?turn={turn['id']}&view={view}").status_code == 200
        if turn["type"] == "browser" and turn["state"]["dom"] and turn["element"]:
            uid = turn["element"]["uid"]
            page = client.get(f"/snapshot/shop-1/{turn['state']['dom']}?uid={uid}")
            assert f'data-demotape-uid="{uid}"' in page.text
            assert client.get(f"/blobs/shop-1/{turn['state']['screenshot']}").content_type == "image/png"


def test_importing_again_changes_nothing(data_set, tmp_path):
    run(data_set, tmp_path)
    assert "already imported" in run(data_set / "demonstrations" / "shop-1", tmp_path).stdout


@pytest.mark.parametrize(("change", "words"), [
    (lambda data: data.pop(), None),
    (lambda data: data.append({"type": "browser"}), "not a turn of WebLINX"),
    (lambda data: data.append(7), "not a turn of WebLINX"),
    (lambda data: data[1]["action"].update(intent="explode"), "action.intent"),
    (lambda data: data[1]["state"].update(page="../../../etc/passwd"), "plain file name"),
    (lambda data: data[1]["state"].update(screenshot="/etc/passwd"), "plain file name"),
    (lambda data: data[0].update(speaker="<script>"), "field turns.0.speaker"),
    (lambda data: data[0].update(timestamp="soon"), "not a turn of WebLINX"),
])
def test_what_is_broken_is_told(data_set, tmp_path, change, words):
    file = data_set / "demonstrations" / "shop-1" / "replay.json"
    replay = json.loads(file.read_text())
    change(replay["data"])
    file.write_text(json.dumps(replay))
    done = run(data_set, tmp_path)
    assert done.exit_code == (2 if words else 0)
    assert words is None or words in done.stderr


def test_a_link_is_not_followed(data_set, tmp_path):
    picture = next(data_set.glob("demonstrations/*/screenshots/*"))
    picture.unlink()
    picture.symlink_to("/etc/passwd")
    done = run(data_set, tmp_path)
    assert done.exit_code == 2 and "is a link" in done.stderr


@pytest.mark.parametrize("form, words", [
    ({"tasks": 5}, "form.json: field tasks: must be a list"), ({"tasks": {"a": 1}}, "field tasks: must be a list"),
    ({"tasks": [1, None]}, None), ({"description": 7}, None), ([1], "form.json: not a JSON object")])
def test_a_form_with_numbers_is_no_traceback(data_set, tmp_path, form, words):
    (data_set / "demonstrations" / "shop-1" / "form.json").write_text(json.dumps(form))
    done = run(data_set, tmp_path)
    assert done.exit_code == (2 if words else 0)
    assert words is None or words in " ".join(done.stderr.split())
