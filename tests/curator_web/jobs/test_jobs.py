"""Work in the background: exports and imports from the pages, progress, restarts; and the dashboard."""

import errno
import io
import json
import os
import threading
import zipfile
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from curator_web import create_app
from curator_web.db.database import open_database
from curator_web.db.models.job_models import Job
from curator_web.demonstrations.library.library import import_recording, review
from curator_web.demonstrations.measuring.figures import figures, set_goal
from curator_web.demonstrations.workflow.workflow import change_status
from curator_web.errors import Conflict, InputError, NotAllowed, NotFound, StoreUnavailable
from curator_web.jobs.queue import MAX_ATTEMPTS, PAUSE_AFTER_STOPS, Jobs
from curator_web.storage.disk_space import require_room
from curator_web.users import Account
from curator_web.web.work import charts
from demotape.importing import import_package
from schemas import DiskFull
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.edits import edit
from tests.support.curator.team_fixtures import ANN, LEA, VAL, add_people, csrf, signed_in
from tests.support.samples.packages import pack

pytestmark = pytest.mark.postgresql


@pytest.fixture
def app(tmp_path, db_url):
    app = create_app(db_url, tmp_path / "data", import_package=import_package)
    add_people(app)
    yield app
    services = app.extensions["demotape"]
    services.jobs.close()
    services.db.close()


@pytest.fixture
def services(app, tmp_path):
    services = app.extensions["demotape"]
    import_recording(services.db, services.store, make_recording(tmp_path))
    return services


@pytest.fixture
def db(db_url):
    db = open_database(db_url)
    yield db
    db.close()


def queue_export(db) -> None:
    """A job that no process has begun."""
    with db.writing() as session:
        session.add(Job(kind="export", who="lea", state="queued", arguments={}, note="", result={},
                        made_at=datetime.now(UTC)))


def ended(jobs: Jobs, number: int) -> Job:
    """The job once it is done or has failed; waits for the worker itself."""
    jobs.close()
    return jobs.get(number)


# ---- jobs ----------------------------------------------------------------------------------------------------------


def test_chores_are_done_from_the_start_and_one_that_fails_stops_nothing(db, caplog):
    done = threading.Event()

    def fail():
        raise OSError("away")
    jobs = Jobs(db, {"export": lambda *_: {"x": 1}}, chores=[fail, done.set])
    jobs.start()
    assert done.wait(60)
    jobs.close()
    assert "a chore failed" in caplog.text


def test_a_job_tells_how_far_it_is(db):
    seen, go = threading.Event(), threading.Event()

    def work(job, step):
        step(1, job.arguments["total"], "first")
        seen.set()
        go.wait(60)
        return {"well": True}
    jobs = Jobs(db, {"export": work})
    number = jobs.add("export", "lea", {"total": 3})
    assert seen.wait(60)
    job = jobs.get(number)
    assert (job.state, job.done, job.total, job.note) == ("running", 1, 3, "first")
    go.set()
    assert (ended(jobs, number).state, jobs.get(number).result) == ("done", {"well": True})


def test_what_fails_says_why_and_our_own_faults_tell_nothing(db):
    def work(job, _step):
        raise {"input": InputError("file x: is broken"), "fault": ZeroDivisionError("secret")}[job.arguments["kind"]]
    jobs = Jobs(db, {"export": work})
    numbers = [jobs.add("export", "lea", {"kind": kind}) for kind in ("input", "fault")]
    jobs.close()
    jobs = Jobs(db, {"export": work})
    with pytest.raises(NotFound):
        jobs.get(10**12)
    for number in numbers:
        while jobs.get(number).state == "queued":  # the first worker was closed before it came to this one
            jobs.start()
            jobs.close()
            jobs = Jobs(db, {"export": work})
    assert [jobs.get(number).note for number in numbers] == [
        "file x: is broken", "internal error; details are in the server's log"]


