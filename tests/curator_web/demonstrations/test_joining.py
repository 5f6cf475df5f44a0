"""Two parts of a session are joined again, whatever was done to both meanwhile; undo brings both back."""

import pytest
from sqlalchemy import select

from curator_web.db.models.core import AuditLine, Demonstration, Edit
from curator_web.demonstrations.leases import leases
from curator_web.demonstrations.library import export_sources, labels, library
from curator_web.demonstrations.library.recounting import recount
from curator_web.demonstrations.library.replay_proofs import store_proof
from curator_web.demonstrations.listing import deleting
from curator_web.demonstrations.listing.comments import add_comment, comments_of
from curator_web.demonstrations.listing.listing import Filter, matching_ids
from curator_web.demonstrations.listing.moving import move
from curator_web.demonstrations.workflow import pairing, split_links
from curator_web.demonstrations.workflow.workflow import change_status
from curator_web.errors import Conflict, InputError, NotAllowed
from curator_web.users import projects
from pipeline.export import export
from pipeline.verify import verify
from schemas.formats.outcome import FORMAT
from tests.curator_web.demonstrations.test_parts import app, db, facets, ids, seen  # noqa: F401
from tests.curator_web.demonstrations.test_parts import do as work
from tests.support.curator.curator_fixtures import TASK
from tests.support.curator.proofs import proof_of
from tests.support.curator.team_fixtures import ANN, BOB, LEA, VAL

SPLIT = {"op": "end_before", "turn": "t4", "task": "Ask for the date"}
PART = "rec-1~p1"
JOIN = {"op": "join", "other": PART}
UNDO, REDO = {"op": "undo"}, {"op": "redo"}


def do(db, who, *edits, name="rec-1") -> str | None:  # noqa: F811
    """Make edits one after the other, then leave it to others; returns the part that the last one split off."""
    part = work(db, who, *edits, name=name)
    with db.writing() as session:
        leases.give_back(session.get_one(Demonstration, name))
    return part


def drop(turn: str) -> dict[str, str]:
    return {"op": "drop", "turn": turn}


def test_what_was_done_to_both_stays_and_undo_brings_both_back(db):  # noqa: F811
    do(db, BOB, SPLIT)
    do(db, ANN, drop("t2"))
    do(db, VAL, drop("t5"), {"op": "move", "turn": "t6", "after": None}, UNDO, REDO, name=PART)
    halves = [library.current(db, name) for name in ("rec-1", PART)]
    do(db, LEA, JOIN)
    whole = library.current(db, "rec-1")
    assert whole["turns"] == halves[0]["turns"] + halves[1]["turns"] and whole["task"] == TASK
    assert ids(db) == ["t1", "t2", "t3", "t6", "t4", "t5"] and seen(db) == {"rec-1": 6}
    row = library.listed(db, "rec-1")
    assert (row.dropped, row.edited) == (2, 1)
    assert {("person", who) for who in ("ann", "val", "lea", "bob")} <= facets(db, "rec-1")
    assert ("fixed", "move") in facets(db, "rec-1") and not recount(db, "rec-1")
    assert matching_ids(db, Filter(search="date")) == ["rec-1"]  # by a turn, no longer by the task
    with db.reading() as session:
        made = [(edit.content["op"], edit.who) for edit in session.scalars(
            select(Edit).where(Edit.demonstration_id == "rec-1").order_by(Edit.number))]
    assert made == [("end_before", "bob"), ("drop", "ann"), ("join", "lea"), ("set_task", "bob"), ("drop", "val"),
                    ("move", "val")]
    do(db, LEA, UNDO)
    assert seen(db) == {"rec-1": 3, PART: 3}
    assert [library.current(db, name) for name in ("rec-1", PART)] == halves
    assert matching_ids(db, Filter(search="date")) == [PART] and not recount(db, PART)
    do(db, LEA, REDO)
    assert library.current(db, "rec-1") == whole and seen(db) == {"rec-1": 6}
    do(db, LEA, drop("t6"), UNDO, UNDO, UNDO)
    assert ids(db) == ["t1", "t2", "t3"] and library.current(db, "rec-1")["turns"][1]["dropped"] is False
    with db.reading() as session:
        lines = session.scalars(select(AuditLine).where(AuditLine.what.like("join%")).order_by(AuditLine.id)).all()
    assert [(line.what, line.details["part"]) for line in lines] == [
        (what, PART) for what in ("joined", "join undone", "join redone", "join undone")]


def test_what_was_changed_after_the_undo_is_not_lost_by_redo(db):  # noqa: F811
    do(db, ANN, SPLIT, JOIN, UNDO)
    do(db, ANN, drop("t5"), name=PART)
    with pytest.raises(Conflict, match=f"{PART} was changed in the meantime"):
        do(db, ANN, REDO)
    do(db, ANN, JOIN | {"task": "Book and ask"})
    assert library.current(db, "rec-1")["turns"][4]["dropped"] and library.listed(db, "rec-1").task == "Book and ask"
    do(db, ANN, {"op": "end_before", "turn": "t5"})
    assert seen(db) == {"rec-1": 4, "rec-1~p8": 2}


