"""The turn list of a long session: rows on demand, records of all turns, and how an edit changes them."""

import random
import re

import pytest

from curator_web import create_app
from curator_web.demonstrations.library.library import import_recording, review
from curator_web.demonstrations.workflow.editing import add_edit
from curator_web.web.review import presentation, turn_list
from curator_web.web.review.presentation import WINDOW_TURNS, ReviewView
from schemas import InputError
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.long_sessions import lengthen
from tests.support.curator.random_edits import editable_turns, propose

COUNT = 400
ROW = re.compile(r'data-turn="([^"]+)" class="')


@pytest.fixture
def app(db_url, tmp_path):
    app = create_app(db_url, tmp_path / "data")
    yield app
    app.extensions["demotape"].db.close()


@pytest.fixture
def client(app, tmp_path):
    """A client of an app with a long session."""
    services = app.extensions["demotape"]
    import_recording(services.db, services.store, make_recording(tmp_path, change=lengthen(COUNT)))
    return app.test_client()


def rows(text: str) -> list[str]:
    return ROW.findall(text)


@pytest.mark.parametrize("turn, first", [(1, 1), (200, 170), (400, 341), (31, 1), (32, 2)])
def test_the_page_contains_the_rows_around_the_selected_turn(client, turn, first):
    page = client.get(f"/demonstrations/rec-1?turn=t{turn}").text
    assert rows(page) == [f"t{number}" for number in range(first, first + WINDOW_TURNS)]
    current = page.index('aria-current="true"', page.index('id="turns"'))
    assert rows(page[:current])[-1] == f"t{turn}"


def test_a_short_session_is_complete(app, tmp_path):
    services = app.extensions["demotape"]
    import_recording(services.db, services.store, make_recording(tmp_path, change=lengthen(WINDOW_TURNS)))
    page = app.test_client().get("/demonstrations/rec-1").text
    assert len(rows(page)) == WINDOW_TURNS and "windowed" not in page and "aria-setsize" not in page


def test_rows_are_given_by_their_places(client):
    assert rows(client.get("/demonstrations/rec-1/turn-list?at=3-5,77,398-500").text) == [
        "t4", "t5", "t6", "t78", "t399", "t400"]
    assert rows(client.get("/demonstrations/rec-1/turn-list?at=900").text) == []
    assert len(rows(client.get("/demonstrations/rec-1/turn-list?at=0-399").text)) == turn_list.MAX_ROWS
    places = re.findall('aria-posinset="([0-9]+)" aria-setsize="([0-9]+)"',
                        client.get("/demonstrations/rec-1/turn-list?at=101").text)
    records = client.get("/demonstrations/rec-1/turn-index").json["turns"]
    starts = [index for index, record in enumerate(records) if record[1] & turn_list.STARTS_VISIT]
    visit = sum(start <= 101 for start in starts)
    assert places == [(str(visit), str(len(starts))),
                      (str(102 - starts[visit - 1]), str(starts[visit] - starts[visit - 1]))]


@pytest.mark.parametrize("at", ["", "x", "1-", "-3", "1,,2", "1e9", "9" * 9, "1-2-3", "٣"])
def test_what_is_no_list_of_places_is_refused(client, at):
    answer = client.get("/demonstrations/rec-1/turn-list", query_string={"at": at})
    assert answer.status_code == 400 and "must be places of turns" in answer.text


def test_the_index_has_every_turn_with_its_marks_and_words(client):
    answer = client.get("/demonstrations/rec-1/turn-index").json
    records = answer["turns"]
    assert answer["version"] == 1
    assert [record[0] for record in records] == [f"t{number}" for number in range(1, COUNT + 1)]
    assert [index for index, record in enumerate(records) if record[1] & turn_list.CHECK] == list(range(49, COUNT, 50))
    starts = [index for index, record in enumerate(records) if record[1] & turn_list.STARTS_VISIT]
    assert len(starts) > 60 and starts[0] == 0
    assert [index for index, record in enumerate(records) if "hundred 303" in record[2]] == [302]


@pytest.mark.parametrize("path", ["turn-list?at=0", "turn-index"])
def test_what_does_not_exist_is_not_found(client, path):
    assert client.get(f"/demonstrations/nothing/{path}").status_code == 404


def change(client, token, version: int, **fields):
    answer = client.post("/demonstrations/rec-1/edits", data={"version": version, **fields},
                         headers={"X-CSRFToken": token, "HX-Request": "true"})
    assert answer.status_code == 200, answer.text
    return answer.text


def test_an_edit_is_answered_with_the_rows_around_it_and_what_changed(client):
    token = client.get("/api/token").json["token"]
    page = change(client, token, 1, op="drop", turn="t202", selected="t202")
    assert rows(page) == [f"t{number}" for number in range(172, 232)]
    changes = re.search(r'id="turn-changes">(.*?)</script>', page)[1]
    assert changes.startswith('{"added": [["t202", 1, ') and '"first": 201, "from": 1, "removed": 1' in changes
    page = change(client, token, 2, op="drop", turns=[f"t{number}" for number in range(1, COUNT)], selected="t5")
    assert len(page) < 400_000
    page = change(client, token, 3, op="undo", selected="t5")
    assert client.get("/demonstrations/rec-1/turn-index").json["turns"][0][1] & turn_list.DROPPED == 0


@pytest.mark.parametrize("seed", range(8))
def test_changes_lead_from_the_records_before_to_those_after(app, tmp_path, monkeypatch, seed):
    """Whatever edit: marks of other turns may follow, such as quotes of what they answer, and places that moved."""
    monkeypatch.setattr(presentation, "WINDOW_TURNS", 3)
    services, rng = app.extensions["demotape"], random.Random(seed)

    def with_reply(writer):
        turns = editable_turns(writer)
        turns[5]["reply_to"] = turns[0]["id"]
        return turns

    import_recording(services.db, services.store, make_recording(tmp_path, make_turns=with_reply))
    with app.test_request_context():
        for step in range(40):
            before = review(services.db, "rec-1")
            reverts = rng.random() < 0.2
            edit = {"op": rng.choice(("undo", "redo"))} if reverts else propose(rng, before.turns, f"n{step}")
            try:
                if edit is None or add_edit(services.db, "rec-1", edit, before.row.version) == before.row.version:
                    continue
            except InputError:
                continue
            after = ReviewView(review(services.db, "rec-1"))
            old = ReviewView(before)
            records = turn_list.records(old, range(old.count), {})
            changes = turn_list.changes(old, after, {})
            assert changes["from"] == before.row.version
            records[changes["first"]:changes["first"] + changes["removed"]] = changes["added"]
            assert records == turn_list.records(after, range(after.count), {})
