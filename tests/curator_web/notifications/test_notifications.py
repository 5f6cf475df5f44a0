"""Notifications: who is told of what, that nobody is told of their own deeds, what is read, what nobody sees any more.
"""

import re
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from curator_web import create_app
from curator_web.db.models.notification_models import Notification
from curator_web.demonstrations.leases import leases
from curator_web.demonstrations.library.library import import_recording
from curator_web.demonstrations.listing import comments, deleting
from curator_web.demonstrations.workflow.workflow import change_status
from curator_web.errors import InputError
from curator_web.jobs.queue import Jobs
from curator_web.notifications import mentions, reading
from curator_web.tasks import bank
from curator_web.users import projects
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.team_fixtures import ANN, BOB, LEA, VAL, WIM, add_people, csrf, signed_in

# What asks the database nothing that others do not ask of both.
ON_SQLITE = pytest.mark.parametrize("db_url", ["sqlite"], indirect=True)


@pytest.fixture
def app(tmp_path, db_url):
    app = create_app(db_url, tmp_path / "data")
    services = app.extensions["demotape"]
    app.extensions["tokens"] = add_people(app)
    for number in range(3):
        import_recording(services.db, services.store, make_recording(tmp_path, recording_id=f"rec-{number}"),
                         recorded_by="ann")
    yield app
    services.jobs.close()
    services.db.close()


@pytest.fixture
def db(app):
    return app.extensions["demotape"].db


def told(db, account) -> list[tuple]:
    return [(each.kind, each.by, each.count) for each in reading.latest_notifications(db, account)]


@pytest.mark.parametrize(("text", "names"), [
    ("@ann, look", {"ann"}), ("See @ann.", {"ann", "ann."}), ("(@bob) x@val", {"bob"}), ("a@b.example", set()),
    ("@ann@b.example!", {"ann@b.example"}), ("@@ann @", set()), ("@-x @" + "a" * 300, {"a" * 100})])
def test_names_behind_an_at_are_found(text, names):
    assert mentions.names(text) == names
    assert "".join(part for part, _ in mentions.parts(text, names)) == text


def test_a_mention_is_marked_where_it_is_a_members():
    assert list(mentions.parts("Hi @ann. @zoe", {"ann"})) == [("Hi ", False), ("@ann", True), (". @zoe", False)]


def test_each_is_told_once_and_nobody_of_their_own_deeds(db):
    said = comments.add_comment(db, "rec-0", VAL, "Why here, @ann? @bob, @val, @zoe and x@wim", kind="question")
    assert told(db, ANN) == [("mentioned", "val", 1)] and told(db, BOB) == [("mentioned", "val", 1)]
    assert told(db, VAL) == told(db, WIM) == []
    comments.add_comment(db, "rec-0", ANN, "By mistake", answers=said.id)
    assert told(db, VAL) == [("answered", "ann", 1)] and len(told(db, ANN)) == 1
    comments.add_comment(db, "rec-1", VAL, "Which?", kind="question", turn="t3")
    comments.add_comment(db, "rec-1", BOB, "Good")
    assert told(db, ANN) == [("commented", "bob", 1), ("asked", "val", 1), ("mentioned", "val", 1)]
    assert [each.turn for each in reading.latest_notifications(db, ANN)] == [None, "t3", None]
    with pytest.raises(InputError):
        comments.add_comment(db, "rec-1", VAL, "@wim", turn="nowhere")
    assert told(db, WIM) == []


def test_work_that_comes_to_somebody_is_told(db):
    leases.assign(db, ["rec-0"], "bob", LEA)
    leases.assign(db, ["rec-1"], "lea", LEA)
    assert told(db, BOB) == [("assigned", "lea", 1)] and told(db, LEA) == []
    for ids in (["rec-1", "rec-2"], ["rec-1", "rec-2"]):  # in batches
        leases.assign(db, ids, "bob", LEA)
        leases.assign(db, ids, None, LEA)
    assert told(db, BOB) == [("assigned", "lea", 4), ("assigned", "lea", 1)]
    version = change_status(db, "rec-1", "submitted", 1, ANN)
    change_status(db, "rec-1", "returned", version, VAL, "Too short")
    assert told(db, ANN) == [("returned", "val", 1)]
    tasks = bank.propose(db, BOB, [{"text": "One"}, {"text": "Two"}, {"text": "Three"}])
    for task, state in zip(tasks, ("accepted", "returned", "refused"), strict=True):
        bank.decide(db, VAL, task.id, state, "so")
    assert [kind for kind, _, _ in told(db, BOB)][:3] == ["task-refused", "task-returned", "task-accepted"]


