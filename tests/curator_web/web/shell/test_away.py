"""What is answered while the database or the store is away: that, and nothing else; and all is there again after it."""

import errno
import sqlite3
import threading
from datetime import timedelta

import psycopg.errors
import pytest
from sqlalchemy import func, make_url, select, text
from sqlalchemy.exc import DBAPIError, OperationalError, TimeoutError

from curator_web import create_app
from curator_web.db import database, outages, timeouts
from curator_web.db.database import open_database
from curator_web.db.models.job_models import Job
from curator_web.demonstrations.library.library import import_recording
from curator_web.errors import DatabaseUnavailable, DiskFull
from curator_web.jobs import queue
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.team_fixtures import add_people, csrf, signed_in
from tests.support.services import databases
from tests.support.services.wires import Wire
from tests.support.waiting import wait_until


@pytest.fixture
def wire(postgresql):
    url = make_url(postgresql.new())
    with Wire(url.port) as wire:
        wire.url = url.set(port=wire.port).render_as_string(hide_password=False)
        yield wire


def test_pages_and_api_tell_that_the_database_is_away_and_come_back(wire, tmp_path):
    app = create_app(wire.url, tmp_path / "data")
    token, services = add_people(app)["lea"], app.extensions["demotape"]
    import_recording(services.db, services.store, make_recording(tmp_path))
    lead, headers = signed_in(app, "lea"), {"Authorization": f"Bearer {token}"}
    form = {"csrf_token": csrf(lead, "/")}
    client = app.test_client()
    wire.cut()
    for address in ("/", "/demonstrations/rec-1", "/dashboard", "/sign-in"):
        answer = lead.get(address)
        if address != "/sign-in":
            assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5"), address
            assert "The database does not respond" in answer.text and 'http-equiv="refresh"' in answer.text
    answer = lead.post("/pairs/share", data=form | {"share": "5"})
    assert answer.status_code == 503 and "refresh" not in answer.text and "Nothing was saved" in answer.text
    answer = lead.get("/demonstrations/rec-1", headers={"HX-Request": "true"})
    assert answer.status_code == 503 and "<html" not in answer.text
    for address in ("/api/demonstrations", "/api/demonstrations/rec-1/turns", "/api/uploads/rec-1"):
        answer = client.get(address, headers=headers)
        assert (answer.status_code, answer.json["code"], answer.headers["Retry-After"]) == (503, 503, "5"), address
        assert "port" not in answer.text  # nothing of where it is
    wire.mend()
    assert lead.get("/").status_code == lead.get("/demonstrations/rec-1").status_code == 200
    services.db.close()


def test_a_job_waits_until_the_database_is_back(wire, monkeypatch):
    monkeypatch.setattr(queue, "BEAT", 0.05)
    monkeypatch.setattr(queue, "FIRST_PAUSE", timedelta())
    db, tries, is_cut = open_database(wire.url), [], threading.Event()

    def work(job, step):
        tries.append(job.tries)
        if len(tries) == 1:
            wire.cut()
        step(1, 2, "told")
        try:
            with db.reading() as session:
                return {"jobs": session.scalar(select(func.count()).select_from(Job))}
        except DatabaseUnavailable:
            is_cut.set()
            raise
    jobs = queue.Jobs(db, {"export": work})
    number = jobs.add("export", "lea", {})
    assert is_cut.wait(60)
    with pytest.raises(DatabaseUnavailable):
        jobs.get(number)
    wire.mend()
    while (job := jobs.get(number)).state != "done":
        threading.Event().wait(0.02)
    assert (job.result, tries, job.tries, job.waits_since) == ({"jobs": 1}, [1, 1], 1, None)
    jobs.close()
    db.close()


def failed(code: int) -> OperationalError:
    error = sqlite3.OperationalError("told")
    error.sqlite_errorcode = code
    return OperationalError("SELECT", {}, error)


