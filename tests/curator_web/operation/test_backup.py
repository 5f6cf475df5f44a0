"""Backups and what is restored of them: from each kind of database and storage into each; broken off, gone on with."""

import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import select, text

from curator_web import create_app
from curator_web.db import tables
from curator_web.db.database import migrate, open_database
from curator_web.db.models.core import AuditLine, Base, Comment, Upload, UploadedChunk
from curator_web.db.models.job_models import Job
from curator_web.demonstrations.library.library import current, import_recording
from curator_web.errors import DemotapeError, InputError
from curator_web.operation import backing_up, restoring
from curator_web.operation.backing_up import back_up
from curator_web.operation.restoring import restore
from curator_web.storage.opening import open_store
from curator_web.storage.session_key import session_key
from demotape.cli import main
from tests.support.checkout import ROOT
from tests.support.curator import old_databases
from tests.support.curator.curator_fixtures import filmed_recording, make_recording
from tests.support.curator.team_fixtures import add_people, signed_in
from tests.support.services.s3_services import BUCKET

pytestmark = pytest.mark.postgresql

NOW = datetime(2025, 5, 6, 7, 8, 9, 123456, UTC)
NEWEST = "0031"


@pytest.fixture
def place(tmp_path, request):
    """A storage of a kind, and the options of commands that name it."""
    def make(kind: str, name: str):
        where = {}
        if kind == "s3":
            where = {"blobs": f"s3://{BUCKET}/{tmp_path.name}-{name}", "endpoint_url":
                     request.getfixturevalue("motos")}
        store = open_store(tmp_path / name, **where)
        return store, ["--data", str(tmp_path / name)] + [
            part for name, value in where.items() for part in (f"--{name.replace('_', '-')}", value)]
    return make


def new_url(kind: str, folder: Path, request) -> str:
    return f"sqlite:///{folder}.db" if kind == "sqlite" else request.getfixturevalue("postgresql").empty()


def run(*arguments) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["admin", *map(str, arguments)])
    return done.exit_code, done.output


def rows(db) -> dict[str, list[bytes]]:
    with db.snapshot() as connection:
        return {each["name"]: list(tables.lines_of(connection, each)) for each in tables.tables_of(connection)
                if each["name"] not in ("audit", "settings", "uploads", "uploaded_chunks", "jobs")}


def in_use(url: str, store, folder: Path):
    """The database of an app in which something of all that a backup has to do with is there."""
    app = create_app(url, store.data_dir, blobs=getattr(store, "_objects", None) and store._objects.address,
                     endpoint_url=getattr(store, "_objects", None) and store._objects._given[1])
    add_people(app)
    db = app.extensions["demotape"].db
    for name in ("rec-1", "rec-2"):
        import_recording(db, store, make_recording(folder, recording_id=name))
    import_recording(db, store, filmed_recording(folder))
    with db.writing() as session:
        session.add(Comment(demonstration_id="rec-1", kind="comment", text="Ünsicher? \N{GRINNING FACE}", who="val",
                            made_at=NOW))
        session.add(Job(kind="import", who="lea", state="queued", note="", result={}, made_at=NOW, arguments={
            "file": "uploads/pack-1.zip", "name": "recording pack-1", "who": "lea", "pieces": 2}))
        session.add(Upload(id="half", who="lea", name="half", size=7, chunk_size=5, digests=["a" * 64, "b" * 64],
                           state="receiving", begun_at=NOW, touched_at=NOW))
        session.flush()
        session.add(UploadedChunk(upload_id="half", number=0))
    for number, piece in enumerate((b"first", b"2nd")):
        store.files.put("uploads/pack-1.zip", number, 5 * number, piece)
    store.files.put("uploads/half.zip", 0, 0, b"first")
    (folder / "1.zip").write_bytes(b"PK an export")
    (store.data_dir / "exports").mkdir(exist_ok=True)
    store.files.save("exports/1.zip", folder / "1.zip")
    return app, db


