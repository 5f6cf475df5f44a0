"""The pages of training: chosen in the list, done first, compared when it is submitted, decided by a lead."""

import re

import pytest

from curator_web import create_app
from curator_web.demonstrations.library import library
from curator_web.demonstrations.workflow import training
from curator_web.demonstrations.workflow.workflow import change_status
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.edits import edit
from tests.support.curator.team_fixtures import LEA, VAL, add_people, csrf, signed_in


@pytest.fixture
def app(tmp_path, db_url):
    app = create_app(db_url, tmp_path / "data")
    add_people(app)
    services = app.extensions["demotape"]
    for name in ("rec-1", "rec-2"):
        library.import_recording(services.db, services.store, make_recording(tmp_path, recording_id=name))
    version = edit(services.db, "rec-1", {"op": "drop", "turn": "t3"}, 1, VAL).version
    version = change_status(services.db, "rec-1", "submitted", version, VAL)
    change_status(services.db, "rec-1", "approved", version, LEA)
    yield app
    services.db.close()


def test_an_annotator_is_trained_in_the_pages(app):
    db = app.extensions["demotape"].db
    lead, ann = signed_in(app, "lea"), signed_in(app, "ann")
    assert 'formaction="/training"' in lead.get("/").text
    assert "No training demonstrations. Select" in lead.get("/projects/main").text
    token = {"csrf_token": csrf(lead, "/")}
    for given, status in (({"all": "1"}, 400), ({}, 400), ({"id": "rec-2"}, 400), ({"id": "rec-1"}, 303)):
        assert lead.post("/training", data=token | given).status_code == status
    for form, status in (({"first": "yes", "pass_mark": "2"}, 400), ({"first": "yes", "pass_mark": "much"}, 400),
                         ({"first": "yes", "pass_mark": "0.9"}, 303)):
        assert lead.post("/projects/main/settings", data=token | {"part": "training"} | form).status_code == status
    assert "do this one first" in lead.get("/demonstrations/rec-1").text
    assert "End training" in lead.get("/demonstrations/rec-1").text
    token = {"csrf_token": csrf(ann, "/")}
    assert ann.post("/training", data=token | {"id": "rec-1"}).status_code == 403
    assert ann.post("/training/decisions", data=token | {"who": "ann", "decision": "through"}).status_code == 403
    assert ann.post("/next", data=token).headers["Location"] == "/demonstrations/rec-1~t1"
    page = ann.get("/demonstrations/rec-1~t1").text
    assert "Its answer is known" in page and 'value="submitted"' in page and 'data-opens="invalid"' not in page
    assert 'class="id">rec-1<' not in ann.get("/").text and ann.get("/demonstrations/rec-1").status_code == 404
    version = re.search(r'name="version" value="([^"]+)', page)[1]
    sent = ann.post("/demonstrations/rec-1~t1/status", data=token | {"version": version, "status": "submitted"})
    assert (sent.status_code, sent.headers["Location"]) == (303, "/training/rec-1~t1")
    page = ann.get("/training/rec-1~t1").text
    assert "0 of 1 match the known answer: 0.0 %" in page and "Dropped or kept" in page and "A lead must review" in page
    assert ann.get("/demonstrations/rec-1").status_code == 200 and "End training" not in ann.get(
        "/demonstrations/rec-1").text
    assert "You have finished the training" in ann.post("/next", data=token, follow_redirects=True).text
    page = lead.get("/projects/main").text
    assert "Below the pass mark" in page and '<a href="/training/rec-1~t1">rec-1</a> 0 of 1' in page and "κ" in page
    token = {"csrf_token": csrf(lead, "/")}
    assert lead.post("/training/decisions", data=token | {"who": "ann", "decision": "again"}).status_code == 303
    assert ann.get("/training/rec-1~t1").status_code == ann.get("/demonstrations/rec-1").status_code == 404
    assert "is no longer counted" in lead.get("/training/rec-1~t1").text.lower()
    lead.post("/training/decisions", data=token | {"who": "ann", "decision": "through"})
    assert "Exempted by lea" in lead.get("/projects/main").text
    token = {"csrf_token": csrf(ann, "/")}
    assert ann.post("/next", data=token).headers["Location"] == "/demonstrations/rec-2"
    token = {"csrf_token": csrf(lead, "/")}
    gone = lead.post("/training", data=token | {"id": "rec-1", "remove": "1", "back": "1"})
    assert gone.headers["Location"] == "/demonstrations/rec-1" and not training.is_training(db, "rec-1")
    assert "Use for training" in lead.get("/demonstrations/rec-1").text