def test_a_job_that_the_store_fails_says_so(db):
    def work(*_):
        raise StoreUnavailable("a bucket's name")
    jobs = Jobs(db, {"export": work}, silence=timedelta(seconds=30))
    queue_export(db)
    jobs._do(jobs._claim())
    job, = jobs.latest("export")
    assert (job.state, job.waits_for, job.tries, job.ended_at) == ("queued", "storage", 0, None)
    assert job.next_at - job.waits_since >= timedelta(seconds=5) and jobs._claim() is None  # not yet
    assert [each.id for each in jobs.failed("main")] == [job.id]
    began = job.waits_since
    for ago, pause in ((timedelta(seconds=40), 20), (timedelta(hours=3), 60)):
        with db.writing() as session:
            kept = session.get(Job, job.id)
            kept.waits_since, kept.next_at = began - ago, began
        jobs._do(jobs._claim())
        again = jobs.get(job.id)
        assert again.waits_since == began - ago and pause <= (again.next_at - datetime.now(UTC)).seconds + 1 < pause + 9
    with db.writing() as session:
        kept = session.get(Job, job.id)
        kept.waits_since, kept.next_at = began - timedelta(days=8), None
    jobs._do(jobs._claim())
    job, = jobs.latest("export")
    assert (job.state, job.note, job.waits_since) == ("failed", StoreUnavailable.message, None)
    for who, error in ((ANN, NotAllowed), (Account("lea", "lead", project="b"), NotFound)):
        with pytest.raises(error):
            jobs.retry(job.id, who)
    jobs._kinds = {"export": lambda *_: {"well": True}}
    jobs.retry(job.id, LEA)
    assert ended(jobs, job.id).result == {"well": True} and jobs.failed("main") == []
    with pytest.raises(Conflict):
        jobs.retry(job.id, LEA)


def _written(path):
    try:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError as error:
        raise InputError(f"{path}: cannot be written") from error


@pytest.mark.parametrize("fails", [
    lambda *_: _written("x"), lambda *_: require_room(Path.cwd(), 1 << 60),
    lambda *_: (_ for _ in ()).throw(DiskFull("x"))])
def test_a_job_that_meets_a_full_disk_waits_for_room(db, fails):
    jobs = Jobs(db, {"export": fails}, silence=timedelta(seconds=30))
    queue_export(db)
    jobs._do(jobs._claim())
    job, = jobs.latest("export")
    assert (job.state, job.waits_for, job.tries) == ("queued", "disk", 0)


def test_what_only_says_that_a_disk_is_full_fails(db):
    """Somebody may have called a file so."""
    def fails(*_):
        raise InputError("No space left on device.zip: is no package; the disk is full")
    jobs = Jobs(db, {"export": fails}, silence=timedelta(seconds=30))
    queue_export(db)
    jobs._do(jobs._claim())
    assert jobs.latest("export")[0].state == "failed"


def test_a_job_whose_server_was_killed_is_begun_again_a_few_times(db):
    jobs = Jobs(db, {"export": lambda *_: {"again": True}}, silence=timedelta(seconds=30))
    with db.writing() as session:
        for tries, silent in ((1, 60), (1, 10), (PAUSE_AFTER_STOPS, 60), (MAX_ATTEMPTS, 120)):
            session.add(Job(kind="export", who="lea", state="running", arguments={}, note="", result={}, worker="gone",
                            tries=tries, made_at=datetime.now(UTC),
                            beat_at=datetime.now(UTC) - timedelta(seconds=silent)))
    while job := jobs._claim():
        jobs._do(job)
    first, second, often, third = reversed(jobs.latest("export"))
    assert (first.state, first.result, first.tries) == ("done", {"again": True}, 2)
    assert second.state == "running"  # its worker may still be alive
    assert often.state == "running"  # it may be what stops them: it rests longer
    while third.state == "running":
        jobs._claim()
        third = jobs.get(third.id)
    assert third.state == "failed" and "several times" in third.note


