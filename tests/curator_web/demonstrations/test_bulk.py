"""Changing all that a filter finds: by the page after a question, by the API, and in the background."""

import re
from dataclasses import asdict
from datetime import UTC, datetime

import pytest
from sqlalchemy import case, update

from curator_web import create_app
from curator_web.db.models.core import Demonstration
from curator_web.db.models.job_models import Job
from curator_web.demonstrations.leases import leases
from curator_web.demonstrations.library.library import import_recording
from curator_web.demonstrations.listing import listing
from curator_web.demonstrations.listing.listing import Filter
from curator_web.demonstrations.workflow import bulk
from curator_web.errors import Conflict, InputError, NotAllowed
from curator_web.jobs import bulk_changes
from curator_web.users import projects
from tests.support.curator.curator_fixtures import database_of, make_recording
from tests.support.curator.team_fixtures import ANN, BOB, LEA, VAL, add_people, csrf, signed_in
from tests.support.waiting import wait_until

pytestmark = pytest.mark.postgresql

APPROVE = bulk.Change(bulk.STATUS, "approved")
TO_ANN = bulk.Change(bulk.ASSIGN, "ann")


@pytest.fixture(scope="module")
def app(tmp_path_factory, request):
    """With rec-1 to rec-5."""
    folder = tmp_path_factory.mktemp("bulk")
    app = create_app(database_of(request), folder / "data")
    services = app.extensions["demotape"]
    app.tokens = add_people(app)
    for number in range(1, 6):
        path = make_recording(folder, recording_id=f"rec-{number}", task="Find it" if number < 5 else "Draft")
        import_recording(services.db, services.store, path, recorded_by="bob")
    yield app
    services.jobs.close()
    services.db.close()


@pytest.fixture
def services(app, monkeypatch):
    """All are submitted by ann but the last, a draft; a page of the list shows two, and two are a batch."""
    monkeypatch.setattr(listing, "PAGE_SIZE", 2)
    monkeypatch.setattr(bulk, "BATCH", 2)
    services = app.extensions["demotape"]
    with services.db.writing() as session:
        session.execute(update(Demonstration).values(
            status=case((Demonstration.id == "rec-5", "draft"), else_="submitted"), project="main", assigned_to=None,
            submitted_by=case((Demonstration.id == "rec-5", None), else_="ann"), lease_who=None, lease_until=None))
    return services


def wait_for_job(services) -> Job:
    """The newest job, once it has ended."""
    wait_until(lambda: services.jobs.latest("bulk")[0].ended_at, what="the end of the job")
    return services.jobs.latest("bulk")[0]


def statuses(db) -> list[str]:
    return [row.status for row in sorted(listed(db), key=lambda row: row.id)]


def listed(db) -> list[Demonstration]:
    with db.reading() as session:
        return list(session.query(Demonstration))


# ---- on the page ---------------------------------------------------------------------------------------------------


def test_all_found_is_asked_for_with_its_number_and_changed(app, services):
    client = signed_in(app, "lea")
    assert "Select all 4 results" in client.get("/?search=find").text
    assert "Select all" not in client.get("/?search=draft").text  # there is no other page
    assert "Select all" not in signed_in(app, "val").get("/?search=find").text
    given = {"csrf_token": csrf(client, "/"), "all": "1", "id": "rec-5", "decision": "approved", "list.search": "find",
             "list.sort": "turns"}
    page = client.post("/statuses", data=given)
    assert page.status_code == 200 and "Approve: all 4 results" in page.text
    assert statuses(services.db).count("approved") == 0
    sent = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page.text))
    assert sent["count"] == "4"
    leases_taken(services.db)
    answer = client.post("/statuses", data=sent)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/?search=find&sort=turns")
    said = client.get("/").text
    assert "Changed: 3 of 4." in said and "rec-2: val has locked this demonstration" in said
    assert statuses(services.db) == ["approved", "submitted", "approved", "approved", "draft"]


def leases_taken(db) -> None:
    """Have val at work on rec-2."""
    with db.writing() as session:
        session.execute(update(Demonstration).where(Demonstration.id == "rec-2").values(
            lease_who="val", lease_until=datetime.now(UTC) + leases.LEASE))


def test_another_number_by_then_is_told_and_nothing_changed(app, services):
    client = signed_in(app, "lea")
    given = {"csrf_token": csrf(client, "/"), "all": "1", "to": "val", "list.status": "submitted", "count": "3"}
    answer = client.post("/assign", data=given)
    assert answer.status_code == 409
    assert "The filter now matches 4, not the confirmed 3; nothing was changed" in answer.text
    assert 'name="count" value="4"' in answer.text  # and asked anew
    assert {row.assigned_to for row in listed(services.db)} == {None}
    for wrong in ({"list.since": "yesterday"}, {"list.status": "king"}, {"list.search": "nowhere"}, {"to": "nobody"}):
        assert client.post("/assign", data=given | {"list.search": "find"} | wrong).status_code in (400, 409), wrong
    for name in ("ann", "val"):
        other = signed_in(app, name)
        assert other.post("/assign", data=given | {"csrf_token": csrf(other, "/")}).status_code == 403


# ---- in the background ---------------------------------------------------------------------------------------------


def test_many_are_changed_by_a_job_whose_page_tells_what_was_refused(app, services, monkeypatch):
    monkeypatch.setattr(bulk_changes, "AT_ONCE", 2)
    client = signed_in(app, "lea")
    given = {"csrf_token": csrf(client, "/"), "all": "1", "to": "ann", "count": "5"}
    assert client.post("/assign", data=given).headers["Location"] == "/changes"
    wait_for_job(services)
    said = client.get("/changes").text
    assert "Assign to ann" in said and "Changed: 1 of 5" in said and "4 could not be changed" in said
    assert "rec-1" in said and "assign it to a validator" in said
    assert [row.id for row in listed(services.db) if row.assigned_to == "ann"] == ["rec-5"]


