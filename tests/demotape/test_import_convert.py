"""`demotape import` of other tools' data, and `demotape convert`, as people call them."""

import hashlib
import json
import zipfile

import pytest
from click.testing import CliRunner

from curator_web import create_app, default_db_url
from curator_web.db.database import open_database
from curator_web.demonstrations.library.library import current
from demotape.cli import main
from pipeline.export import Source, export
from pipeline.importing.registry import IMPORTERS
from pipeline.verify import verify
from tests.support.samples.recording_fixtures import make_demonstration, write_recording


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    """Exports of three demonstrations."""
    folder = tmp_path_factory.mktemp("exports")
    sources = []
    for name in ("shop-1", "shop-2", "shop-3"):
        recording = write_recording(folder / name)
        sources.append(Source(make_demonstration(recording), recording))
    for format in ("parquet", "trajectories", "mind2web"):
        export(sources, folder / format, format)
    return folder


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def import_into(tmp_path, *paths):
    return run("import", "--create", *paths, "--data", tmp_path / "data")


def hashes(folder):
    return {path.relative_to(folder): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in folder.rglob("*") if path.is_file()}


def test_the_list_names_every_importer():
    lines = run("import", "--list").stdout.splitlines()
    assert {line.partition(":")[0] for line in lines} == {"recording", "package", *IMPORTERS}


def test_an_export_is_imported_and_shown(exports, tmp_path):
    done = import_into(tmp_path, exports / "parquet")
    assert done.exit_code == 0, done.output
    assert done.stdout.count("imported (shop-") == 3
    assert import_into(tmp_path, exports / "parquet").stdout.count("already imported (shop-") == 3
    database = open_database(default_db_url(tmp_path / "data"))
    turns = current(database, "shop-2")["turns"]
    database.close()
    client = create_app(data_dir=tmp_path / "data").test_client()
    acted = [turn for turn in turns if turn["type"] == "browser" and turn["element"]]
    for turn in acted[:3]:
        for view in ("screenshot", "dom", "targets"):
            assert client.get(f"/demonstrations/shop-2?turn={turn['id']}&view={view}").status_code == 200


def test_processing_an_import_again_keeps_its_turns(exports, tmp_path):
    run("import", "--create", exports / "parquet", "--data", tmp_path / "data")
    recording = tmp_path / "data" / "recordings" / "shop-1"
    before = json.loads((recording / "demonstration.json").read_text())
    (tmp_path / "chat.jsonl").write_text('{"timestamp": 1.2, "speaker": "instructor", "utterance": "More lamps"}\n')
    done = run("process", recording, "--chat", tmp_path / "chat.jsonl")
    assert done.exit_code == 0, done.output
    after = json.loads((recording / "demonstration.json").read_text())
    assert len(after["turns"]) == len(before["turns"]) + 1
    assert run("check", recording).exit_code == 0


@pytest.mark.parametrize("kind", ["folder", "text", "zip", "json", "nothing"])
def test_what_is_none_of_these_is_one_error_with_the_list(tmp_path, kind):
    path = tmp_path / "slack"
    if kind == "folder":
        path.mkdir()
        (path / "users.json").write_text("[]")
    elif kind == "text":
        path.write_text("hello")
    elif kind == "json":
        path.write_text('[{"a": 1}]')
    elif kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("users.json", "[]")
    done = import_into(tmp_path, path)
    assert done.exit_code == 2
    errors = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert len(errors) == 1 and "slack" in errors[0]
    if kind != "nothing":
        assert all(name in errors[0] for name in ("parquet", "playwright", "rrweb", "WebLINX", "--from"))
    assert not (tmp_path / "data").exists()


def test_an_importer_by_name(exports, tmp_path):
    done = run("import", "--from", "nothing", "--create", exports / "parquet", "--data", tmp_path / "data")
    assert done.exit_code == 2 and "--from nothing: unknown; choose one of weblinx, parquet" in done.stderr
    done = run("import", "--from", "webdataset", "--create", exports / "parquet", "--data", tmp_path / "data")
    assert done.exit_code == 2 and "contains no demonstrations (webdataset)" in done.stderr


def test_a_bad_path_does_not_stop_the_others(exports, tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    done = import_into(tmp_path, tmp_path / "notes.txt", exports / "parquet")
    assert done.exit_code == 2 and done.stdout.count("imported (shop-") == 3
    assert "notes.txt: not recognised" in done.stderr and "1 of 4 failed" in done.stderr


@pytest.mark.parametrize("format", ["weblinx", "atif", "chat", "webdataset"])
def test_convert(exports, tmp_path, format):
    done = run("convert", exports / "mind2web", "--format", format, tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "3 demonstrations" in done.stdout and "demonstrations whose source has no: chat 3, times 3" in done.stdout
    assert verify(tmp_path / "out") == []


def test_convert_counts_what_the_format_cannot_have(exports, tmp_path):
    done = run("convert", exports / "trajectories", "--format", "mind2web", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "6 × chat: Mind2Web has none" in done.stdout
    assert "9 × not imported: actions that the export had left out" in done.stdout


def test_the_bytes_do_not_depend_on_the_jobs(exports, tmp_path):
    for jobs in (1, 2):
        assert run("convert", exports / "parquet", "--format", "parquet", tmp_path / str(jobs), "--jobs",
                   jobs).exit_code == 0
    assert hashes(tmp_path / "1") == hashes(tmp_path / "2")


def test_a_broken_demonstration_is_left_out(exports, tmp_path):
    lines = (exports / "trajectories" / "train.jsonl").read_text().splitlines()
    broken = [line.replace('"action":"', '"action":"open(') if "shop-2-0003" in line else line for line in lines]
    (tmp_path / "train.jsonl").write_text("\n".join(broken) + "\n")
    done = run("convert", tmp_path / "train.jsonl", "--format", "weblinx", tmp_path / "out")
    assert done.exit_code == 1 and "failed: shop-2: " in done.stderr
    assert "1 of 3 demonstrations could not be read" in done.stderr
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert [entry["id"] for entry in manifest["demonstrations"]] == ["shop-3", "shop-1"]


def test_nothing_that_can_be_read_writes_nothing(tmp_path):
    (tmp_path / "net.jsonl").write_text('{"task_id": "t", "traj": [{"value": {"code": "open(1"}}]}\n')
    done = run("convert", tmp_path / "net.jsonl", "--format", "weblinx", tmp_path / "out")
    assert done.exit_code == 2 and not (tmp_path / "out").exists()
    assert done.stderr.startswith("error: ") and "is not code of pyautogui" in done.stderr


def test_recordings_are_converted_too(tmp_path):
    recording = write_recording(tmp_path / "shop-1")
    done = run("convert", recording.layout.root, "--format", "trajectories", tmp_path / "out")
    assert done.exit_code == 0 and (tmp_path / "out" / "train.jsonl").exists(), done.output
    assert recording.layout.demonstration.exists()


def test_a_folder_of_runs_is_imported_and_processed(tmp_path):
    for name in ("order/run-1", "order-2/run-1"):
        recording = write_recording(tmp_path / "runs" / name)
        (recording.layout.root / "demonstration.json").unlink(missing_ok=True)
    (tmp_path / "runs" / "results.jsonl").write_text("{}\n")
    done = import_into(tmp_path, tmp_path / "runs")
    assert done.exit_code == 0 and done.stdout.count(": imported (") == 1, done.output  # both have one id
    assert (tmp_path / "runs" / "order-2" / "run-1" / "demonstration.json").exists()
