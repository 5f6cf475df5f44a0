"""What uploads may not do: send what was not planned, have more than is allowed unfinished, rest for ever, fill the
disk."""

import errno
import hashlib
import io
import shutil
import threading
from collections import namedtuple
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from sqlalchemy import select, update

from curator_web import create_app
from curator_web.db.models.core import AuditLine, Upload, UploadedChunk
from curator_web.db.models.job_models import Job
from curator_web.demonstrations.library.library import import_recording
from curator_web.jobs import upload_service
from curator_web.jobs.queue import Jobs
from curator_web.users import add_user
from demotape.importing import import_package
from schemas import DiskFull, InputError, limits
from tests.support.curator.curator_fixtures import make_recording
from tests.support.services.s3_services import BUCKET, KEYS, objects

DISK = namedtuple("DISK", "total used free")
CONTENT = [b"abcd", b"efgh", b"ij"]


@pytest.fixture
def app(tmp_path, db_url):
    app = create_app(db_url, tmp_path / "data", import_package=import_package)
    yield app
    app.extensions["demotape"].jobs.close()
    app.extensions["demotape"].db.close()


@pytest.fixture
def headers(app):
    return {"Authorization": f"Bearer {add_user(app.extensions['demotape'].db, 'ada', 'annotator')}"}


class Unread(io.RawIOBase):
    """A body that is not to be read."""

    def readable(self) -> bool:
        return True

    def readinto(self, _buffer) -> int:
        raise AssertionError("the body was read")