def test_comments_come_along_and_go_back_to_where_they_were(db):  # noqa: F811
    do(db, ANN, SPLIT)
    add_comment(db, "rec-1", LEA, "Of the first")
    said = add_comment(db, PART, LEA, "Of the second")
    add_comment(db, PART, BOB, "So it is", answers=said.id)
    add_comment(db, PART, LEA, "At a turn", turn="t5")
    do(db, ANN, JOIN)
    assert len(comments_of(db, "rec-1")) == 4 and library.listed(db, "rec-1").open_comments == 3
    add_comment(db, "rec-1", LEA, "Of both")
    add_comment(db, "rec-1", LEA, "Later", turn="t6")
    do(db, ANN, UNDO)
    assert [each.text for each in comments_of(db, "rec-1")] == ["Of the first", "Of both"]
    assert {each.text for each in comments_of(db, PART)} == {"Of the second", "So it is", "At a turn", "Later"}
    assert (library.listed(db, "rec-1").open_comments, library.listed(db, PART).open_comments) == (2, 3)


def test_of_more_parts_neighbours_are_joined_in_any_order(db):  # noqa: F811
    last = do(db, ANN, {"op": "end_before", "turn": "t5"})
    middle = do(db, ANN, {"op": "end_before", "turn": "t3"})
    assert seen(db) == {"rec-1": 2, last: 2, middle: 2}
    with pytest.raises(InputError, match=f"'{last}' does not follow this demonstration; {middle} does"):
        do(db, ANN, {"op": "join", "other": last})
    with pytest.raises(InputError, match="cannot be joined"):
        do(db, ANN, {"op": "join", "other": middle}, name=last)
    found = [split_links.neighbours(db, library.review(db, name)) for name in ("rec-1", middle, last)]
    assert [(each.before and each.before.id, each.after and each.after.id) for each in found] == [
        (None, middle), ("rec-1", last), (middle, None)]
    do(db, ANN, drop("t6"), name=last)
    do(db, ANN, {"op": "join", "other": last}, drop("t4"), name=middle)
    assert ids(db, middle) == ["t3", "t4", "t5", "t6"] and seen(db) == {"rec-1": 2, middle: 4}
    newest = do(db, ANN, {"op": "end_before", "turn": "t6"}, name=middle)
    do(db, ANN, {"op": "join", "other": middle})
    assert seen(db) == {"rec-1": 5, newest: 1}
    assert split_links.neighbours(db, library.review(db, newest)).before.id == "rec-1"
    do(db, ANN, {"op": "join", "other": newest})
    assert ids(db) == ["t1", "t2", "t3", "t4", "t5", "t6"] and seen(db) == {"rec-1": 6}
    dropped = [turn["id"] for turn in library.current(db, "rec-1")["turns"] if turn["dropped"]]
    assert dropped == ["t4", "t6"] and not recount(db, "rec-1")
    assert not split_links.is_part("rec-1", library.review(db, "rec-1").edits)
    do(db, ANN, UNDO, UNDO)
    assert seen(db) == {"rec-1": 2, middle: 3, newest: 1} and ids(db, middle) == ["t3", "t4", "t5"]
    do(db, ANN, UNDO, UNDO, name=middle)
    do(db, ANN, UNDO, name=middle)
    assert seen(db) == {"rec-1": 2, middle: 2, last: 2}


LABELLED = {"op": "label", "label": "Good", "said": ["yes"]}
CHECKS = {"op": "set_outcome", "outcome": {
    "format": FORMAT, "version": 1, "checks": [{"kind": "url", "match": {"includes": [["https://air.example/"]]}}]}}


def test_what_cannot_be_one_is_refused_with_the_reason(db):  # noqa: F811
    for wrong in (JOIN, JOIN | {"edits": 3}, JOIN | {"outcome": None}, SPLIT | {"other": "rec-2"}, {"op": "join"}):
        with pytest.raises(InputError, match="field|other"):
            do(db, ANN, wrong)
    do(db, ANN, SPLIT)

    def refused(reason, who=ANN):
        with pytest.raises(Conflict, match=reason):
            do(db, who, JOIN)

    work(db, BOB, drop("t5"), name=PART)
    refused("it is locked by bob")
    change_status(db, PART, "submitted", library.listed(db, PART).version, BOB)
    refused("its status is submitted, the status of this one is draft")
    change_status(db, "rec-1", "submitted", library.listed(db, "rec-1").version, ANN)
    refused("it was submitted by bob, this one by ann", VAL)
    for name, who in (("rec-1", ANN), (PART, BOB)):
        change_status(db, name, "draft", library.listed(db, name).version, who)
    refused("it is assigned to bob", VAL)
    leases.assign(db, [PART], None, LEA)
    do(db, VAL, CHECKS)
    refused("outcome checks, whose end", VAL)
    do(db, VAL, UNDO)
    do(db, VAL, {"op": "add", "turn": "t6", "after": "t1", "added": {
        "id": "t6", "type": "chat", "timestamp": 0.0, "speaker": "navigator", "utterance": "Hm"}})
    refused("both have a turn 't6'", VAL)
    do(db, VAL, UNDO)
    projects.add(db, "b", "B", LEA)
    move(db, [PART], "b", LEA)
    refused("another project", VAL)
    with db.writing() as session:
        session.get_one(Demonstration, PART).project = "main"
    batch = deleting.delete(db, [PART], LEA)
    refused("was deleted", VAL)
    deleting.restore(db, batch, LEA)
    do(db, VAL, JOIN)
    assert seen(db) == {"rec-1": 6}