@pytest.mark.parametrize("source, target", [
    (("sqlite", "folder"), ("postgresql", "s3")), (("postgresql", "s3"), ("sqlite", "folder")),
    (("postgresql", "folder"), ("postgresql", "folder"))])
def test_what_is_restored_is_what_was_backed_up(source, target, tmp_path, place, request):
    store, options = place(source[1], "before")
    app, db = in_use(new_url(source[0], tmp_path / "one", request), store, tmp_path)
    cookie = signed_in(app, "ann").get_cookie("demotape").value
    url = db.engine.url.render_as_string(hide_password=False)
    folder = tmp_path / "backup"
    assert run("backup", folder, "--db", url, *options)[0] == 0
    assert folder.stat().st_mode & 0o777 == 0o700
    other, options = place(target[1], "after")
    new = new_url(target[0], tmp_path / "other", request)
    code, told = run("restore", folder, "--db", new, *options)
    assert code == 0 and ", 0 already present" in told, told
    assert run("check", "--db", new, *options) == (0, "")
    restored = open_database(new)
    assert rows(restored) == rows(db)
    assert session_key(restored, other) == session_key(db, store)
    assert current(restored, "rec-2") == current(db, "rec-2")
    assert other.has_external_video("filmed") == store.has_external_video("filmed")
    assert b"".join(other.files.read("exports/1.zip")) == b"PK an export"
    again = create_app(new, other.data_dir, blobs=getattr(other, "_objects", None) and other._objects.address,
                       endpoint_url=getattr(other, "_objects", None) and other._objects._given[1])
    client = again.test_client()
    client.set_cookie("demotape", cookie)
    assert "rec-1" in client.get("/?q=anchor").text  # still signed in; what the search goes through is there
    with restored.writing() as session:
        session.add(made := Job(kind="export", who="lea", state="done", note="", result={}, made_at=NOW, arguments={}))
        session.flush()
        waiting = session.scalars(select(Job).where(Job.kind == "import")).one()
        assert made.id == waiting.id + 1  # the count of ids goes on
        assert not session.scalars(select(Upload)).all() and not session.scalars(select(UploadedChunk)).all()
        assert session.scalars(select(AuditLine.what).order_by(AuditLine.id.desc())).first() == "backup restored"
    with other.files.assembled("uploads/pack-1.zip", waiting.arguments.get("pieces", 0)) as path:
        assert path.read_bytes() == b"first2nd"
    for each in (db, restored, again.extensions["demotape"].db):
        each.close()


def test_a_second_backup_copies_only_what_is_new(tmp_path, place, request):
    store, options = place("folder", "data")
    app, db = in_use(new_url("sqlite", tmp_path / "one", request), store, tmp_path)
    folder = tmp_path / "backup"
    (store.recordings / "lost+found").mkdir()  # of a file system, and somebody's
    (store.recordings / "rec-1" / "my notes.txt").write_text("mine")
    (store.recordings / "rec-1" / "link").symlink_to(tmp_path)
    first = back_up(db, store, folder)
    assert not (folder / "recordings/rec-1/my notes.txt").exists() and not (folder / "recordings/rec-1/link").exists()
    count = first.counts.copied
    assert first.counts.there == 0 and count == first.files
    import_recording(db, store, make_recording(tmp_path, recording_id="rec-3"))
    store.remove("rec-2")
    video = store.path("filmed") / "external-video"
    video.write_bytes(video.read_bytes()[::-1])  # of the same size
    os.utime(video, (1, 1))
    second = back_up(db, store, folder)
    files_of_one = sum(1 for _ in store.files.listed("recordings/rec-3"))
    assert second.counts.copied == files_of_one + 2  # the package that waits, and the video
    assert second.lacking == ["rec-2"]
    assert (folder / "recordings/rec-2/recording.json").exists() and len(list(folder.glob("state-*"))) == 1
    assert (folder / "recordings/filmed/external-video").read_bytes() == video.read_bytes()
    assert back_up(db, store, folder, prune=True).lacking and (folder / "recordings/rec-2").exists()
    code, told = run("backup", folder, "--db", db.engine.url, *options)
    assert code == 1 and "recording missing: rec-2" in told
    import_recording(db, store, make_recording(tmp_path / "again", recording_id="rec-2"))
    store.files.remove("exports/1.zip")
    assert not back_up(db, store, folder, prune=True).lacking and not (folder / "exports/1.zip").exists()
    db.close()