@ON_SQLITE
def test_who_began_a_job_is_told_of_its_end(db):
    def work(job, _step):
        if job.arguments["fails"]:
            raise InputError("broken")
        return {"demonstration": "rec-1"}
    for fails in (False, True):
        jobs = Jobs(db, {"import": work})
        jobs.add("import", "ann", {"fails": fails})
        while jobs.latest("import")[0].ended_at is None:
            jobs.start()
            jobs.close()
            jobs = Jobs(db, {"import": work})
    assert told(db, ANN) == [("job-failed", None, 1), ("job-done", None, 1)]
    assert [(each.demonstration_id, each.work) for each in reading.latest_notifications(db, ANN)] == [(None, "import"),
                                                                                                      ("rec-1",
                                                                                                       "import")]


def test_what_is_read_goes_in_the_end_and_who_left_sees_nothing(db):
    for number in range(2):
        comments.add_comment(db, f"rec-{number}", VAL, "Good")
    newest = reading.latest_notifications(db, ANN)[0]
    assert (reading.unread(db, ANN), reading.unread(db, BOB)) == (2, 0)
    assert reading.mark_read(db, BOB, [newest.id]) == 0 and reading.mark_read(db, ANN, [newest.id]) == 1
    assert [each.read_at is None for each in reading.latest_notifications(db, ANN)] == [True, False]
    assert len(reading.latest_notifications(db, ANN, only_unread=True)) == reading.unread(db, ANN) == 1
    with db.writing() as session:
        session.execute(update(Notification).values(made_at=datetime.now(UTC) - timedelta(days=100)))
        session.execute(update(Notification).where(Notification.id == newest.id)
                        .values(read_at=datetime.now(UTC) - reading.RETENTION - timedelta(hours=1)))
    reading.forget_old(db)
    assert len(reading.latest_notifications(db, ANN)) == 1
    deleting.delete(db, ["rec-0"], LEA)
    assert reading.latest_notifications(db, ANN)[0].about is None
    projects.set_member(db, "main", "ann", None, LEA)
    assert (reading.unread(db, ANN), reading.latest_notifications(db, ANN)) == (0, [])
    comments.add_comment(db, "rec-1", VAL, "@ann")
    projects.set_member(db, "main", "ann", "annotator", LEA)
    assert reading.unread(db, ANN) == 1  # of what happened meanwhile they are not told


@ON_SQLITE
def test_the_page_and_the_api_lead_there(app, db):
    comments.add_comment(db, "rec-1", VAL, "Look, @ann", turn="t3")
    comments.add_comment(db, "rec-2", VAL, "Good")
    client, api = signed_in(app, "ann"), {"headers": {"Authorization": f"Bearer {app.extensions['tokens']['ann']}"}}
    assert "2 notifications" in client.get("/demonstrations/rec-0").text
    link = re.findall(r'href="(/notifications/\d+)"', client.get("/notifications").text)[1]
    assert client.get(link).location == "/demonstrations/rec-1?turn=t3"
    assert '<strong class="mention">@ann</strong>' in client.get("/demonstrations/rec-1?turn=t3").text
    assert signed_in(app, "bob").get(link).status_code == 404 and client.get("/notifications/99").status_code == 404
    assert ", new: </span>1</span>" in client.get("/").text
    found = client.get("/api/notifications?unread=true").json
    assert [(each["kind"], each["by"], each["demonstration"]) for each in found] == [("commented", "val", "rec-2")]
    for wrong in ({}, {"ids": []}, {"all": False}, {"all": True, "ids": [1]}):
        assert app.test_client().post("/api/notifications/read", json=wrong, **api).status_code == 422
    marked = app.test_client().post("/api/notifications/read", json={"ids": [found[0]["id"], 10**9]}, **api)
    assert marked.json == {"read": 1} and client.get("/api/notifications?unread=true").json == []
    comments.add_comment(db, "rec-2", VAL, "Better")
    done = client.post("/notifications/read", data={"csrf_token": csrf(client, "/notifications")},
                       follow_redirects=True).text
    assert "Marked as read: 1." in done and "Mark all read" not in done
