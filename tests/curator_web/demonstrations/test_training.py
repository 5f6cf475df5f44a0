"""Training: who gets it, what is hidden meanwhile, how answers are held against the known ones, what leads decide."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from curator_web import create_app
from curator_web.db.models.core import AuditLine
from curator_web.demonstrations.leases import leases, training_attempts
from curator_web.demonstrations.library import export_sources, library
from curator_web.demonstrations.library.labels import define
from curator_web.demonstrations.listing import deleting, moving
from curator_web.demonstrations.listing.comments import add_comment
from curator_web.demonstrations.listing.listing import Filter, listing
from curator_web.demonstrations.measuring import differences
from curator_web.demonstrations.workflow import pairing, training
from curator_web.demonstrations.workflow.workflow import actions
from curator_web.errors import Conflict, InputError, NotAllowed, NotFound
from curator_web.notifications import reading
from curator_web.users import project_settings, projects, renaming
from tests.support.curator.curator_fixtures import make_recording, pointer
from tests.support.curator.team_fixtures import ANN, BOB, LEA, VAL, add_people, give, say

DIFFICULTY = {"name": "difficulty", "scope": "demonstration", "kind": "single", "options": ["easy", "hard"], "hint": ""}
NOTE = {"name": "note", "scope": "turn", "kind": "text", "options": [], "hint": ""}
KNOWN = ({"op": "drop", "turn": "t1"}, {"op": "label", "label": "difficulty", "said": ["hard"]},
         {"op": "label", "turn": "t4", "label": "note", "said": ["seen"]},
         {"op": "set_intent", "turn": "t3", "intent": "hover", "arguments": pointer(1, 2)})


@pytest.fixture
def app(tmp_path, db_url):
    """With rec-1, of which KNOWN is the approved answer, rec-2, approved as it was recorded, and rec-3, a draft."""
    app = create_app(db_url, tmp_path / "data")
    app.tokens = add_people(app)
    services = app.extensions["demotape"]
    define(services.db, [DIFFICULTY, NOTE], LEA)
    for name in ("rec-1", "rec-2", "rec-3"):
        library.import_recording(services.db, services.store, make_recording(tmp_path, recording_id=name))
    say(services.db, "rec-1", VAL, *KNOWN)
    for name in ("rec-1", "rec-2"):
        give(services.db, name, VAL, "submitted")
        give(services.db, name, LEA, "approved")
    yield app
    services.db.close()


@pytest.fixture
def db(app):
    return app.extensions["demotape"].db


def first(db, **more) -> None:
    with db.writing() as session:
        project_settings.change(session, LEA, {"training_first": True} | more)


def states(db) -> dict[str, str]:
    return {each.who: each.state for each in training.overview(db, LEA).people}


def test_what_training_can_be(db):
    with pytest.raises(NotAllowed):
        training.choose(db, ["rec-1"], VAL)
    for ids, error in ((["rec-3"], "rec-3 is draft"), ([], "1 to"), (["rec-9"], "unknown demonstration 'rec-9'")):
        with pytest.raises((InputError, NotFound), match=error):
            training.choose(db, ids, LEA)
    assert training.choose(db, ["rec-1", "rec-2"], LEA) == 2 and training.choose(db, ["rec-1"], LEA) == 0
    assert [row.id for row in training.overview(db, LEA).demonstrations] == ["rec-1", "rec-2"]
    assert training.overview(db, ANN).demonstrations == [] and states(db) == {"ann": "to-do", "bob": "to-do"}
    give(db, "rec-1", LEA, "draft")
    with pytest.raises(Conflict, match="training"):
        say(db, "rec-1", LEA, {"op": "end_before", "turn": "t3"})
    assert [each.standing.due for each in training.overview(db, LEA).people] == [["rec-2"]] * 2  # not settled now
    assert training.take_out(db, ["rec-1", "rec-3"], LEA) == 1


def test_new_annotators_get_it_first_and_see_no_answer(app, db):
    training.choose(db, ["rec-1", "rec-2"], LEA)
    assert leases.take_next(db, ANN).id == "rec-3"  # training first is off, so all is as usual
    first(db)
    name = leases.take_next(db, ANN, after="rec-3").id
    assert name == "rec-1~t1" and leases.take_next(db, ANN).id == name and leases.take_next(db, BOB).id == "rec-1~t2"
    assert leases.take_next(db, VAL) is None or leases.take_next(db, VAL).id == "rec-3"  # who reviews is not trained
    assert library.review(db, name).base == library.review(db, "rec-1").base | {"id": name}
    add_comment(db, name, ANN, "Is it that, @bob and @lea?")
    assert [len(reading.latest_notifications(db, who)) for who in (BOB, LEA)] == [0, 1]
    client, addresses = app.test_client(), ("/api/demonstrations/{}/turns", "/api/demonstrations/{}/comments",
                                            "/demonstrations/{}/changes")
    for who, each, code in (("ann", "rec-1", 404), ("bob", name, 404), ("val", name, 404), ("ann", name, 200),
                            ("ann", "rec-2", 404), ("val", "rec-1", 200), ("lea", name, 200), ("ann", "rec-3", 200)):
        headers = {"Authorization": f"Bearer {app.tokens[who]}"}
        found = {client.get(address.format(each), headers=headers).status_code for address in addresses}
        assert found == {code}, (who, each)
    assert client.get(f"/api/demonstrations/{name}/training",
                      headers={"Authorization": f"Bearer {app.tokens['ann']}"}).status_code == 404
    for who, error, reason in ((LEA, NotAllowed, "answer of ann"), (BOB, NotFound, "unknown demonstration")):
        with pytest.raises(error, match=reason):
            say(db, name, who, {"op": "drop", "turn": "t1"})
    with pytest.raises(InputError, match="a training answer"):
        leases.assign(db, [name], "bob", LEA)
    with pytest.raises(Conflict, match="training"):
        say(db, name, ANN, {"op": "end_before", "turn": "t3"})
    with pytest.raises(NotAllowed):
        give(db, name, ANN, "approved")
    assert actions(library.listed(db, name), LEA, attempt=training_attempts.find_attempt(db, name)) == ()
    with pytest.raises(InputError):
        pairing.choose(db, ["rec-1"], LEA)


def test_an_answer_is_held_against_the_known_one(app, db):
    training.choose(db, ["rec-1", "rec-2"], LEA)
    first(db, review_steps=1)
    before = library.current(db, "rec-1")
    name = leases.take_next(db, ANN).id
    say(db, name, ANN, KNOWN[0], KNOWN[1] | {"said": ["easy"]}, {"op": "drop", "turn": "t5"})
    give(db, name, ANN)
    assert library.listed(db, name).status == "submitted"  # no review step approves it
    found = training_attempts.compare(db, name, ANN)
    assert [(each.what, each.turn, differences.counts(each, found.labels)) for each in found.differences] == [
        ("label", None, True), ("intent", "t3", True), ("label", "t4", False), ("dropped", "t5", True)]
    assert (found.tried.agreed, found.tried.points, found.standing.share) == (1, 4, 0.25)
    with pytest.raises(NotAllowed, match="seen the known answer"):
        say(db, name, ANN, {"op": "drop", "turn": "t2"})
    with pytest.raises(NotAllowed, match="seen the known answer"):
        give(db, name, ANN, "draft")
    client = app.test_client()
    asked = {who: client.get(f"/api/demonstrations/{name}/training",
                             headers={"Authorization": f"Bearer {app.tokens[who]}"}) for who in ("ann", "bob", "lea")}
    assert [answer.status_code for answer in asked.values()] == [200, 404, 200]
    assert asked["ann"].json["differences"][0] == {
        "what": "label", "turn": None, "name": "difficulty", "counts": True, "known": ["hard"], "given": ["easy"]}
    assert client.get("/api/demonstrations/rec-1/turns",  # which they have answered now
                      headers={"Authorization": f"Bearer {app.tokens['ann']}"}).json == before
    # What nobody changed is no point: only so is nothing the right answer.
    second = leases.take_next(db, ANN, after=name).id
    assert second == "rec-2~t1"
    give(db, second, ANN)
    assert training_attempts.compare(db, second, ANN).tried.points == 0 and states(db)["ann"] == "below"
    assert leases.take_next(db, ANN) is None and training.waits(db, ANN)
    told = client.get("/api/training", headers={"Authorization": f"Bearer {app.tokens['lea']}"}).json
    [ann, bob] = told["people"]
    assert (told["demonstrations"], told["mark"], ann["done"], ann["of"], ann["share"], bob["done"]) == (
        ["rec-1", "rec-2"], 0.8, 2, 2, 0.25, 0)
    rows = {row["what"]: row for row in ann["rows"]}
    assert (rows["dropped"]["items"], rows["demonstration: difficulty"]["agreement"]) == (12, 0.0)
    own = client.get("/api/training", headers={"Authorization": f"Bearer {app.tokens['ann']}"}).json
    assert own["demonstrations"] == [] and [each["who"] for each in own["people"]] == ["ann"]
    services = app.extensions["demotape"]
    exported = {each.id: each.demonstration for each in export_sources.exportable(db, services.store)}
    assert sorted(exported) == ["rec-1", "rec-2", "rec-3"]
    assert [turn["id"] for turn in exported["rec-1"]["turns"] if turn["dropped"]] == ["t1"]
    assert {row.id for row in listing(db, Filter(), "main").rows} == {"rec-1", "rec-2", "rec-3"}


def test_leads_give_it_again_or_let_through(app, db):
    training.choose(db, ["rec-1"], LEA)
    first(db)
    name = leases.take_next(db, ANN).id
    give(db, name, ANN)
    assert states(db)["ann"] == "below"
    for who, decision, account, error in (("ann", "again", VAL, NotAllowed), ("val", "again", LEA, NotFound),
                                          ("ann", "never", LEA, InputError)):
        with pytest.raises(error):
            training.decide(db, who, decision, account)
    training.decide(db, "ann", "again", LEA)
    assert states(db)["ann"] == "to-do"
    with db.reading() as session:
        [line] = session.scalars(select(AuditLine).where(AuditLine.what == "training again"))
    assert line.details == {"project": "main", "of": "ann", "answers": {"rec-1": [0, 3]}}
    with pytest.raises(NotFound):  # the known answer is hidden again
        training_attempts.compare(db, name, ANN)
    assert training_attempts.compare(db, name, LEA).tried.points == 3
    again = leases.take_next(db, ANN).id
    assert again == "rec-1~t2"
    say(db, again, ANN, *KNOWN)
    give(db, again, ANN)
    assert states(db) == {"ann": "passed", "bob": "to-do"} and leases.take_next(db, ANN).id == "rec-3"
    training.choose(db, ["rec-2"], LEA)  # who has passed need not again
    assert states(db)["ann"] == "passed" and leases.take_next(db, ANN).id == "rec-3"
    begun = leases.take_next(db, BOB).id
    training.decide(db, "bob", "through", LEA)
    assert states(db)["bob"] == "let-through"
    with pytest.raises(NotAllowed, match="no longer"):
        give(db, begun, BOB)
    give(db, "rec-3", ANN)
    assert leases.take_next(db, BOB) is None and not training.waits(db, BOB)
    renaming.rename(db, "ann", "anna")
    assert states(db) == {"anna": "passed", "bob": "let-through"}


def test_who_worked_on_it_knows_the_answer(db):
    give(db, "rec-3", ANN)
    give(db, "rec-3", LEA, "approved")
    training.choose(db, ["rec-3"], LEA)
    first(db)
    assert states(db) == {"ann": "nothing", "bob": "to-do"} and leases.take_next(db, ANN) is None
    assert not training.waits(db, ANN)


def test_it_goes_where_the_demonstration_goes(db):
    training.choose(db, ["rec-1", "rec-2"], LEA)
    first(db, pass_mark=0)
    name = leases.take_next(db, ANN).id
    batch = deleting.delete(db, ["rec-1"], LEA)
    assert library.listed(db, name).project == "deleted" or library.listed(db, name).home != "main"
    assert leases.take_next(db, ANN).id == "rec-2~t1"
    deleting.restore(db, batch, LEA)
    assert library.listed(db, name).home == "main" and leases.take_next(db, ANN, after="rec-2~t1").id == name
    projects.add(db, "other", "Other", LEA)
    moving.move(db, ["rec-1"], "other", LEA)
    assert library.listed(db, name).home == "other" and not training.is_training(db, "rec-1")
    with pytest.raises(NotAllowed, match="no longer counted"):
        give(db, name, ANN)
    give(db, "rec-2~t1", ANN)
    assert states(db)["ann"] == "passed"


def test_asked_at_once_nobody_gets_two_of_the_same(db):
    training.choose(db, ["rec-1"], LEA)
    first(db)
    with ThreadPoolExecutor(8) as pool:
        got = [each.id for each in pool.map(lambda who: leases.take_next(db, who), (ANN, BOB) * 4)]
    assert {got[0], got[1]} == {"rec-1~t1", "rec-1~t2"} and got == got[:2] * 4