def test_only_what_is_empty_is_restored_into_and_only_what_is_whole(tmp_path, place, request):
    store, _ = place("folder", "data")
    app, db = in_use(new_url("sqlite", tmp_path / "one", request), store, tmp_path)
    folder, url = tmp_path / "backup", f"sqlite:///{tmp_path}/new.db"
    back_up(db, store, folder)
    other, options = place("folder", "other")
    with pytest.raises(InputError, match=r"the database is not empty \(table "):
        restore(folder, str(db.engine.url), other)
    with pytest.raises(InputError, match="the storage is not empty"):
        restore(folder, url, store)
    with open_database(f"sqlite:///{tmp_path}/theirs.db", lambda connection: connection.execute(
            text("CREATE TABLE cats (id INTEGER)"))).engine.connect():
        pass
    with pytest.raises(InputError, match="that do not belong to demotape"):
        restore(folder, f"sqlite:///{tmp_path}/theirs.db", other)
    with pytest.raises(InputError, match="is neither empty nor a backup"):
        back_up(db, store, tmp_path)
    blob = next(iter((folder / "recordings/rec-1/blobs").glob("*/*")))
    blob.write_bytes(bytes(len(blob.read_bytes())))
    with pytest.raises(DemotapeError, match=rf"{blob}: is damaged"):
        restore(folder, url, other)
    assert not (other.data_dir / blob.relative_to(folder)).exists()
    assert run("check", "--db", url, *options)[0] == 0  # nothing is in the database yet, so nothing is missing
    shutil.rmtree(other.data_dir)
    table = next(iter(folder.glob("state-*/tables/edits*")))
    table.write_bytes(table.read_bytes()[:-1])
    with pytest.raises(InputError, match="is missing or damaged; use another backup"):
        restore(folder, url, open_store(tmp_path / "third"))
    (folder / "backup.json").unlink()
    with pytest.raises(InputError, match=r"has no backup\.json"):
        restore(folder, url, open_store(tmp_path / "third"))
    db.close()


KILLED = """
import os, signal, sys
from pathlib import Path
from curator_web.db.database import open_database
from curator_web.operation.backing_up import back_up
from curator_web.operation.restoring import restore
from curator_web.storage.opening import open_store
what, at, folder, url, data = sys.argv[1:]
def progress(done, total, name):
    if name == at:
        os.kill(os.getpid(), signal.SIGKILL)
if what == "backup":
    back_up(open_database(url), open_store(data), Path(folder), progress=progress)
else:
    restore(Path(folder), url, open_store(data), progress)
"""


def killed(what: str, at: str, *arguments) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, what, at, *map(str, arguments)], cwd=ROOT, check=False)
    assert done.returncode == -9


def test_a_killed_backup_and_a_killed_restoring_go_on(tmp_path, place, request):
    store, _ = place("folder", "data")
    app, db = in_use(new_url("sqlite", tmp_path / "one", request), store, tmp_path)
    folder, url = tmp_path / "backup", f"sqlite:///{tmp_path}/new.db"
    killed("backup", "recordings/rec-2", folder, db.engine.url, store.data_dir)
    with pytest.raises(InputError, match=r"has no backup\.json"):
        restore(folder, url, open_store(tmp_path / "other"))
    assert back_up(db, store, folder).counts.there > 5
    killed("restore", "recordings/rec-2", folder, url, tmp_path / "other")
    with pytest.raises(InputError, match="the storage is not empty"):
        restore(folder, url, store)
    other = folder.with_name("another")
    back_up(db, store, other)
    with pytest.raises(InputError, match="of another restored backup"):
        restore(other, url, open_store(tmp_path / "other"))
    counts = restore(folder, url, open_store(tmp_path / "other"))
    assert counts.copied > 5 and counts.there > 5
    assert run("check", "--db", url, "--data", tmp_path / "other") == (0, "")
    with pytest.raises(InputError, match="not empty"):
        restore(folder, url, open_store(tmp_path / "other"))
    db.close()


