"""Two people annotate on their own: who gets and sees what until both have submitted, and what becomes of it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from curator_web import create_app
from curator_web.db.models.core import Demonstration
from curator_web.demonstrations.leases import leases, visibility
from curator_web.demonstrations.library import export_sources, library, pairs
from curator_web.demonstrations.library.copies import chosen
from curator_web.demonstrations.library.labels import define
from curator_web.demonstrations.listing import deleting
from curator_web.demonstrations.listing.comments import add_comment, questions_for
from curator_web.demonstrations.listing.listing import Filter, listing
from curator_web.demonstrations.measuring.agreement import agreement
from curator_web.demonstrations.measuring.figures import figures
from curator_web.demonstrations.workflow import adjudicating, pairing
from curator_web.demonstrations.workflow.workflow import actions, change_status
from curator_web.errors import Conflict, InputError, NotAllowed, NotFound
from curator_web.notifications import reading
from tests.support.curator.curator_fixtures import make_recording, pointer
from tests.support.curator.edits import settle
from tests.support.curator.team_fixtures import ANN, BOB, LEA, VAL, WIM, add_people, give, say

COPY = "rec-1~2"
DIFFICULTY = {"name": "difficulty", "scope": "demonstration", "kind": "single", "options": ["easy", "hard"], "hint": ""}
SECONDS = {"name": "seconds", "scope": "turn", "kind": "number", "options": [], "hint": ""}


@pytest.fixture
def app(tmp_path, db_url):
    app = create_app(db_url, tmp_path / "data")
    app.tokens = add_people(app)
    services = app.extensions["demotape"]
    define(services.db, [DIFFICULTY, SECONDS], LEA)
    library.import_recording(services.db, services.store, make_recording(tmp_path), recorded_by="bob")
    yield app
    services.db.close()


@pytest.fixture
def db(app):
    return app.extensions["demotape"].db


def state(db) -> str:
    return pairs.find_pair(db, "rec-1").state


def test_the_share_chooses_always_the_same(app, db, tmp_path):
    names = [f"rec-{number}" for number in range(2000)]
    few, many = ({name for name in names if chosen("main", name, share)} for share in (20, 50))
    assert few < many and 340 < len(few) < 460 and 920 < len(many) < 1080
    assert not any(chosen("main", name, 0) for name in names) and all(chosen("main", name, 100) for name in names)
    for percent, who, error in ((101, LEA, InputError), (20, VAL, NotAllowed)):
        with pytest.raises(error):
            pairing.set_share(db, percent, who)
    assert pairing.set_share(db, 100, LEA) == 1 and pairing.set_share(db, 100, LEA) == 0
    path = make_recording(tmp_path, recording_id="rec-2")
    library.import_recording(db, app.extensions["demotape"].store, path)
    assert {each.second.id for each in pairing.listed(db, LEA)} == {COPY, "rec-2~2"}
    assert library.review(db, COPY).base == library.review(db, "rec-1").base | {"id": COPY}


@pytest.mark.parametrize("few",
                         [visibility.MAX_INLINE_IDS, 0])  # what is hidden is named in a query, or asked for in it
def test_nobody_annotates_both_or_sees_the_other(app, db, monkeypatch, few):
    monkeypatch.setattr(visibility, "MAX_INLINE_IDS", few)
    assert pairing.choose(db, ["rec-1"], LEA) == 1 and pairing.choose(db, ["rec-1"], LEA) == 0
    assert leases.take_next(db, ANN).id == "rec-1"
    say(db, "rec-1", ANN, {"op": "label", "label": "difficulty", "said": ["hard"]})
    add_comment(db, "rec-1", ANN, "Secret words", kind="question")
    assert leases.take_next(db, ANN, after="rec-1") is None  # the copy is somebody else's
    assert leases.take_next(db, BOB).id == COPY and questions_for(db, BOB) == []  # who recorded it
    assert [row.id for _, row in questions_for(db, replace(BOB, role="lead"))] == ["rec-1"]
    with pytest.raises(InputError, match="ann is the other annotator"):
        leases.assign(db, [COPY], "ann", LEA)
    client = app.test_client()
    parts = ("", "/turns", "/edits", "/comments", "/history")
    for who, name, code in (("bob", "rec-1", 404), ("ann", COPY, 404), ("val", "rec-1", 404), ("lea", COPY, 200),
                            ("ann", "rec-1", 200), ("bob", COPY, 200)):
        headers = {"Authorization": f"Bearer {app.tokens[who]}"}
        found = {client.get(f"/api/demonstrations/{name}{part}", headers=headers).status_code for part in parts}
        found |= {client.get(f"/demonstrations/{name}{part}", headers=headers).status_code
                  for part in ("", "/changes", "/timeline")}
        assert found == {code}, (who, name)
    summary = client.get(f"/api/demonstrations/{COPY}", headers={"Authorization": f"Bearer {app.tokens['bob']}"}).json
    assert summary["project"] == "main" and summary["edited"] == 0
    shown = [[row.id for row in listing(db, Filter(label="difficulty=hard"), "main", who).rows]
             for who in (ANN, BOB, LEA)]
    assert shown == [["rec-1"], [], ["rec-1"]]
    with pytest.raises(NotFound, match="unknown demonstration"):  # hidden from who annotates the other one
        say(db, COPY, ANN, {"op": "drop", "turn": "t1"})
    give(db, "rec-1", ANN)
    assert leases.take_next(db, VAL) is None
    with pytest.raises(NotAllowed, match="two people annotate"):
        give(db, "rec-1", VAL, "approved")
    with pytest.raises(NotFound, match="unknown demonstration"):
        say(db, "rec-1", VAL, {"op": "drop", "turn": "t1"})
    give(db, "rec-1", ANN, "draft")  # taken back while the other one is still at it
    give(db, "rec-1", ANN)
    assert state(db) == pairs.ANNOTATING
    with pytest.raises(NotFound):
        adjudicating.compare(db, "rec-1", VAL)
    give(db, COPY, BOB)
    assert state(db) == pairs.TO_COMPARE and "draft" not in actions(
        library.listed(db, "rec-1"), ANN, pairs.find_pair(db, "rec-1"))


def test_where_they_differ_somebody_else_settles_it(app, db):
    pairing.choose(db, ["rec-1"], LEA)
    say(db, "rec-1", ANN, {"op": "drop", "turn": "t1"}, {"op": "label", "label": "difficulty", "said": ["hard"]},
        {"op": "set_arguments", "turn": "t4", "arguments": {"text": "Anchorage"}},
        {"op": "label", "turn": "t4", "label": "seconds", "said": ["2"]})
    say(db, COPY, BOB, {"op": "label", "label": "difficulty", "said": ["easy"]}, {"op": "set_task", "task": "Fly"},
        {"op": "set_intent", "turn": "t3", "intent": "hover", "arguments": pointer(1, 2)},
        {"op": "label", "turn": "t4", "label": "seconds", "said": ["3"]})
    give(db, COPY, BOB)
    give(db, "rec-1", ANN)
    found = adjudicating.compare(db, "rec-1", VAL)
    keys = [each.key for each in found.differences]
    assert found.refused is None and keys == [
        "task//", "label//difficulty", "dropped/t1/", "intent/t3/", "arguments/t4/", "label/t4/seconds"]
    measured = {row.what: row.measured for row in agreement(db, "main").rows}
    assert (measured["intent"].items, measured["intent"].agreement) == (4, 0.75)
    assert measured["dropped"].items == 6 and measured["target"].kappa == 1
    assert measured["demonstration: difficulty"].alpha == 0  # one item on which they differ: as by chance
    choices = dict.fromkeys(keys, "first") | {"intent/t3/": "second", "task//": "second", "dropped/t1/": "second"}
    for who, chosen_now, version, error in (
            (BOB, choices, found.version, NotAllowed), (VAL, {}, found.version, InputError),
            (VAL, choices, "1.1", Conflict)):
        with pytest.raises(error):
            settle(db, "rec-1", chosen_now, version, who)
    asked = {path: {who: app.test_client().get(f"/api/{path}", headers={"Authorization": f"Bearer {app.tokens[who]}"})
                    for who in ("lea", "ann")} for path in ("pairs", "agreement")}
    assert asked["agreement"]["ann"].status_code == 403 and asked["agreement"]["lea"].json["pairs"] == 1
    assert asked["agreement"]["lea"].json["rows"][0]["agreement"] == 0.75
    assert [asked["pairs"][who].json["pairs"][0]["state"] for who in ("lea", "ann")] == ["to-compare"] * 2
    settle(db, "rec-1", choices, found.version, VAL)
    now = library.current(db, "rec-1")
    turns = {turn["id"]: turn for turn in now["turns"]}
    assert (now["task"], now["labels"], turns["t1"]["dropped"], turns["t3"]["intent"], turns["t4"]["arguments"]) == (
        "Fly", {"difficulty": ["hard"]}, False, "hover", {"text": "Anchorage"})
    row = library.listed(db, "rec-1")
    assert (row.status, row.reviewed_by, state(db)) == ("validated", "val", "settled")
    assert library.current(db, COPY)["labels"] == {"difficulty": ["easy"]}  # nothing of it is lost
    assert {row.what: row.measured for row in agreement(db, "main").rows} == measured  # of before it was settled
    with pytest.raises(NotAllowed, match="closed"):
        say(db, COPY, BOB, {"op": "drop", "turn": "t1"})
    store = app.extensions["demotape"].store
    assert [source.id for source in export_sources.exportable(db, store)] == ["rec-1"] and figures(db).total == 1
    give(db, "rec-1", LEA, "approved")


def test_nobody_is_told_of_what_they_may_not_see(app, db):
    pairing.choose(db, ["rec-1"], LEA)
    say(db, "rec-1", ANN, {"op": "set_task", "task": "Fly"})
    leases.assign(db, [COPY], "bob", LEA)
    add_comment(db, "rec-1", ANN, "See @bob and @lea", kind="question")  # bob recorded it, too
    add_comment(db, COPY, BOB, "See @ann, @wim and @lea")
    told_of = {who.name: [(each.kind, each.about) for each in reading.latest_notifications(db, who)]
               for who in (ANN, BOB, WIM, LEA)}
    task = library.listed(db, COPY).task
    assert told_of == {"ann": [], "bob": [("assigned", task)], "wim": [],
                       "lea": [("mentioned", task), ("mentioned", "Fly")]}
    client, headers = app.test_client(), {"Authorization": f"Bearer {app.tokens['bob']}"}
    assert "Fly" not in client.get("/pairs", headers=headers).text


def test_what_was_set_aside_is_open_to_all_and_no_pair_again(db):
    pairing.choose(db, ["rec-1"], LEA)
    give(db, "rec-1", ANN)
    change_status(db, "rec-1", "invalid", library.listed(db, "rec-1").version, LEA, "It is another task")
    assert state(db) == pairs.SET_ASIDE
    give(db, "rec-1", LEA, "draft")
    assert state(db) == "ended"
    give(db, "rec-1", ANN)
    assert leases.take_next(db, VAL).id == "rec-1"


def test_where_they_agree_nothing_is_asked(db):
    pairing.choose(db, ["rec-1"], LEA)
    for name, who in (("rec-1", ANN), (COPY, WIM)):
        say(db, name, who, {"op": "drop", "turn": "t1"})
        give(db, name, who)
    assert state(db) == "agreed" and leases.take_next(db, VAL).id == "rec-1"
    assert next(row.measured for row in agreement(db, "main").rows if row.what == "dropped").kappa == 1


def test_a_copy_goes_where_its_original_goes(db):
    pairing.choose(db, ["rec-1"], LEA)
    say(db, COPY, BOB, {"op": "drop", "turn": "t1"})
    batch = deleting.delete(db, ["rec-1"], LEA)
    assert leases.take_next(db, BOB) is None and pairing.listed(db, LEA) == []
    deleting.restore(db, batch, LEA)
    assert leases.take_next(db, BOB).id == COPY
    pairing.end(db, "rec-1", LEA)
    with pytest.raises(NotAllowed, match="closed"):
        say(db, COPY, BOB, {"op": "drop", "turn": "t2"})
    give(db, "rec-1", ANN)
    assert leases.take_next(db, VAL).id == "rec-1"


def test_a_lease_that_ends_hides_nothing_any_more(db):
    pairing.choose(db, ["rec-1"], LEA)

    def hides_copy() -> bool:
        with db.reading() as session:
            return COPY in session.scalars(pairs.not_theirs("ann", "main")).all()

    assert not hides_copy()
    for ends_in, hides in ((timedelta(hours=1), True), (timedelta(seconds=-1), False)):
        with db.writing() as session:
            row = session.get_one(Demonstration, COPY)
            row.lease_who, row.lease_until = "bob", datetime.now(UTC) + ends_in
        assert hides_copy() == hides
