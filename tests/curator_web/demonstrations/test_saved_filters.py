"""Saved filters of the list: one's own and shared ones, changed under their name, removed by who may."""

import re

import pytest

from curator_web import create_app
from curator_web.db.models.filter_models import FILTER_NAME_LENGTH
from curator_web.demonstrations.listing import saved_filters
from curator_web.demonstrations.listing.listing import Filter
from curator_web.errors import InputError, NotAllowed, NotFound
from curator_web.users import Account

LEA, ANN, BOB = (Account(name, role) for name, role in (("lea", "lead"), ("ann", "annotator"), ("bob", "annotator")))
DRAFTS = Filter(status="draft", sort="checks")


@pytest.fixture
def db(tmp_path, db_url):
    app = create_app(db_url, tmp_path / "data")
    yield app.extensions["demotape"].db
    app.extensions["demotape"].db.close()


def test_a_filter_is_kept_shared_changed_and_removed(db):
    mine = saved_filters.save(db, ANN, " Drafts  to check ", DRAFTS)
    assert (mine.name, mine.content) == ("Drafts to check", {"status": "draft", "sort": "checks"})
    assert [row.name for row in saved_filters.saved(db, ANN)] == ["Drafts to check"]
    assert not saved_filters.saved(db, BOB)
    again = saved_filters.save(db, ANN, "Drafts to check", Filter(search="lamps"), shared=True)
    assert again.id == mine.id and [row.content for row in saved_filters.saved(db, BOB)] == [{"search": "lamps"}]
    assert saved_filters.save(db, BOB, "Drafts to check", DRAFTS).id != mine.id
    with pytest.raises(NotAllowed):
        saved_filters.remove(db, BOB, mine.id)
    for who, number in ((Account("lea", "lead", project="b"), mine.id), (ANN, 999),
                        (LEA, saved_filters.saved(db, BOB)[-1].id)):
        with pytest.raises(NotFound):
            saved_filters.remove(db, who, number)
    saved_filters.remove(db, LEA, mine.id)
    assert not saved_filters.saved(db, ANN)


@pytest.mark.parametrize(("name", "sought"), [("", DRAFTS), (" \n", DRAFTS), ("x" * (FILTER_NAME_LENGTH + 1), DRAFTS),
                                              ("All", Filter()), ("Page", Filter(after="x"))])
def test_what_is_no_filter_is_refused(db, name, sought):
    with pytest.raises(InputError):
        saved_filters.save(db, ANN, name, sought)


def test_nobody_keeps_more_than_there_is_room_for(db, monkeypatch):
    monkeypatch.setattr(saved_filters, "MAX_FILTERS", 2)
    for number in range(2):
        saved_filters.save(db, ANN, str(number), DRAFTS)
    saved_filters.save(db, ANN, "1", Filter(search="x"))
    with pytest.raises(InputError, match="remove one first"):
        saved_filters.save(db, ANN, "2", DRAFTS)


def test_the_page_saves_shows_and_forgets_what_was_sought(tmp_path):
    app = create_app(None, tmp_path / "data")
    client = app.test_client()
    page = client.get("/?status=draft&search=%3Cb%3E").text
    token = {"csrf_token": re.search(r'name="csrf_token" value="([^"]+)"', page)[1]}
    kept = client.post("/filters", data=token | {"name": "<i>", "list.status": "draft", "list.search": "<b>"})
    assert kept.status_code == 303 and kept.headers["Location"] == "/?search=%3Cb%3E&status=draft"
    page = client.get(kept.headers["Location"]).text
    assert 'aria-current="true">&lt;i&gt;</a>' in page and "Save this filter" not in page and "<b>" not in page
    number = client.get("/api/filters").json[0]["id"]
    assert client.post(f"/filters/{number}/remove", data=token).status_code == 303
    assert client.get("/api/filters").json == []
    app.extensions["demotape"].db.close()