def test_a_restoring_that_was_broken_off_after_its_rows_were_in_ends(tmp_path, place, request, monkeypatch):
    store, _ = place("folder", "data")
    app, db = in_use(new_url("sqlite", tmp_path / "one", request), store, tmp_path)
    folder, url, other = tmp_path / "backup", f"sqlite:///{tmp_path}/new.db", open_store(tmp_path / "other")
    back_up(db, store, folder)
    monkeypatch.setattr(other.files, "remove", lambda name: (_ for _ in ()).throw(OSError("broken off")))
    with pytest.raises(OSError, match="broken off"):
        restore(folder, url, other)
    restore(folder, url, open_store(tmp_path / "other"))
    assert not (tmp_path / "other" / restoring.MARK).exists()
    db.close()


def test_a_backup_is_of_one_moment_while_people_work(tmp_path, place, request):
    store, _ = place("folder", "data")
    app, db = in_use(new_url("sqlite", tmp_path / "one", request), store, tmp_path)
    folder, url = tmp_path / "backup", f"sqlite:///{tmp_path}/new.db"

    def meanwhile(done, total, name):
        if name == "recordings/rec-1":
            import_recording(db, store, make_recording(tmp_path, recording_id="rec-9"))
            store.files.remove("uploads/pack-1.zip")
    back_up(db, store, folder, progress=meanwhile)
    restore(folder, url, other := open_store(tmp_path / "other"))
    restored = open_database(url)
    with pytest.raises(InputError):
        current(restored, "rec-9")
    assert other.files.path("uploads/pack-1.zip")
    db.close()
    restored.close()


def test_a_package_that_was_imported_before_it_was_copied_has_the_rows_read_again(tmp_path, place, request,
                                                                                 monkeypatch):
    store, _ = place("folder", "data")
    app, db = in_use(new_url("sqlite", tmp_path / "one", request), store, tmp_path)
    read = backing_up._read_rows

    def then_imported(*given):
        found = read(*given)
        store.files.remove("uploads/pack-1.zip")
        with db.writing() as session:
            session.scalars(select(Job)).one().state = "done"
        return found
    monkeypatch.setattr(backing_up, "_read_rows", then_imported)
    back_up(db, store, tmp_path / "backup")
    restore(tmp_path / "backup", f"sqlite:///{tmp_path}/new.db", open_store(tmp_path / "other"))
    restored = open_database(f"sqlite:///{tmp_path}/new.db")
    with restored.reading() as session:
        assert session.scalars(select(Job)).one().state == "done"
    db.close()
    restored.close()


@pytest.mark.parametrize("revision", ["0011", NEWEST])
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_rows_of_every_table_and_of_older_revisions_are_restored(revision, kind, tmp_path, request, monkeypatch):
    def old(connection):
        migrate(connection, revision)
        old_databases.fill(connection, revision)
    db = open_database(f"sqlite:///{tmp_path}/old.db", old)
    folder, new = tmp_path / "backup", new_url(kind, tmp_path / "new", request)
    monkeypatch.setattr(backing_up, "session_key", lambda db, store: b"key")
    monkeypatch.setattr(backing_up.upload_service, "packages_of_jobs", lambda session: [])
    store = open_store(tmp_path / "data")
    report = back_up(db, store, folder)
    assert report.lacking  # the recording's files are not there
    restore(folder, new, open_store(tmp_path / "other"))
    restored = open_database(new)
    with restored.snapshot() as connection:
        assert {each["name"] for each in tables.tables_of(connection)} == Base.metadata.tables.keys()
        assert tables.revision_of(connection) == NEWEST
    assert current(restored, old_databases.ID)["id"] == old_databases.ID
    if revision == NEWEST:
        assert rows(restored) == rows(db)
    db.close()
    restored.close()