def test_a_label_that_differs_is_named(app, db):  # noqa: F811
    labels.define(db, [{"name": "Good", "scope": "demonstration", "kind": "single", "options": ["yes"]}], LEA)
    do(db, ANN, SPLIT, LABELLED)
    with pytest.raises(Conflict, match="its label 'Good' is 'nothing', the label of this one is 'yes'"):
        do(db, ANN, JOIN)
    do(db, ANN, LABELLED, name=PART)
    do(db, ANN, JOIN)
    assert library.review(db, "rec-1").labels == {"Good": ["yes"]}


def test_the_outcome_is_that_of_the_end_that_it_has_now(db):  # noqa: F811
    do(db, ANN, SPLIT)
    do(db, ANN, CHECKS, name=PART)
    do(db, ANN, JOIN)
    assert library.review(db, "rec-1").outcome == CHECKS["outcome"]
    do(db, ANN, UNDO)
    assert library.review(db, "rec-1").outcome is None and library.review(db, PART).outcome == CHECKS["outcome"]


def test_who_edited_the_part_first_does_not_review_the_whole(db):  # noqa: F811
    do(db, ANN, SPLIT)
    do(db, VAL, drop("t5"), name=PART)
    change_status(db, "rec-1", "submitted", library.listed(db, "rec-1").version, ANN)
    change_status(db, "rec-1", "draft", library.listed(db, "rec-1").version, ANN)
    do(db, ANN, JOIN)
    change_status(db, "rec-1", "submitted", library.listed(db, "rec-1").version, ANN)
    with pytest.raises(NotAllowed, match="before it was submitted"):
        change_status(db, "rec-1", "validated", library.listed(db, "rec-1").version, VAL)


def test_a_proof_is_of_what_was_run_and_counts_again_after_undo(db):  # noqa: F811
    do(db, ANN, SPLIT)
    with db.writing() as session:
        found = library.load(session, "rec-1")
        store_proof(session, found.row, found.turns, proof_of(found.current()), None)
    assert library.listed(db, "rec-1").proof == "same"
    do(db, ANN, JOIN)
    assert library.listed(db, "rec-1").proof == "changed"
    do(db, ANN, UNDO)
    assert library.listed(db, "rec-1").proof == "same"


def test_a_join_is_not_taken_back_while_two_people_annotate_the_whole(db):  # noqa: F811
    do(db, ANN, SPLIT, JOIN)
    pairing.choose(db, ["rec-1"], LEA)
    with pytest.raises(Conflict, match="two people annotate"):
        do(db, ANN, UNDO)


def test_the_api_joins_once_and_the_log_tells_all(app, db):  # noqa: F811
    client, api = app.test_client(), {"Authorization": f"Bearer {app.tokens['ann']}"}
    do(db, ANN, SPLIT)
    body = {"version": 2, "edit": JOIN | {"task": TASK}, "key": "join-1"}
    for _ in range(2):
        answer = client.post("/api/demonstrations/rec-1/edits", json=body, headers=api)
        assert (answer.status_code, answer.json) == (201, {"version": 3})
    other = client.post("/api/demonstrations/rec-1/edits", json=body | {"edit": JOIN | {"other": "x"}}, headers=api)
    assert other.status_code == 409 and "nother edit" in other.json["message"]
    log = client.get("/api/demonstrations/rec-1/edits", headers=api).json
    assert [line["edit"]["op"] for line in log] == ["end_before", "join", "set_task"]
    assert log[1]["edit"] == JOIN | {"edits": 1, "outcome": None}


@pytest.mark.parametrize("db_url", ["sqlite"], indirect=True)  # exports ask the database as for any other
def test_the_joined_one_is_exported_as_one(app, db, tmp_path):  # noqa: F811
    do(db, ANN, SPLIT)
    do(db, BOB, drop("t5"), name=PART)
    do(db, ANN, JOIN)
    (source,) = export_sources.exportable(db, app.extensions["demotape"].store)
    assert len(source.review.annotators) == 2
    for name in ("weblinx", "parquet"):
        summary = export([source], tmp_path / name, name)
        assert summary.demonstrations == 1 and not summary.damaged and verify(tmp_path / name) == []