def plan(app, headers, name: str = "pack-1", size: int = 10, chunk_size: int = 4):
    digests = [hashlib.sha256(each).hexdigest() for each in CONTENT]
    if size != 10:
        digests = ["0" * 64] * -(-size // chunk_size)
    return app.test_client().put(f"/api/uploads/{name}", headers=headers,
                                 json={"size": size, "chunk_size": chunk_size, "chunks": digests})


def put(app, headers, number: int, content: bytes):
    return app.test_client().put(f"/api/uploads/pack-1/chunks/{number}", headers=headers, data=content)


def unread(app, address: str, length: int | None, **headers: str):
    environ = {"wsgi.input": io.BufferedReader(Unread()), "CONTENT_LENGTH": "" if length is None else str(length),
               "CONTENT_TYPE": "application/json"}
    if length is None:
        environ |= {"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": True}
    return app.test_client().put(address, headers=headers, environ_overrides=environ)


def test_the_token_is_looked_at_before_the_body(app):
    for address in ("/api/uploads/pack-1", "/api/uploads/pack-1/chunks/0"):
        assert unread(app, address, 4).status_code == 401
        assert unread(app, address, 4, Authorization="Bearer wrong").status_code == 401


@pytest.mark.parametrize("length", [0, 3, 5, limits.CHUNK, 1 << 40, None])
def test_a_chunk_of_another_length_is_refused_unread(app, headers, length):
    plan(app, headers)
    answer = unread(app, "/api/uploads/pack-1/chunks/0", length, **headers)
    assert answer.status_code == 400 and "but 4 were declared" in answer.json["message"]


def test_every_chunk_has_its_own_length(app, headers):
    plan(app, headers)
    assert put(app, headers, 2, b"ijkl").status_code == 400
    assert [put(app, headers, number, each).status_code for number, each in enumerate(CONTENT)] == [204] * 3
    kept = app.extensions["demotape"].store.files.path("uploads/pack-1.zip")
    assert kept.read_bytes() == b"".join(CONTENT)
    assert unread(app, "/api/uploads/pack-1/chunks/0", 4, **headers).status_code == 204  # it is there already


def test_a_user_has_only_so_much_unfinished(app, headers):
    chunk, size = limits.CHUNK, limits.UPLOAD
    for number in range(limits.UNFINISHED_BYTES // size):
        assert plan(app, headers, f"big-{number}", size, chunk).status_code == 200
    for name, more in (("one-more", 1), ("big-0", size)):
        answer = plan(app, headers, name, more, chunk)
        assert answer.status_code == (400 if name == "one-more" else 200)
    assert "16 GiB are unfinished" in plan(app, headers, "one-more", 1, chunk).json["message"]
    other = {"Authorization": f"Bearer {add_user(app.extensions['demotape'].db, 'bob', 'annotator')}"}
    assert plan(app, other, "other", 1, chunk).status_code == 200


def test_a_user_has_only_so_many_unfinished(app, headers):
    for number in range(limits.UNFINISHED):
        assert plan(app, headers, f"small-{number}").status_code == 200
    assert "are unfinished" in plan(app, headers, "one-more").json["message"]
    assert plan(app, headers, "small-0").status_code == 200  # going on is no other one


def test_an_upload_that_rests_is_given_up(app, headers):
    services = app.extensions["demotape"]
    plan(app, headers)
    put(app, headers, 0, CONTENT[0])
    plan(app, headers, "pack-2")
    with services.db.writing() as session:
        session.execute(update(Upload).where(Upload.id == "pack-1")
                        .values(touched_at=datetime.now(UTC) - timedelta(days=8)))
    services.uploads.give_up_old()
    assert app.test_client().get("/api/uploads/pack-1", headers=headers).status_code == 404
    assert app.test_client().get("/api/uploads/pack-2", headers=headers).status_code == 200
    assert services.store.files.path("uploads/pack-1.zip") is None
    with services.db.reading() as session:
        assert session.scalars(select(UploadedChunk)).all() == []
        assert session.scalars(select(AuditLine.what)).all()[-1] == "upload given up"
    assert plan(app, headers).status_code == 200 and put(app, headers, 0, CONTENT[0]).status_code == 204


def test_what_comes_while_an_upload_is_given_up_leaves_nothing(app, headers, monkeypatch):
    services = app.extensions["demotape"]
    plan(app, headers)
    kept = services.store.files.put

    def given_up_meanwhile(*given):
        kept(*given)
        with services.db.writing() as session:
            session.execute(update(Upload).values(touched_at=datetime.now(UTC) - timedelta(days=8)))
        services.uploads.give_up_old()
        kept(*given)
    monkeypatch.setattr(services.store.files, "put", given_up_meanwhile)
    assert put(app, headers, 0, CONTENT[0]).status_code == 404
    assert services.store.files.path("uploads/pack-1.zip") is None


def test_a_package_whose_job_failed_does_not_stay(app, headers):
    services = app.extensions["demotape"]
    (services.store.data_dir / "uploads").mkdir(exist_ok=True)
    package = services.store.data_dir / "uploads" / "dropped-1.zip"
    package.write_bytes(b"x")
    with services.db.writing() as session:
        for ended in (timedelta(days=8), timedelta(0)):
            session.add(Job(kind="import", who="ada", state="failed", arguments={"file": "uploads/dropped-1.zip"},
                            note="stopped", result={}, made_at=datetime.now(UTC), ended_at=datetime.now(UTC) - ended))
    services.uploads.give_up_old()
    assert not package.exists()
    with services.db.reading() as session:
        assert [job.result for job in session.scalars(select(Job).order_by(Job.id))] == [{"removed": True}, {}]


def test_chunks_in_s3_go_too(motos, tmp_path, monkeypatch):
    for name, value in (("ACCESS_KEY_ID", KEYS[0]), ("SECRET_ACCESS_KEY", KEYS[1]), ("DEFAULT_REGION", "us-east-1")):
        monkeypatch.setenv(f"AWS_{name}", value)
    app = create_app(None, tmp_path / "data", blobs=f"s3://{BUCKET}/given-up", endpoint_url=motos,
                     import_package=import_package, upload_days=1e-9)
    services = app.extensions["demotape"]
    headers = {"Authorization": f"Bearer {add_user(services.db, 'ada', 'annotator')}"}
    plan(app, headers)
    assert put(app, headers, 1, CONTENT[1] + b"more").status_code == 400
    assert put(app, headers, 1, CONTENT[1]).status_code == 204 and objects(motos, "given-up/uploads/")
    services.uploads.give_up_old()
    assert not objects(motos, "given-up/uploads/")
    services.db.close()


def test_some_of_the_disk_stays_free(app, headers, monkeypatch):
    def full(free: int):
        monkeypatch.setattr(shutil, "disk_usage", lambda _: DISK(1 << 40, 0, free))
    full(limits.FREE + 9)
    answer = plan(app, headers)
    assert answer.status_code == 507 and "less than 10 bytes free" in answer.json["message"]
    full(limits.FREE + 10)
    assert plan(app, headers).status_code == 200
    full(limits.FREE + 3)
    assert put(app, headers, 0, CONTENT[0]).status_code == 507
    page = app.test_client().post("/import", headers=headers, data={"package": (io.BytesIO(b"PK\x03\x04"), "a.zip")})
    assert page.status_code == 507 and "The server&#39;s disk has less than" in page.text
    full(1 << 40)
    assert put(app, headers, 0, CONTENT[0]).status_code == 204


@pytest.mark.parametrize("error", [InputError("chat: nothing is being recorded"), DiskFull("the disk is full"),
                                   OSError(errno.ENOSPC, "No space left on device")])
def test_a_package_that_meets_a_full_disk_is_taken_when_there_is_room(app, headers, monkeypatch, tmp_path, error):
    """Whatever fails then, and whatever that says."""
    imported, services = threading.Event(), app.extensions["demotape"]
    recording = make_recording(tmp_path)

    def full(free: int):
        monkeypatch.setattr(shutil, "disk_usage", lambda _: DISK(1 << 40, 0, free))

    def import_it(path, *_):
        if not imported.is_set():
            full(0)
            raise error
        assert path.read_bytes() == b"".join(CONTENT)
        return import_recording(services.db, services.store, recording)

    jobs = Jobs(services.db, {"import": partial(upload_service.run, services.db, import_it, services.store)},
                require_room=lambda: services.store.files.require_room(0))
    services.jobs._kinds = {}  # left to those
    assert plan(app, headers).status_code == 200
    for number, content in enumerate(CONTENT):
        assert put(app, headers, number, content).status_code == 204
    assert app.test_client().post("/api/uploads/pack-1/finish", headers=headers).status_code == 202
    jobs._do(jobs._claim())
    job, = jobs.latest("import")
    assert (job.state, job.waits_for) == ("queued", "disk")
    full(1 << 40)
    imported.set()
    with services.db.writing() as session:
        session.get(Job, job.id).next_at = None
    jobs._do(jobs._claim())
    assert jobs.get(job.id).result["demonstration"] == "rec-1"
