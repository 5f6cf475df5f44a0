"""Database and storage held against each other by the commands, in a folder and in S3."""

import os
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner

from curator_web.db.database import open_database
from curator_web.db.models.job_models import Job
from curator_web.demonstrations.library.library import current, import_recording
from curator_web.jobs import upkeep
from curator_web.storage.opening import open_store
from demotape.cli import main
from recorder.reader import Recording
from tests.support.curator.curator_fixtures import make_recording
from tests.support.services.s3_services import BUCKET, KEYS, client, objects


@pytest.fixture(params=["folder", "s3"])
def place(request, tmp_path, monkeypatch):
    """Options of the commands, the database and the store; in S3 what is written there is an hour old at most."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in (("ACCESS_KEY_ID", KEYS[0]), ("SECRET_ACCESS_KEY", KEYS[1]), ("DEFAULT_REGION", "us-east-1")):
        monkeypatch.setenv(f"AWS_{name}", value)
    data, where = tmp_path / "data", {}
    if request.param == "s3":
        where = {"blobs": f"s3://{BUCKET}/{tmp_path.name}", "endpoint_url": request.getfixturevalue("motos")}
    store = open_store(data, **where)
    db = open_database(f"sqlite:///{data / 'demotape.db'}")
    options = ["--data", str(data)] + [part for name, value in where.items()
                                       for part in (f"--{name.replace('_', '-')}", value)]
    for name in ("rec-1", "rec-2"):
        import_recording(db, store, make_recording(tmp_path, recording_id=name))
    yield options, db, store, where
    db.close()


def run(*arguments) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["admin", *arguments])
    return done.exit_code, done.output


def take_away(store, where: dict, name: str) -> None:
    if where:
        prefix = f"{where['blobs'].rpartition('/')[2]}/"
        for each in objects(where["endpoint_url"], f"{prefix}{name}"):
            client(where["endpoint_url"]).delete_object(Bucket=BUCKET, Key=f"{prefix}{name}{each}")
        shutil.rmtree(store.data_dir / "cache", ignore_errors=True)
        return
    path = store.data_dir / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_what_is_missing_and_what_is_unused_is_told(place, tmp_path, monkeypatch):
    options, db, store, where = place
    assert run("check", *options) == (0, "")
    page = next(turn["state"]["dom"] for turn in current(db, "rec-2")["turns"]
                if turn["type"] == "browser" and turn["state"])
    take_away(store, where, "recordings/rec-1")
    take_away(store, where, f"recordings/rec-2/blobs/{page[:2]}/{page}")
    store.add(Recording(make_recording(tmp_path, recording_id="rec-3")))
    assert "rec-3" not in run("check", *options)[1]  # it may be on its way into the database
    monkeypatch.setattr(upkeep, "AT_REST", timedelta(seconds=-2))
    code, told = run("check", *options)
    assert code == 1 and "2 recordings do not match the database" in told
    assert [line.partition(" (")[0] for line in told.splitlines()[:3]] == [
        "recording missing: rec-1, of demonstration rec-1", told.splitlines()[1],
        "recording without a demonstration: rec-3"]
    assert told.splitlines()[1].startswith("blobs missing: rec-2, 1 of ")
    code, told = run("clean", *options, "--recordings", "--dry-run")
    assert code == 0 and "recording without a demonstration: rec-3" in told and "1 would be deleted" in told
    assert run("clean", *options)[1].startswith("0 deleted") and store.holds("rec-3")
    assert "1 deleted" in run("clean", *options, "--recordings")[1]
    assert not open_store(store.data_dir, **where).holds("rec-3") and store.holds("rec-2")


def test_files_that_nothing_refers_to_go_when_they_are_at_rest(place, monkeypatch, tmp_path):
    options, db, store, where = place
    now = datetime.now(UTC)
    with db.writing() as session:
        for number, days in ((1, 40), (2, 3)):
            session.add(Job(id=number, kind="export", who="lea", state="done", arguments={"format": "chat"}, note="",
                            result={"size": 3}, made_at=now, ended_at=now - timedelta(days=days)))
        session.add(Job(id=3, kind="import", who="lea", state="failed", note="", result={}, made_at=now,
                        arguments={"file": "uploads/awaited.zip", "name": "p.zip", "who": "lea"}))
    for name in ("exports/1.zip", "exports/2.zip", "exports/77.zip", "uploads/awaited.zip", "uploads/lost.zip"):
        (tmp_path / "file").write_bytes(b"PK ")
        (store.data_dir / name).parent.mkdir(exist_ok=True)
        store.files.save(name, tmp_path / "file")
    store.files.put("uploads/pieces.zip", 0, 0, b"PK ")
    assert "0 would be deleted" in run("clean", *options, "--dry-run")[1]  # it may belong to what is just being made
    monkeypatch.setattr(upkeep, "AT_REST", timedelta(seconds=-2))  # S3 tells whole seconds
    assert {line.partition(" (")[0] for line in run("clean", *options, "--exports", "30")[1].splitlines()[:-1]} == {
        "old export: exports/1.zip", "export without a job: exports/77.zip", "package without a job: uploads/lost.zip",
        f"package without a job: uploads/pieces.zip{'/000000' if where else ''}"}
    left = {name for folder in ("exports", "uploads") for name, _, _ in store.files.listed(folder)}
    assert left == {"exports/2.zip", "uploads/awaited.zip"}
    with db.reading() as session:
        assert session.get(Job, 1).result == {"size": 3, "removed": True}
