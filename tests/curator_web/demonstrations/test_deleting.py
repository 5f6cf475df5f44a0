"""Deleting demonstrations: nothing that lists, counts, hands out or exports has them, until they are restored."""

import re

import pytest

from curator_web import create_app
from curator_web.demonstrations.leases import leases
from curator_web.demonstrations.library.export_sources import exportable
from curator_web.demonstrations.library.library import import_recording
from curator_web.demonstrations.listing import deleting
from curator_web.demonstrations.listing.listing import listing
from curator_web.demonstrations.measuring.figures import figures
from curator_web.demonstrations.workflow.workflow import change_status
from curator_web.errors import InputError, NotAllowed, NotFound
from curator_web.tasks import assignment, bank
from curator_web.users import Account
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.team_fixtures import add_people, signed_in

LEA, ANN = Account("lea", "lead"), Account("ann", "annotator")


@pytest.fixture
def app(tmp_path, db_url):
    app = create_app(db_url, tmp_path / "data")
    services = app.extensions["demotape"]
    task, = bank.propose(services.db, LEA, [{"text": "One"}])
    for number in range(3):
        path = make_recording(tmp_path, recording_id=f"rec-{number}", provenance={"task_id": assignment.name_of(task)})
        import_recording(services.db, services.store, path)
    yield app
    services.db.close()


def seen(services) -> list[str]:
    """What each part of the app still has, and all have the same."""
    db = services.db
    found = sorted(row.id for row in listing(db).rows)
    assert sorted(source.id for source in exportable(db, services.store)) == found
    assert figures(db).total == bank.find(db, LEA).tasks[0].recorded == len(found)
    return found


def test_what_is_deleted_is_nowhere_and_comes_back_as_it_was(app, tmp_path):
    services = app.extensions["demotape"]
    db, client = services.db, app.test_client()
    change_status(db, "rec-0", "submitted", 1, LEA)
    with pytest.raises(NotAllowed):
        deleting.delete(db, ["rec-0"], ANN)
    for ids, error in (([], InputError), (["rec-0", "nothing"], NotFound)):
        with pytest.raises(error):
            deleting.delete(db, ids, LEA)
    batch = deleting.delete(db, ["rec-0", "rec-2"], LEA)
    assert seen(services) == ["rec-1"] and leases.take_next(db, ANN).id == "rec-1"
    for address in ("/demonstrations/rec-0", "/api/demonstrations/rec-0/turns", "/demonstrations/rec-0/timeline"):
        assert client.get(address).status_code == 404
    with pytest.raises(InputError, match="was deleted; a lead can restore it"):
        import_recording(db, services.store, tmp_path / "rec-0")
    assert [(row.id, row.batch, row.who) for row in deleting.deleted(db, LEA)] == [
        ("rec-0", batch, "lea"), ("rec-2", batch, "lea")]
    for who, error in ((ANN, NotAllowed), (Account("lea", "lead", project="b"), NotFound)):
        with pytest.raises(error):
            deleting.restore(db, batch, who)
    assert deleting.restore(db, batch, LEA) == 2 and seen(services) == ["rec-0", "rec-1", "rec-2"]
    assert client.get("/api/demonstrations/rec-0").json["status"] == "submitted" and deleting.deleted(db, LEA) == []
    with pytest.raises(NotFound, match="may have been restored"):
        deleting.restore(db, batch, LEA)


def test_the_page_deletes_the_ticked_and_takes_it_back(app):
    client = app.test_client()
    token = {"csrf_token": re.search(r'name="csrf_token" value="([^"]+)"', client.get("/").text)[1]}
    for none in ({}, {"id": "rec-0", "all": "yes"}):
        assert client.post("/deleted", data=token | none).status_code == 400
    done = client.post("/deleted", data=token | {"id": ["rec-0", "rec-1"]}, follow_redirects=True).text
    assert "Deleted: 2." in done and "rec-2" in done and 'value="rec-0"' not in done
    assert "rec-0" in client.get("/deleted").text
    undo = re.search(r'action="(/deleted/[0-9a-f]+/restore)"', done)[1]
    assert "Restored: 2." in client.post(undo, data=token, follow_redirects=True).text
    assert "Nothing is deleted" in client.get("/deleted").text


def test_who_recorded_withdraws_and_a_lead_restores(app, tmp_path):
    services = app.extensions["demotape"]
    tokens = add_people(app)
    for name in ("own", "other"):
        path = make_recording(tmp_path, recording_id=name)
        import_recording(services.db, services.store, path, recorded_by="ann")
    ann, api = signed_in(app, "ann"), {"headers": {"Authorization": f"Bearer {tokens['ann']}"}}
    assert "/deleted/withdrawal/own" in ann.get("/demonstrations/own").text
    assert "/deleted/withdrawal" not in ann.get("/demonstrations/rec-1").text
    assert ann.get("/deleted/withdrawal/rec-1").status_code == 403
    asked = ann.get("/deleted/withdrawal/own").text
    form = {"csrf_token": re.search(r'name="csrf_token" value="([^"]+)"', asked)[1]}
    done = ann.post("/deleted/withdrawal/own", data=form, follow_redirects=True).text
    assert "Withdrawn. A lead can restore it." in done and ann.get("/demonstrations/own").status_code == 404
    change_status(services.db, "other", "submitted", 1, ANN)
    leases.assign(services.db, ["other"], "val", LEA)
    assert leases.take_next(services.db, Account("val", "validator")).id == "other"
    client = app.test_client()
    busy = client.post("/api/demonstrations/other/withdrawal", **api)
    assert busy.status_code == 409 and "Val has locked" in busy.json["message"]
    change_status(services.db, "other", "validated", 2, Account("val", "validator"))
    late = client.post("/api/demonstrations/other/withdrawal", **api)
    assert late.status_code == 403 and "is validated" in late.json["message"]
    assert client.post("/api/demonstrations/rec-1/withdrawal", **api).status_code == 403
    found, = deleting.deleted(services.db, LEA)
    assert (found.id, found.who) == ("own", "ann")
    with pytest.raises(NotAllowed):
        deleting.restore(services.db, found.batch, ANN)
    assert deleting.restore(services.db, found.batch, LEA) == 1
