"""The commands about data sets, from the review app's database to what lies on disk."""

import json
import re

import pytest
from click.testing import CliRunner

from curator_web.jobs import export_presets
from curator_web.users import Account, project_settings
from demotape.cli import main
from demotape.commands.app_data import open_app
from pipeline.export.grammars.table import GRAMMARS
from tests.support.curator.curator_fixtures import make_recording


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    root = tmp_path_factory.mktemp("app")
    for number in range(3):
        recording = make_recording(root / "made", recording_id=f"rec-{number}", task=f"Book flight {number}")
        assert run("import", "--create", recording, "--data", root / "data").exit_code == 0
    return root / "data"


def test_export_with_all_options(tmp_path, data):
    (tmp_path / "rule.json").write_text(json.dumps({"valid": 0.4, "test_web": ["nowhere.example"]}))
    done = run("export", tmp_path / "out", "--format", "weblinx", "--splits", tmp_path / "rule.json", "--screenshots",
               "webp", "--set-of-marks", "--axtree", "--candidates", "--records", "--budget", 512, "--allow", "email",
               "--allow", "card", "--jobs", 2, "--data", data)
    assert done.exit_code == 0, done.output
    assert "3 demonstrations" in done.output
    folders = {path.name for path in (tmp_path / "out" / "demonstrations" / "rec-0").iterdir() if path.is_dir()}
    assert folders == {"pages", "bboxes", "screenshots", "marks"}
    assert list((tmp_path / "out" / "records").iterdir()) and list((tmp_path / "out" / "candidates").iterdir())
    assert run("check", tmp_path / "out").output == f"{tmp_path / 'out'}: whole\n"


def test_the_projects_split_rule_counts_without_another(tmp_path, data):
    database, _ = open_app(None, data, None)
    lead = Account("local", "lead", alone=True)
    with database.writing() as session:
        project_settings.change(session, lead, {"splits": {"test_web": 1, "near_duplicates": 0}})
    (tmp_path / "rule.json").write_text('{"valid": 1, "test_iid": 0, "near_duplicates": 0}')
    for options, split in (([], "test_web"), (["--splits", tmp_path / "rule.json"], "valid")):
        done = run("export", tmp_path / split, "--format", "weblinx", *options, "--data", data)
        assert done.exit_code == 0, done.output
        manifest = json.loads((tmp_path / split / "manifest.json").read_bytes())
        assert {each["split"] for each in manifest["demonstrations"]} == {split}
    with database.writing() as session:
        project_settings.change(session, lead, {"splits": None})
    database.close()


def test_what_is_not_selected_is_counted_by_reason(tmp_path, data):
    done = run("export", tmp_path / "out", "--format", "webdataset", "--since", "2000-01-01", "--intent", "click",
               "--data", data)
    assert done.exit_code == 0 and "not selected: turn: another intent" in done.output, done.output
    none = run("export", tmp_path / "none", "--format", "webdataset", "--reviewed-only", "--data", data)
    assert none.exit_code == 2 and "no demonstrations to export" in none.output
    wrong = run("export", tmp_path / "none", "--format", "webdataset", "--label", "hard", "--data", data)
    assert wrong.exit_code == 2 and "NAME=VALUE" in wrong.output


@pytest.mark.parametrize("options, reason", [
    (["--format", "mind2web", "--records"], "require the format weblinx"),
    (["--format", "weblinx", "--allow", "name"], "email, phone, card, iban, id, token"),
    (["--format", "weblinx", "--splits", "/nonexistent"], "cannot be read"),
    (["--format", "weblinx", "--candidates", "--scorer", "x"], "sentence-transformers"),
    (["--format", "parquet", "--scorer", "x"], "--scorer requires"),
    (["--format", "weblinx", "--grammar", "browsergym"], "requires the format chat or trajectories"),
    (["--format", "weblinx", "--endpoint-url", "http://x"], "requires an address")])
def test_wrong_options(tmp_path, data, options, reason):
    done = run("export", tmp_path / "out", *options, "--data", data)
    assert done.exit_code == 2 and reason in done.output and "Traceback" not in done.output
    assert list(tmp_path.iterdir()) == []


def test_every_grammar_can_be_asked_for(tmp_path, data):
    [option] = [each for each in main.commands["export"].params if each.name == "grammar"]
    assert [*option.type.choices] == [*GRAMMARS]
    done = run("export", tmp_path / "out", "--format", "chat", "--grammar", "computer-use", "--data", data)
    assert done.exit_code == 0 and "3 demonstrations" in done.output, done.output
    assert b"left_click" in (tmp_path / "out" / "train.jsonl").read_bytes()


def test_names_get_the_same_stand_ins_in_every_export(tmp_path):
    root, tasks = tmp_path, ("Write to Margaret Holloway", "Call HOLLOWAY, Margaret")
    for number, task in enumerate(tasks):
        recording = make_recording(root / "made", recording_id=f"rec-{number}", task=task)
        assert run("import", "--create", recording, "--data", root / "data").exit_code == 0
    found = []
    for name, jobs in (("first", 1), ("again", 2)):
        done = run("export", root / name, "--format", "mind2web", "--names", "--jobs", jobs, "--data", root / "data")
        assert done.exit_code == 0, done.output
        written = b"".join(path.read_bytes() for path in sorted((root / name).rglob("*.json")))
        assert b"holloway" not in written.lower()
        found.append(set(re.findall(rb"(?:Write to|Call) (\[PERSON [0-9a-f]{6}\])", written)))
    assert found[0] == found[1] and len(found[0]) == 1


def test_two_processes_write_the_same_bytes(tmp_path, data):
    def content(root):
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}

    for format in ("weblinx", "mind2web", "multimodal-mind2web", "webdataset", "parquet"):
        written = []
        for jobs in (1, 2):
            done = run("export", tmp_path / f"{format}-{jobs}", "--format", format, "--jobs", jobs, "--data", data)
            assert done.exit_code == 0, done.output
            written.append(content(tmp_path / f"{format}-{jobs}"))
        assert written[0] == written[1]


def test_a_preset_tells_what_is_not_told(tmp_path, data):
    database, _ = open_app(None, data, None)
    lead = Account("local", "lead", alone=True)
    options = {"format": "chat", "grammar": "weblinx", "intents": ["click"], "since": "2001-01-01",
               "labels": {}, "splits": {"valid": 1, "test_iid": 0, "near_duplicates": 0}}
    export_presets.save(database, lead, "Papers", options)
    done = run("export", tmp_path / "chat", "--preset", "Papers", "--data", data)
    assert done.exit_code == 0, done.output
    manifest = json.loads((tmp_path / "chat" / "manifest.json").read_text())
    assert manifest["layout"] == "chat" and {each["split"] for each in manifest["demonstrations"]} == {"valid"}
    assert manifest["selection"]["intents"] == ["click"]
    done = run("export", tmp_path / "own", "--preset", "Papers", "--grammar", "browsergym", "--data", data)
    written = ["".join(path.read_text() for path in (tmp_path / name).rglob("*.jsonl")) for name in ("chat", "own")]
    assert written[0] and written[0] != written[1] and "click(uid=" in written[0] and "click(uid=" not in written[1]
    assert "unknown preset 'None'" in run("export", tmp_path / "x", "--preset", "None", "--data", data).output
    assert "--format" in run("export", tmp_path / "x", "--data", data).output
