"""The pages of pairs: chosen, hidden, compared side by side, settled."""

import re

import pytest

from curator_web import create_app
from curator_web.demonstrations.library import library, pairs
from curator_web.demonstrations.workflow.workflow import change_status
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.edits import edit
from tests.support.curator.team_fixtures import ANN, BOB, add_people, csrf, signed_in


@pytest.fixture
def app(tmp_path, db_url):
    app = create_app(db_url, tmp_path / "data")
    add_people(app)
    services = app.extensions["demotape"]
    library.import_recording(services.db, services.store, make_recording(tmp_path))
    yield app
    services.db.close()


def test_a_pair_is_chosen_hidden_compared_and_settled_in_the_pages(app):
    db = app.extensions["demotape"].db
    lead, validator, ann = (signed_in(app, name) for name in ("lea", "val", "ann"))
    token = {"csrf_token": csrf(lead, "/pairs")}
    assert lead.post("/pairs/share", data=token | {"share": "many"}).status_code == 400
    assert lead.post("/pairs/share", data=token | {"share": "100"}).status_code == 303
    assert ann.post("/pairs/share", data={"csrf_token": csrf(ann, "/pairs"), "share": "0"}).status_code == 403
    version = edit(db, "rec-1", {"op": "set_task", "task": "Fly <b>"}, 1, ANN).version
    version = edit(db, "rec-1", {"op": "drop", "turn": "t3"}, version, ANN).version
    change_status(db, "rec-1", "submitted", version, ANN)
    assert "Being annotated" in ann.get("/pairs").text
    assert "the other annotation is hidden" in ann.get("/demonstrations/rec-1").text
    assert validator.get("/pairs/rec-1").status_code == ann.get("/pairs/rec-1").status_code == 404
    assert "both annotators must submit" in lead.get("/pairs/rec-1").text.lower()
    change_status(db, "rec-1~2", "submitted", library.listed(db, "rec-1~2").version, BOB)
    page = validator.get("/pairs/rec-1").text
    keys = set(re.findall(r'name="(choice:[^"]+)"', page))
    assert keys == {"choice:task//", "choice:dropped/t3/"} and "Fly &lt;b&gt;" in page
    assert "Double annotation (1)" in page
    assert "settle the differences" in ann.get("/pairs/rec-1").text  # who annotated one of the two only looks
    given = {"csrf_token": csrf(validator, "/pairs/rec-1"),
             "version": re.search(r'name="version" value="([^"]+)', page)[1]}
    assert validator.post("/pairs/rec-1", data=given).status_code == 400
    given |= {"choice:task//": "first", "choice:dropped/t3/": "second"}
    assert validator.post("/pairs/rec-1", data=given).status_code == 303
    now = library.current(db, "rec-1")
    assert (now["task"], [turn["id"] for turn in now["turns"] if turn["dropped"]]) == ("Fly <b>", [])
    assert pairs.find_pair(db, "rec-1").state == "settled" and library.listed(db, "rec-1").status == "validated"
    assert "It cannot be changed" in lead.get("/demonstrations/rec-1~2").text


def test_a_lead_ends_a_pair(app):
    lead = signed_in(app, "lea")
    assert 'formaction="/pairs"' in lead.get("/").text
    token = csrf(lead, "/")
    for given, status in (({"all": "1"}, 400), ({}, 400), ({"id": "rec-1"}, 303)):
        assert lead.post("/pairs", data={"csrf_token": token} | given).status_code == status
    assert lead.post("/pairs/rec-1/end", data={"csrf_token": csrf(lead, "/pairs")}).status_code == 303
    assert "Ended" in lead.get("/pairs").text
