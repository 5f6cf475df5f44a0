"""The counts of an export before it begins: on the page, in its part for htmx, and by the API, on both databases."""

from collections import Counter

import pytest
from sqlalchemy import update

from curator_web import create_app
from curator_web.db.models.core import Demonstration
from curator_web.demonstrations.library.export_counts import count_for_export
from curator_web.demonstrations.library.export_sources import selected
from curator_web.demonstrations.library.library import import_recording, listed
from curator_web.jobs import exporting
from curator_web.jobs.queue import Jobs
from pipeline.export import Selection
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.team_fixtures import ANN, LEA, add_people, csrf, give, signed_in

pytestmark = pytest.mark.postgresql
ACTORS = {"rec-1": "person", "rec-2": "agent", "rec-3": None, "rec-4": "script"}


@pytest.fixture
def app(db_url, tmp_path):
    app = create_app(db_url, tmp_path / "data")
    services = app.extensions["demotape"]
    services.jobs.start = lambda: None
    for recording_id, actor in ACTORS.items():
        more = {"provenance": {"actor": actor}} if actor else {}
        import_recording(services.db, services.store, make_recording(tmp_path, recording_id=recording_id, **more),
                         recorded_by="ann" if actor else None)
    yield app
    services.db.close()


@pytest.fixture
def services(app):
    return app.extensions["demotape"]


def counted(app, body, tokens, name="lea"):
    return app.test_client().post("/api/exports/counts", json=body,
                                  headers={"Authorization": f"Bearer {tokens[name]}"})


def test_counts_are_those_of_the_export(services):
    db = services.db
    with db.writing() as session:
        session.execute(update(Demonstration).where(Demonstration.id == "rec-2").values(outcome="failure"))
    day = listed(db, "rec-1").recorded_at.date()
    for selection in (
            Selection(), Selection("draft"), Selection("approved"), Selection(actors=("person", "unknown")),
            Selection(outcome="failure"), Selection(outcome="undecided", actors=("script",)), Selection(reviewed=True),
            Selection(proven=True), Selection(recorded_by=("ann",)), Selection(recorded_by=("bob", "ann"), since=day),
            Selection(until=day), Selection(since=day, until=day), Selection(until=day.replace(day=day.day - 1)),
            Selection(until=day.max), Selection(since=day.min)):
        result = count_for_export(db, selection)
        assert result.selected == len(selected(db, selection, Counter())), selection
        assert result.total == len(ACTORS) and result.selected + result.reasons.total() == result.total
        for values in result.counts.values():
            assert sum(part["exported"] for part in values.values()) == result.selected
            assert sum(part["exported"] + part["left_out"] for part in values.values()) == result.total


def test_without_accounts_the_page_includes_people_s_and_says_that_nobody_reviewed_them(app):
    page = app.test_client().get("/exports").text
    assert "2 of 4 demonstrations" in page and "0 of 2 reviewed" in page
    assert '<option value="any" selected>All but invalid' in page
    part = app.test_client().get("/exports/counts?actors=&actors=agent&status=any").text
    assert "1 of 4 demonstrations" in part and "<html" not in part
    assert "choose at least one actor" in app.test_client().get("/exports/counts?actors=&status=any").text
    assert "field since" in app.test_client().get("/exports/counts?since=soon").text.lower()
    part = app.test_client().get("/exports/counts?status=any&websites=a.example&recorded_by=bob").text
    assert "0 of 4 demonstrations" in part and "Nothing would be exported" in part
    assert "Not counted here: websites." in part


def test_with_accounts_page_api_and_job_begin_with_approved_ones(app, services):
    tokens, lea = add_people(app), signed_in(app, "lea")
    page = lea.get("/exports").text
    assert "0 of 4 demonstrations" in page and '<option value="approved" selected>' in page
    assert counted(app, {}, tokens).json["selected"] == 0
    give(services.db, "rec-1", ANN)
    give(services.db, "rec-1", LEA, "approved")
    answer = counted(app, {}, tokens).json
    assert (answer["status"], answer["actors"], answer["outcome"]) == ("approved", ["person", "unknown"], "any")
    assert (answer["total"], answer["selected"], answer["reviewed"]) == (4, 1, 1)
    assert answer["counts"]["status"] == {"draft": {"exported": 0, "left_out": 3},
                                          "approved": {"exported": 1, "left_out": 0}}
    assert counted(app, {"status": "any", "actors": ["any"]}, tokens).json["selected"] == 4
    assert counted(app, {"status": None, "actors": []}, tokens).json["selected"] == 4
    assert counted(app, {"status": "any"}, tokens).json["reviewed"] == 1
    assert counted(app, {}, tokens, "ann").status_code == 403
    assert counted(app, {"actors": ["cat"]}, tokens).status_code in (400, 422)
    assert signed_in(app, "ann").get("/exports/counts").status_code == 403

    lea.post("/exports", data={"csrf_token": csrf(lea, "/exports"), "format": "chat"})
    job = services.jobs.latest(exporting.KIND)[0]
    assert (job.arguments["status"], job.arguments["actors"]) == ("approved", ["person", "unknown"])
    jobs = Jobs(services.db, services.jobs._kinds)
    jobs._do(jobs._claim())
    job = jobs.get(job.id)
    assert job.state == "done" and (job.result["demonstrations"], job.result["reviewed"]) == (1, 1), job.note
    assert "1 of 1 reviewed" in lea.get("/exports").text


def test_an_export_of_nothing_says_what_there_is(app, services):
    add_people(app)
    number = services.jobs.add(exporting.KIND, "lea", {"format": "chat", "status": "approved"})
    jobs = Jobs(services.db, services.jobs._kinds)
    jobs._do(jobs._claim())
    assert "4 demonstrations, 0 approved; use status any" in jobs.get(number).note


def test_a_job_of_an_earlier_version_exports_what_it_was_asked_for(app, services):
    add_people(app)
    number = services.jobs.add(exporting.KIND, "lea", {"format": "chat", "status": None, "actors": []})
    jobs = Jobs(services.db, services.jobs._kinds)
    jobs._do(jobs._claim())
    assert jobs.get(number).result["demonstrations"] == len(ACTORS)


def test_an_actor_that_was_not_read_yet_is_read_for_the_page(app, services):
    with services.db.writing() as session:
        session.execute(update(Demonstration).values(actor=None))
    assert "2 of 4 demonstrations" in app.test_client().get("/exports").text
    assert listed(services.db, "rec-2").actor == "agent"
