"""Sending packages to the review app: signed in by a token, in verified chunks, each byte stored once."""

import hashlib
import threading
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner
from sqlalchemy import update

from curator_web import create_app, default_db_url
from curator_web.db.database import open_database
from curator_web.db.models.job_models import Job
from curator_web.demonstrations.library.library import current
from curator_web.jobs import upload_service
from curator_web.users import add_user, tokens
from demotape.cli import main
from demotape.importing import import_package
from schemas import InputError, limits
from tests.support.samples.packages import journal, pack
from tests.support.waiting import wait_until

CHUNK = 300


@pytest.fixture
def app(tmp_path, db_url):
    app = create_app(db_url, tmp_path / "data", import_package=import_package)
    yield app
    app.extensions["demotape"].jobs.close()
    app.extensions["demotape"].db.close()


class Sender:
    """Sends one package as the extension does."""

    def __init__(self, app, who: str, package: bytes, upload: str = "pack-1"):
        token = add_user(app.extensions["demotape"].db, who, "annotator")
        self.client = app.test_client()
        self.headers = {"Authorization": f"Bearer {token}"}
        self.url = f"/api/uploads/{upload}"
        self.chunks = [package[at:at + CHUNK] for at in range(0, len(package), CHUNK)]
        self.size = len(package)

    def plan(self, **changes):
        digests = [hashlib.sha256(chunk).hexdigest() for chunk in self.chunks]
        return self.client.put(self.url, headers=self.headers,
                               json={"size": self.size, "chunk_size": CHUNK, "chunks": digests} | changes)

    def put(self, number: int, content: bytes | None = None):
        return self.client.put(f"{self.url}/chunks/{number}", headers=self.headers,
                               data=self.chunks[number] if content is None else content)

    def finish(self):
        return self.client.post(f"{self.url}/finish", headers=self.headers)

    def state(self) -> dict:
        return self.client.get(self.url, headers=self.headers).json

    def done(self) -> dict:
        """The state once it is imported or refused."""
        wait_until(lambda: self.state()["state"] != "processing", what="the end of the import")
        return self.state()

    def send(self) -> dict:
        assert self.plan().status_code == 200
        for number in range(len(self.chunks)):
            assert self.put(number).status_code == 204
        assert self.finish().status_code == 202
        return self.done()


@pytest.fixture
def package(tmp_path) -> bytes:
    return pack(tmp_path / "p.zip").read_bytes()


def test_a_package_is_sent_and_becomes_a_demonstration(app, package, tmp_path):
    sender = Sender(app, "ada", package)
    assert sender.client.get("/api/account", headers=sender.headers).json == {
        "name": "ada", "role": "annotator",
        "projects": [{"id": "main", "name": "Demonstrations", "role": "annotator"}]}
    assert sender.send() == {"id": "pack-1", "state": "imported", "received": list(range(len(sender.chunks))),
                             "demonstration": "pack-1", "error": None, "notice": None}
    turns = current(app.extensions["demotape"].db, "pack-1")["turns"]
    assert [turn.get("intent") for turn in turns] == ["load", "click", None]
    assert not list((tmp_path / "data" / "uploads").iterdir())  # nothing is kept twice


def test_what_arrived_is_told_and_not_sent_again(app, package, tmp_path):
    sender = Sender(app, "ada", package)
    sender.plan()
    for number in (2, 0):
        sender.put(number)
    assert sender.plan().json["received"] == [0, 2]
    stored = (tmp_path / "data" / "uploads" / "pack-1.zip").stat()
    assert sender.put(2).status_code == 204
    assert (tmp_path / "data" / "uploads" / "pack-1.zip").stat().st_mtime_ns == stored.st_mtime_ns
    assert sender.finish().status_code == 409
    for number in range(len(sender.chunks)):
        sender.put(number)
    assert sender.put(1).status_code == sender.put(1).status_code == 204
    sender.finish()
    sender.finish()
    assert sender.done()["state"] == "imported"
    assert sender.plan().json["state"] == "imported" and sender.put(0).status_code == 204
    assert not list((tmp_path / "data" / "uploads").iterdir())