@pytest.mark.parametrize("error, expected", [
    (failed(sqlite3.SQLITE_BUSY), DatabaseUnavailable), (failed(sqlite3.SQLITE_BUSY | 5 << 8), DatabaseUnavailable),
    (failed(sqlite3.SQLITE_IOERR), DatabaseUnavailable), (failed(sqlite3.SQLITE_CANTOPEN), DatabaseUnavailable),
    (failed(sqlite3.SQLITE_READONLY), DatabaseUnavailable), (failed(sqlite3.SQLITE_FULL), DiskFull),
    (failed(sqlite3.SQLITE_ERROR), OperationalError),  # no such table
    (DBAPIError("SELECT", {}, psycopg.errors.AdminShutdown()), DatabaseUnavailable),
    (DBAPIError("SELECT", {}, psycopg.errors.CannotConnectNow()), DatabaseUnavailable),
    (DBAPIError("SELECT", {}, psycopg.errors.TooManyConnections()), DatabaseUnavailable),
    (DBAPIError("SELECT", {}, psycopg.errors.ReadOnlySqlTransaction()), DatabaseUnavailable),
    (DBAPIError("SELECT", {}, psycopg.OperationalError("connection refused")), DatabaseUnavailable),
    (DBAPIError("SELECT", {}, psycopg.errors.ConnectionTimeout()), DatabaseUnavailable),
    (DBAPIError("SELECT", {}, psycopg.errors.DiskFull()), DiskFull),
    (DBAPIError("SELECT", {}, psycopg.errors.UniqueViolation()), DBAPIError),
    (DBAPIError("SELECT", {}, psycopg.errors.QueryCanceled()), DBAPIError),
    (TimeoutError("pool"), DatabaseUnavailable)])
def test_what_tells_that_a_database_is_away(error, expected):
    with pytest.raises(expected), outages.translate_outage():
        raise error


@pytest.mark.parametrize("has_rested", [False, True])
def test_a_database_that_hangs_holds_nobody_for_long(postgresql, tmp_path, monkeypatch, has_rested):
    monkeypatch.setattr(database, "REST_SECONDS", 0 if has_rested else 1000)
    url = postgresql.new()
    app = create_app(url, tmp_path / "data")
    add_people(app)
    services, lead = app.extensions["demotape"], signed_in(app, "lea")
    import_recording(services.db, services.store, make_recording(tmp_path))
    held = services.db.engine.connect()  # of a job that is at it
    held.execute(text("SELECT 1"))
    assert lead.get("/demonstrations/rec-1").status_code == 200  # over another one, which waits for the next
    done = []
    job = threading.Thread(target=lambda: done.append(held.execute(text("SELECT 2")).scalar()))
    with databases.frozen(url), monkeypatch.context() as short:
        for name, seconds in (("STATEMENT", 1.0), ("ALIVE", 0.5), ("CANCEL", 0.3)):
            short.setattr(timeouts, name, seconds)
        job.start()
        assert lead.get("/").status_code == lead.get("/readyz").status_code == 503
        assert not done and job.is_alive()
    job.join()
    held.close()
    assert done == [2]  # whoever may wait goes on as if nothing had been
    assert lead.get("/demonstrations/rec-1").status_code == 200
    services.db.close()


def test_a_page_is_told_when_a_statement_takes_too_long_and_the_server_stops_it(postgresql, monkeypatch):
    monkeypatch.setattr(timeouts, "STATEMENT", 0.3)
    db = open_database(postgresql.new())
    with db.reading() as session:
        assert session.scalar(text("SELECT 1 FROM pg_sleep(0.6)")) == 1  # a job's, or a command's
    with db.writing() as session:
        timeouts.limit_statements()
        try:
            with pytest.raises(DBAPIError, match=r"did not respond within 0\.3 seconds") as found:
                session.execute(text("SELECT pg_sleep(60)"))
        finally:
            timeouts.unlimit_statements()
        session.rollback()
    with pytest.raises(DatabaseUnavailable), outages.translate_outage():
        raise found.value
    with db.reading() as session:
        sleeping = select(func.count()).where(text("query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()"))
        wait_until(lambda: not session.scalar(sleeping.select_from(text("pg_stat_activity"))),
                   what="the end of the statement on the server")
    db.close()


@pytest.mark.parametrize("error, status", [(OSError(errno.ENOSPC, "full"), 507), (OSError(errno.EIO, "broken"), 500),
                                           (ValueError("No space left on device"), 500)])
def test_a_disk_that_is_full_is_told_and_nothing_else_is_taken_for_it(tmp_path, error, status):
    def fails():
        raise error
    app = create_app(f"sqlite:///{tmp_path / 'app.db'}", tmp_path / "data")
    app.view_functions["health.alive"] = fails
    assert app.test_client().get("/healthz").status_code == status