def test_two_processes_do_each_job_once(db):
    done, lock = [], threading.Lock()

    def work(job, _step):
        with lock:
            done.append(job.id)
        return {}
    workers = [Jobs(db, {"export": work}) for _ in range(4)]
    numbers = [workers[0].add("export", "lea", {}) for _ in range(12)]
    threads = [threading.Thread(target=lambda jobs=jobs: [jobs._do(job) for job in iter(jobs._claim, None)])
               for jobs in workers[1:]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    workers[0].close()
    assert sorted(done) == numbers


# ---- export --------------------------------------------------------------------------------------------------------


def test_an_export_is_begun_on_its_page_and_downloaded(app, services, tmp_path):
    lead = signed_in(app, "lea")
    data = {"csrf_token": csrf(lead, "/exports"), "format": "webdataset", "status": "any"}
    assert lead.post("/exports", data=data).headers["Location"] == "/exports"
    [job] = services.jobs.latest("export")
    job = ended(services.jobs, job.id)
    assert (job.state, job.result["demonstrations"]) == ("done", 1), job.note
    page = lead.get("/exports", headers={"HX-Request": "true"}).text
    assert f"/exports/{job.id}.zip" in page and "every 1s" not in page
    answer = lead.get(f"/exports/{job.id}.zip")
    names = zipfile.ZipFile(io.BytesIO(answer.data)).namelist()
    assert any(name.endswith(".tar") for name in names)
    assert sorted(path.name for path in (tmp_path / "data" / "exports").iterdir()) == [f"{job.id}.zip"]
    token = {"X-CSRFToken": lead.get("/api/token").json["token"]}
    begun = lead.post("/api/exports", json={"format": "weblinx"}, headers=token)
    assert (begun.status_code, begun.json["state"]) == (202, "queued")
    assert lead.get(f"/api/jobs/{job.id}").json["result"]["demonstrations"] == 1
    for wrong in (999, 10**12):
        assert lead.get(f"/api/jobs/{wrong}").status_code == 404
        assert lead.get(f"/exports/{wrong}.zip").status_code == 404
    annotator = signed_in(app, "ann")
    for address in ("/exports", f"/exports/{job.id}.zip", "/dashboard"):
        assert annotator.get(address).status_code == 403
    assert lead.post("/exports", data=data | {"format": "../x"}).status_code == 400


def test_an_export_asks_for_what_the_command_can_ask_for(app, services, tmp_path):
    lead = signed_in(app, "lea")
    rule = {"test_web": ["air.example"], "near_duplicates": 0, "websites": {"air.example": {"labels": {"size": "s"}}}}
    form = {"csrf_token": csrf(lead, "/exports"), "format": "chat", "status": "any", "grammar": "weblinx",
            "since": "2000-01-01", "intents": ["click", "textInput"], "labels": "size=s, ",
            "websites": "other.example, air.example", "splits": (io.BytesIO(json.dumps(rule).encode()), "rule.json")}
    assert lead.post("/exports", data=form).status_code == 303
    job = ended(services.jobs, services.jobs.latest("export")[0].id)
    assert job.state == "done" and any("another intent" in each for each in job.result["left_out"]), job.note
    archive = zipfile.ZipFile(io.BytesIO(lead.get(f"/exports/{job.id}.zip").data))
    manifest = json.loads(archive.read(f"demotape-chat-{job.id}/manifest.json"))
    assert [each["split"] for each in manifest["demonstrations"]] == ["test_web"]
    assert manifest["selection"] == {
        "actors": ["person", "unknown"], "since": "2000-01-01", "intents": ["click", "textInput"],
        "websites": ["other.example", "air.example"], "labels": {"size": "s"}}
    lines = archive.read(f"demotape-chat-{job.id}/test_web.jsonl").decode()
    assert "click(uid=" in lines
    assert "selection: since, websites, labels, intents" in lead.get("/exports").text
    token = {"X-CSRFToken": lead.get("/api/token").json["token"]}
    asked = {"format": "chat", "status": "any", "until": "2000-01-01", "splits": rule}
    begun = lead.post("/api/exports", json=asked, headers=token)
    jobs = Jobs(services.db, services.jobs._kinds)
    jobs._do(jobs._claim())
    job = jobs.get(begun.json["id"])
    assert job.state == "failed" and "not selected: 1 × demonstration: recorded on another day" in job.note
    for field, value in (("since", "soon"), ("labels", "hard"), ("intents", "fly"), ("splits", b"{"),
                         ("splits", b'{"valid": 2}'), ("valid", b'{"valid": 0.9, "test_iid": 0.9}')):
        wrong = {field: value} if isinstance(value, str) else {"splits": (io.BytesIO(value), "rule.json")}
        answer = lead.post("/exports", data={"csrf_token": form["csrf_token"], "format": "chat"} | wrong)
        assert answer.status_code == 400 and f"field {field}" in answer.text
    for wrong in ({"since": 3}, {"actors": ["cat"]}, {"splits": {"valid": 0.9, "test_iid": 0.9}}):
        assert lead.post("/api/exports", json={"format": "chat"} | wrong, headers=token).status_code in (400, 422)


def test_an_export_of_nothing_fails_with_the_reason(app, services):
    lead = signed_in(app, "lea")
    data = {"csrf_token": csrf(lead, "/exports"), "format": "weblinx", "status": "approved"}
    lead.post("/exports", data=data)
    job = ended(services.jobs, services.jobs.latest("export")[0].id)
    assert job.state == "failed" and "no demonstrations" in job.note.lower()
    assert "Failed" in lead.get("/exports").text and "1 job</a> failed or is waiting" in lead.get("/dashboard").text
    page = lead.get("/jobs").text
    assert "Failed" in page and f'action="/jobs/{job.id}/again"' in page
    given = {"csrf_token": csrf(lead, "/exports"), "back": "/exports"}
    assert lead.post(f"/jobs/{job.id}/again", data=given).headers["Location"] == "/exports"
    assert services.jobs.get(job.id).state == "queued"
    jobs = Jobs(services.db, services.jobs._kinds)
    jobs._do(jobs._claim())
    again = jobs.get(job.id)
    assert (again.state, again.tries) == ("failed", 1) and again.ended_at > job.ended_at
    token = {"X-CSRFToken": lead.get("/api/token").json["token"]}
    assert [each["id"] for each in lead.get("/api/jobs").json["jobs"]] == [job.id]
    assert lead.post(f"/api/jobs/{job.id}/again", headers=token).json["state"] == "queued"


# ---- import --------------------------------------------------------------------------------------------------------


def test_a_package_dropped_on_the_page_is_imported(app, services, tmp_path):
    ann = signed_in(app, "ann")
    token = csrf(ann, "/import")
    package = pack(tmp_path / "p.zip").read_bytes()
    files = [(io.BytesIO(package), "../../my <b>package.zip"), (io.BytesIO(b"PK\x03\x04 broken"), "broken.zip")]
    answer = ann.post("/import", data={"csrf_token": token, "package": files})
    assert answer.headers["Location"] == "/import"
    services.jobs.close()
    jobs = Jobs(services.db, services.jobs._kinds)
    while job := jobs._claim():
        jobs._do(job)
    second, first = jobs.latest("import")
    assert (first.state, first.result) == ("done", {"demonstration": "pack-1", "outcome": "new"}), first.note
    assert first.arguments["name"] == "my <b>package.zip"
    assert second.state == "failed" and second.note.startswith("broken.zip: not a package")
    assert review(services.db, "pack-1").row.recorded_by == "ann"
    assert not list((tmp_path / "data" / "uploads").iterdir())
    page = ann.get("/import").text
    assert "my &lt;b&gt;package.zip" in page and "/demonstrations/pack-1" in page
    mixed = [(io.BytesIO(b"notes"), "notes <i>.txt"), (io.BytesIO(package), "again.zip"), (io.BytesIO(b""), "e.zip")]
    answer = ann.post("/import", data={"csrf_token": token, "package": mixed})
    assert answer.status_code == 200 and jobs.latest("import")[0].arguments["name"] == "again.zip"
    assert "<li>notes &lt;i&gt;.txt: not a zip file</li><li>e.zip: not a zip file</li>" in answer.text
    for wrong in ([], [(io.BytesIO(b"<html>"), "x.zip")], [(io.BytesIO(b""), "empty.zip")]):
        assert ann.post("/import", data={"csrf_token": token, "package": wrong}).status_code == 400
    assert ann.post("/import", data={"package": [(io.BytesIO(package), "x.zip")]}).status_code == 400  # no token
    assert app.test_client().post("/import", data={}).status_code == 303  # to the sign-in


# ---- dashboard -----------------------------------------------------------------------------------------------------


def test_the_dashboard_tells_what_happened(app, services, db):
    version = edit(db, "rec-1", {"op": "drop", "turn": "t3"}, 1, ANN).version
    version = edit(db, "rec-1", {"op": "set_utterance", "turn": "t1", "utterance": "x"}, version, ANN).version
    version = change_status(db, "rec-1", "submitted", version, ANN)
    version = change_status(db, "rec-1", "validated", version, VAL)
    change_status(db, "rec-1", "approved", version, LEA)
    set_goal(db, 40, LEA)
    found = figures(db)
    assert found.by_status["approved"] == found.total == 1 and found.goal == 40
    assert (found.dropped, found.edited) == (pytest.approx(1 / 6), pytest.approx(1 / 6))
    assert found.dropped_why == [("pointer_outside", 1)] and found.edited_how == [("set_utterance", 1)]
    assert (found.second_reviews, found.accepted_unchanged) == (2, 2)
    assert [(each.name, each.submitted, each.decided) for each in found.people] == [
        ("ann", 1, 0), ("lea", 0, 1), ("val", 0, 1)]
    assert sum(day[1] for day in found.days) == sum(day[2] for day in found.days) == 1 and len(found.days) == 28
    lead = signed_in(app, "lea")
    page = lead.get("/dashboard").text
    assert "1 of 40 approved" in page and "pointer outside" in page and 'role="img"' in page
    told = lead.get("/api/dashboard").json
    assert (told["goal"], told["accepted_unchanged"]) == (40, 2)
    token = csrf(lead, "/dashboard")
    for given, code in (("", 303), ("12", 303), ("x", 400), ("0", 400), ("9" * 30, 400), ("٣", 303)):
        assert lead.post("/dashboard/goal", data={"csrf_token": token, "goal": given}).status_code == code, given


def test_an_empty_dashboard_has_nothing_to_divide_by(tmp_path, db_url):
    page = create_app(db_url, tmp_path / "data").test_client().get("/dashboard")
    assert page.status_code == 200 and "Nothing has been submitted yet" in page.text


def test_charts_are_plain_numbers():
    bars, top = charts.by_day([(date(2025, 1, 1), 3, 0), (date(2025, 1, 2), 7, 10)], ("a", "b"))
    assert top == 10 and [round(bar.height) for bar in bars] == [36, 0, 84, 120]
    assert all(bar.y + bar.height == charts.HEIGHT for bar in bars) and bars[-1].x + bars[-1].width <= charts.WIDTH
    assert [charts.nice(number) for number in (0, 1, 3, 6, 11, 21, 999)] == [1, 1, 5, 10, 20, 50, 1000]
    assert charts.shares([("a", 4), ("b", 1)]) == [("a", 4, 1.0), ("b", 1, 0.25)] and charts.shares([]) == []


def test_a_job_of_another_kind_is_left_for_who_can_do_it(db):
    jobs = Jobs(db, {"export": lambda *_: {}})
    with db.writing() as session:
        session.add(Job(kind="import", who="lea", state="queued", arguments={}, note="", result={},
                        made_at=datetime.now(UTC)))
    assert jobs._claim() is None
    with db.writing() as session:
        session.execute(update(Job).values(kind="export"))
    assert jobs._claim() is not None