def test_chunks_may_arrive_at_once(app, package):
    sender = Sender(app, "ada", package)
    sender.plan()
    threads = [threading.Thread(target=lambda number=number: app.test_client().put(
        f"{sender.url}/chunks/{number}", headers=sender.headers, data=sender.chunks[number]))
        for number in range(len(sender.chunks)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sender.finish()
    assert sender.done()["state"] == "imported"


def test_a_damaged_chunk_is_refused(app, package):
    sender = Sender(app, "ada", package)
    sender.plan()
    answer = sender.put(0, b"x" * CHUNK)
    assert answer.status_code == 400 and "SHA-256" in answer.json["message"]
    assert sender.put(999, b"x").status_code == 404
    assert sender.state()["received"] == []


def test_another_plan_for_the_same_recording_begins_anew(app, package):
    sender = Sender(app, "ada", package)
    sender.plan()
    sender.put(0)
    sender.chunks = [package[at:at + 2 * CHUNK] for at in range(0, len(package), 2 * CHUNK)]
    assert sender.plan(chunk_size=2 * CHUNK).json["received"] == []
    for number in range(len(sender.chunks)):
        assert sender.put(number).status_code == 204
    sender.finish()
    assert sender.done()["state"] == "imported"


def test_a_bad_package_is_refused_with_its_reason_and_may_be_sent_again(app, package, tmp_path):
    bad = Sender(app, "ada", pack(tmp_path / "bad.zip", [line | {"more": 1} for line in journal()]).read_bytes())
    state = bad.send()
    assert state["state"] == "failed" and "field more" in state["error"] and str(tmp_path) not in state["error"]
    bad.chunks, bad.size = [package[at:at + CHUNK] for at in range(0, len(package), CHUNK)], len(package)
    assert bad.send()["state"] == "imported"


def test_the_app_goes_on_with_what_it_was_stopped_at(package, tmp_path, db_url):
    taken, stuck = threading.Event(), threading.Event()

    def import_long(*given):
        taken.set()
        stuck.wait()
    first = create_app(db_url, tmp_path / "data", import_package=import_long)
    sender = Sender(first, "ada", package)
    sender.plan()
    for number in range(len(sender.chunks)):
        sender.put(number)
    assert sender.finish().json["state"] == "processing"
    assert taken.wait(60)  # before that the first would take the abandoned job itself
    with first.extensions["demotape"].db.writing() as session:  # as if its server had been stopped a while ago
        session.execute(update(Job).values(state="running", worker="gone", tries=1,
                                           beat_at=datetime.now(UTC) - timedelta(minutes=1)))
    second = create_app(db_url, tmp_path / "data", import_package=import_package)
    sender.client = second.test_client()
    second.extensions["demotape"].jobs.start()
    assert sender.done()["state"] == "imported"
    stuck.set()
    for app in (first, second):
        app.extensions["demotape"].jobs.close()
        app.extensions["demotape"].db.close()


@pytest.mark.parametrize("is_bad", [False, True])
def test_what_came_of_a_package_is_known_when_the_server_was_stopped_then(app, package, tmp_path, is_bad):
    """The package has gone, and the job is done once more."""
    if is_bad:
        package = pack(tmp_path / "bad.zip", [line | {"more": 1} for line in journal()]).read_bytes()
    services, sender = app.extensions["demotape"], Sender(app, "ada", package)
    jobs = services.jobs
    jobs.close()  # which would take it
    sender.plan()
    for number in range(len(sender.chunks)):
        sender.put(number)
    with services.db.writing() as session:
        session.add(Job(id=7, kind=upload_service.KIND, project="main", who="ada", state="queued", note="", result={},
                        made_at=datetime.now(UTC), arguments={"file": "uploads/pack-1.zip", "name": "pack-1",
                                                              "who": "ada", "pieces": len(sender.chunks)}))
    with pytest.raises(InputError, match="field more") if is_bad else nullcontext():
        jobs._kinds[upload_service.KIND](jobs._claim(), lambda *_: None)
    with services.db.writing() as session:
        session.execute(update(Job).values(worker="gone", beat_at=datetime.now(UTC) - timedelta(minutes=1)))
    jobs._do(jobs._claim())
    job = jobs.get(7)
    assert job.state == ("failed" if is_bad else "done")
    assert "field more" in job.note if is_bad else job.result["demonstration"]
    assert str(tmp_path) not in str(job.result)  # which the API tells
    with services.db.writing() as session:
        session.execute(update(Job).values(state="queued", result={}))
    jobs._do(jobs._claim())
    assert (jobs.get(7).state, jobs.get(7).note) == ("failed", "the package no longer exists; send it again")


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Bearer wrong", "Basic wrong", "wrong"])
@pytest.mark.parametrize(("method", "url"), [
    ("get", "/api/account"), ("put", "/api/uploads/a"), ("get", "/api/uploads/a"), ("put", "/api/uploads/a/chunks/0"),
    ("post", "/api/uploads/a/finish")])
def test_nothing_works_without_a_token(app, method, url, header):
    plan = {"size": 1, "chunk_size": 1, "chunks": ["0" * 64]}
    answer = app.test_client().open(url, method=method.upper(), headers={"Authorization": header} if header else {},
                                    json=plan if method == "put" and "chunks" not in url else None)
    assert answer.status_code == 401


def test_somebody_elses_upload_is_not_there(app, package):
    ada, eve = Sender(app, "ada", package), Sender(app, "eve", package)
    ada.plan()
    ada.put(1)
    assert eve.put(0).status_code == eve.finish().status_code == 404
    assert eve.client.get(eve.url, headers=eve.headers).status_code == 404
    assert eve.plan().json == ada.state() | {"received": []}  # an upload of her own, under the same name
    eve.put(0)
    assert (ada.state()["received"], eve.state()["received"]) == ([1], [0])


@pytest.mark.parametrize("plan", [
    {"size": limits.UPLOAD + 1, "chunk_size": limits.CHUNK, "chunks": ["0" * 64] * 1025}, {"size": 0}, {"size": -1},
    {"chunk_size": limits.CHUNK + 1}, {"chunk_size": 0}, {"chunks": []}, {"chunks": ["x"]}, {"chunks": None},
    {"more": 1}, {"size": "1"}])
def test_a_plan_that_cannot_be_is_refused(app, package, plan):
    assert Sender(app, "ada", package).plan(**plan).status_code in (400, 422)


@pytest.mark.parametrize("name", ["..%2F..%2Fevil", "a.zip", "-a", "a" * 101, "%00"])
def test_a_name_never_leads_out_of_the_folder(app, package, name, tmp_path):
    sender = Sender(app, "ada", package, name)
    assert sender.plan().status_code in (400, 404)
    assert not list((tmp_path / "data").rglob("*.zip"))


def test_a_chunk_that_is_too_large_is_refused(app, package):
    sender = Sender(app, "ada", package)
    sender.plan()
    assert sender.put(0, b"x" * (limits.CHUNK + 1)).status_code in (400, 413)


def test_an_app_that_takes_no_uploads_says_so(tmp_path, package):
    app = create_app(data_dir=tmp_path / "data")
    answer = Sender(app, "ada", package).plan()
    assert answer.status_code == 404 and "Uploads are disabled" in answer.json["message"]


def test_user_add_tells_the_token_once(tmp_path):
    def add(*words):
        return CliRunner().invoke(main, ["user", "add", *words, "--data", str(tmp_path)])

    done = add("ada", "--role", "annotator", "--create")
    assert done.exit_code == 0
    token = done.stdout.strip().splitlines()[-1]
    db = open_database(default_db_url(tmp_path))
    assert tokens.find(db, token)[0].name == "ada" and tokens.find(db, token[:-1]) is None
    assert token not in (tmp_path / "demotape.db").read_bytes().decode("latin-1")
    assert add("ada", "--role", "lead").exit_code == 2
    assert add("bob", "--role", "king").exit_code == 2
    with pytest.raises(InputError, match="is not a valid name"):
        add_user(db, "../bob", "lead")


def test_import_takes_a_package(tmp_path, package):
    words = ["import", "--create", str(tmp_path / "p.zip"), "--data", str(tmp_path / "data")]
    assert "imported" in CliRunner().invoke(main, words).stdout
    assert "already imported" in CliRunner().invoke(main, words).stdout
    (tmp_path / "p.zip").write_bytes(b"PK no")
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2 and "not a package" in done.stderr