def job_of(count: int = 4, tries: int = 1, made_at: datetime | None = None) -> Job:
    """A job of lea's that approves what is submitted."""
    return Job(kind="bulk", project="main", who="lea", tries=tries, made_at=made_at or datetime.now(UTC),
               arguments={"change": asdict(APPROVE), "found": {"status": "submitted"}, "count": count, "alone": False})


def test_a_job_begun_again_goes_on_where_it_was_stopped(services):
    db, steps = services.db, []
    before = datetime.now(UTC)
    bulk.change_one_by_one(db, APPROVE, ["rec-1", "rec-2"], LEA)
    with pytest.raises(Conflict, match="the filter now matches 2, not the confirmed 4; nothing was changed"):
        bulk_changes.run(db, job_of(made_at=before), lambda *_: None)
    again = job_of(tries=2, made_at=before)
    assert bulk_changes.run(db, again, lambda *step: steps.append(step)) == {
        "found": 4, "changed": 4, "refused": 0, "first": []}
    assert steps == [(4, 4, "Approve")]
    assert statuses(db) == ["approved"] * 4 + ["draft"]
    with pytest.raises(Conflict, match="not the confirmed 5; 4 were already changed"):
        bulk_changes.run(db, job_of(tries=2, made_at=before, count=5), lambda *_: None)


def test_a_job_has_the_rights_that_who_began_it_has_now(services):
    db = services.db
    projects.set_member(db, "main", "val", "lead", LEA)
    projects.set_member(db, "main", "lea", "annotator", LEA)
    with pytest.raises(NotAllowed, match="only a lead"):
        bulk_changes.run(db, job_of(), lambda *_: None)
    projects.set_member(db, "main", "lea", None, LEA)
    with pytest.raises(NotAllowed, match="no longer a member"):
        bulk_changes.run(db, job_of(), lambda *_: None)
    projects.set_member(db, "main", "lea", "lead", LEA)
    assert "approved" not in statuses(db)


def test_what_would_be_refused_of_all_is_refused_at_once(services):
    db, jobs = services.db, services.jobs
    for change, account, error in ((bulk.Change(bulk.STATUS, "invalid"), LEA, InputError),
                                   (bulk.Change(bulk.STATUS, "king"), LEA, InputError),
                                   (bulk.Change(bulk.MOVE, "nowhere"), LEA, InputError),
                                   (APPROVE, VAL, NotAllowed), (TO_ANN, ANN, NotAllowed),
                                   (bulk.Change(bulk.MOVE, "main"), BOB, NotAllowed)):
        with pytest.raises(error):
            bulk_changes.begin(db, jobs, change, Filter(), 5, account)
    assert "approved" not in statuses(db)


def test_all_found_is_moved(services):
    db = services.db
    with pytest.raises(InputError):
        bulk_changes.begin(db, services.jobs, bulk.Change(bulk.MOVE, "b"), Filter(), 5, LEA)
    projects.add(db, "b", "Second", LEA)
    outcome = bulk_changes.begin(db, services.jobs, bulk.Change(bulk.MOVE, "b"), Filter(status="submitted"), 4, LEA)
    assert (outcome.changed, outcome.refused) == (4, 0)
    assert sorted(row.id for row in listed(db) if row.project == "b") == ["rec-1", "rec-2", "rec-3", "rec-4"]
    refused: dict[str, str] = {}
    assert leases.assign(db, ["rec-1", "rec-5"], "ann", LEA, refused) == 1  # what went elsewhere meanwhile
    assert "unknown demonstration" in refused["rec-1"]


# ---- by the API ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("app", ["postgresql"], indirect=True)
def test_the_api_changes_all_that_is_found(app, services, monkeypatch):
    client = app.test_client()
    lea, val = ({"Authorization": f"Bearer {app.tokens[name]}"} for name in ("lea", "val"))
    given = {"found": {"status": "submitted", "search": "find"}, "count": 4, "status": "invalid", "reason": "a test"}
    assert client.post("/api/statuses", json=given, headers=val).status_code == 403
    for wrong in ({"ids": ["rec-1"]}, {"count": None}, {"found": {"after": "x"}}, {"found": {"status": "king"}}):
        assert client.post("/api/statuses", json=given | wrong, headers=lea).status_code == 422, wrong
    assert client.post("/api/statuses", json=given | {"found": {"since": "x"}}, headers=lea).status_code == 400
    other = client.post("/api/statuses", json=given | {"count": 5}, headers=lea)
    assert other.status_code == 409 and other.json["message"].startswith(
        "The filter now matches 4, not the confirmed 5")
    assert client.post("/api/statuses", json=given, headers=lea).json == {"changed": 4, "refused": 0, "first": []}
    some = {"ids": ["rec-1", "rec-5"], "status": "draft"}
    answer = client.post("/api/statuses", json=some, headers=lea).json
    assert (answer["changed"], answer["refused"], answer["first"][0]["id"]) == (1, 1, "rec-5")
    monkeypatch.setattr(bulk_changes, "AT_ONCE", 1)
    begun = client.post("/api/assignments", json={"found": {}, "count": 5, "to": "ann"}, headers=lea)
    assert begun.status_code == 202 and begun.json["kind"] == "bulk"
    wait_for_job(services)
    done = client.get(f"/api/jobs/{begun.json['id']}", headers=lea).json
    assert (done["state"], done["result"]["changed"], done["result"]["refused"]) == ("done", 2, 3)
