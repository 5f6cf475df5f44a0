"""A demonstration that is split in two: each has its turns, task, status and comments; undo makes them one again."""

from dataclasses import replace

import pytest
from sqlalchemy import select

from curator_web import create_app
from curator_web.db.models.core import AuditLine, Demonstration, Edit, Facet
from curator_web.demonstrations.leases.leases import take_next
from curator_web.demonstrations.library import export_sources, library
from curator_web.demonstrations.library.recounting import recount
from curator_web.demonstrations.listing import deleting
from curator_web.demonstrations.listing.comments import add_comment, comments_of
from curator_web.demonstrations.listing.listing import Filter, matching_ids
from curator_web.demonstrations.listing.moving import move
from curator_web.demonstrations.workflow import edit_requirements, editing, pairing, split_links
from curator_web.demonstrations.workflow.workflow import change_status
from curator_web.errors import Conflict, InputError, NotAllowed
from curator_web.notifications import reading
from curator_web.users import projects
from pipeline.export import FORMATS, export
from pipeline.verify import verify
from tests.support.curator.curator_fixtures import TASK, make_recording
from tests.support.curator.edits import edit
from tests.support.curator.team_fixtures import ANN, BOB, LEA, VAL, add_people, signed_in

SPLIT = {"op": "end_before", "turn": "t4", "task": "Ask for the date"}
PART = "rec-1~p2"  # where one edit was made before
UNDO, REDO, DROP = {"op": "undo"}, {"op": "redo"}, {"op": "drop", "turn": "t3"}


@pytest.fixture
def app(tmp_path, db_url):
    app = create_app(db_url, tmp_path / "data")
    app.tokens = add_people(app)
    services = app.extensions["demotape"]
    library.import_recording(services.db, services.store, make_recording(tmp_path), recorded_by="bob")
    yield app
    services.db.close()


@pytest.fixture
def db(app):
    return app.extensions["demotape"].db


def do(db, who, *edits, name="rec-1") -> str | None:
    """Make edits one after the other; returns the part that the last one split off. Facts of the recording are not
    required of them."""
    part = None
    for change in edits:
        version = library.listed(db, name).version
        if edit_requirements.concerns_recording(change):
            editing.add_edit(db, name, change, version, who.name)
        else:
            part = edit(db, name, change, version, who).part
    return part


def ids(db, name="rec-1") -> list[str]:
    return [turn["id"] for turn in library.current(db, name)["turns"]]


def seen(db, project="main") -> dict[str, int]:
    """What the list has, with the numbers of turns."""
    with db.reading() as session:
        return {row.id: row.turns for row in session.scalars(
            select(Demonstration).where(Demonstration.project == project).order_by(Demonstration.id))}


def facets(db, name) -> set[tuple[str, str]]:
    with db.reading() as session:
        return {(row.facet, row.value) for row in session.scalars(select(Facet).where(Facet.demonstration_id == name))}


def test_both_have_their_turns_tasks_and_counts_and_undo_makes_them_one_again(db):
    whole = library.current(db, "rec-1")
    assert do(db, ANN, DROP, SPLIT) == PART
    assert ids(db) == ["t1", "t2", "t3"] and ids(db, PART) == ["t4", "t5", "t6"]
    assert seen(db) == {"rec-1": 3, PART: 3}
    first, part = library.review(db, "rec-1"), library.review(db, PART)
    assert (first.task, part.task, part.row.task) == (TASK, "Ask for the date", "Ask for the date")
    assert (part.row.recording, part.row.status, part.row.version, part.row.recorded_by) == ("rec-1", "draft", 1, "bob")
    assert (first.row.dropped, part.row.dropped, first.row.edited, part.row.edited) == (1, 0, 0, 0)
    assert [[turn["id"] for turn in each.recorded] for each in (first, part)] == [ids(db), ids(db, PART)]
    assert first.state_after == whole["turns"][3]["state"] and part.state_after is None
    assert facets(db, PART) >= {("intent", "textInput"), ("fixed", "set_task"), ("person", "ann"), ("person", "bob")}
    assert ("intent", "click") not in facets(db, PART) and ("intent", "submit") not in facets(db, "rec-1")
    assert matching_ids(db, Filter(search="date")) == [PART] and not recount(db, PART) and not recount(db, "rec-1")
    with db.reading() as session:
        who = session.scalars(select(Edit.who).where(Edit.demonstration_id == PART).order_by(Edit.number)).all()
    assert who == ["ann"] * 3  # what was done before is known of both
    do(db, ANN, UNDO)
    assert seen(db) == {"rec-1": 6} and library.current(db, "rec-1")["turns"][3:] == whole["turns"][3:]
    assert not recount(db, "rec-1")
    do(db, ANN, REDO)
    assert seen(db) == {"rec-1": 3, PART: 3} and library.review(db, PART).task == "Ask for the date"
    with db.reading() as session:
        lines = session.execute(select(AuditLine.what, AuditLine.details).where(
            AuditLine.demonstration_id == "rec-1", AuditLine.what.like("split%")).order_by(AuditLine.id)).all()
    assert [tuple(line) for line in lines] == [(what, {"part": PART}) for what in (
        "split", "split undone", "split redone")]


def test_each_goes_its_own_way_and_what_was_done_since_is_not_lost(db):
    do(db, ANN, DROP, SPLIT)
    with pytest.raises(InputError, match="nothing to undo"):
        do(db, ANN, UNDO, UNDO, name=PART)  # the task, but not where it begins
    do(db, ANN, {"op": "drop", "turn": "t5"}, name=PART)
    with pytest.raises(Conflict, match=f"{PART}, which was split off, was changed since"):
        do(db, ANN, UNDO)
    assert seen(db) == {"rec-1": 3, PART: 3}
    do(db, ANN, UNDO, name=PART)
    change_status(db, PART, "submitted", library.listed(db, PART).version, ANN)
    with pytest.raises(Conflict, match="is submitted"):
        do(db, ANN, UNDO)
    deleting.delete(db, ["rec-1"], LEA)
    assert library.listed(db, PART).status == "submitted" and ids(db, PART) == ["t4", "t5", "t6"]


def test_who_edited_before_the_split_reviews_neither(db):
    do(db, VAL, DROP, SPLIT)
    for name in ("rec-1", PART):
        row = library.listed(db, name)
        change_status(db, name, "submitted", row.version, VAL if row.lease_who else ANN)
    with pytest.raises(NotAllowed, match="before it was submitted"):
        change_status(db, PART, "validated", library.listed(db, PART).version, VAL)


def test_what_is_said_at_a_turn_goes_with_it(db):
    add_comment(db, "rec-1", LEA, "Of all")
    said = add_comment(db, "rec-1", LEA, "Which date?", turn="t5", kind="question")
    add_comment(db, "rec-1", BOB, "Any", answers=said.id)
    do(db, ANN, DROP, SPLIT)
    assert [each.text for each in comments_of(db, "rec-1")] == ["Of all"]
    assert [each.text for each in comments_of(db, PART)] == ["Which date?", "Any"]
    assert (library.listed(db, "rec-1").open_comments, library.listed(db, PART).open_comments) == (1, 1)
    told = next(each for each in reading.latest_notifications(db, BOB) if each.row.comment == said.id)
    assert told.row.demonstration_id == PART and told.turn == "t5"
    add_comment(db, PART, LEA, "Later", turn="t6")
    do(db, ANN, UNDO)
    assert len(comments_of(db, "rec-1")) == 4 and library.listed(db, "rec-1").open_comments == 3
    do(db, ANN, REDO)
    assert [each.text for each in comments_of(db, PART)] == ["Which date?", "Any", "Later"]


def test_parts_are_split_again_and_are_taken_back_from_the_last(db):
    do(db, ANN, DROP, SPLIT)
    third = do(db, ANN, {"op": "end_before", "turn": "t6"}, name=PART)
    assert third == f"{PART}~p4" and seen(db) == {"rec-1": 3, PART: 2, third: 1}
    assert library.listed(db, third).task == "Ask for the date"
    with pytest.raises(Conflict, match="was changed since"):
        do(db, ANN, UNDO)
    earlier = do(db, ANN, {"op": "end_before", "turn": "t2"})
    assert ids(db, earlier) == ["t2", "t3"] and ids(db) == ["t1"]
    assert library.review(db, earlier).state_after == library.current(db, PART)["turns"][0]["state"]
    do(db, ANN, UNDO)
    do(db, ANN, UNDO, name=PART)
    do(db, ANN, UNDO)
    assert seen(db) == {"rec-1": 6}
    again = do(db, ANN, {"op": "end_before", "turn": "t5"})  # not the one that was set aside
    assert again not in (PART, earlier) and seen(db) == {"rec-1": 4, again: 2}
    assert split_links.id_of("r" * 100, 7) == split_links.id_of("r" * 100, 7) != split_links.id_of("r" * 99 + "s", 7)
    assert len(split_links.id_of("r" * 100, 7)) <= 100


@pytest.mark.parametrize("wrong", [SPLIT | {"turn": "t1"}, SPLIT | {"turn": "t9"}, {"op": "begin_at", "turn": "t3",
                                                                                   "other": "rec-2"}])
def test_what_cannot_be_split_is_refused(db, wrong):
    with pytest.raises(InputError, match="field"):
        do(db, ANN, wrong)
    assert seen(db) == {"rec-1": 6}


def test_two_annotations_are_of_whole_recordings(db):
    pairing.choose(db, ["rec-1"], LEA)
    take_next(db, ANN)
    with pytest.raises(Conflict, match="two people annotate"):
        do(db, ANN, SPLIT)
    pairing.end(db, "rec-1", LEA)
    part = do(db, ANN, SPLIT)
    with pytest.raises(InputError, match="was split"):
        pairing.choose(db, [part], LEA)


def test_the_recording_is_seen_by_the_members_of_either_project(app, db):
    do(db, ANN, DROP, SPLIT)
    projects.add(db, "b", "B", LEA)
    projects.set_member(db, "b", "val", "validator")
    move(db, [PART], "b", LEA)
    with pytest.raises(Conflict, match="another project"):
        do(db, ANN, UNDO)
    picture = library.current(db, PART)["turns"][0]["state"]["screenshot"]
    for who in ("ann", "val"):
        assert signed_in(app, who).get(f"/blobs/rec-1/{picture}").status_code == 200
    move(db, [PART], "main", replace(LEA, project="b"))
    do(db, ANN, UNDO)  # a part that is set aside is in no project
    assert signed_in(app, "bob").get(f"/blobs/rec-1/{picture}").status_code == 200


def test_the_api_splits_names_the_part_and_does_it_once(app, db):
    client, api = app.test_client(), {"Authorization": f"Bearer {app.tokens['ann']}"}
    body = {"version": 1, "edit": SPLIT, "key": "split-1"}
    for _ in range(2):
        answer = client.post("/api/demonstrations/rec-1/edits", json=body, headers=api)
        assert (answer.status_code, answer.json) == (201, {"version": 2, "part": "rec-1~p1"})
    assert seen(db) == {"rec-1": 3, "rec-1~p1": 3}
    assert client.get("/api/demonstrations/rec-1~p1/turns", headers=api).json["id"] == "rec-1~p1"
    plain = client.post("/api/demonstrations/rec-1/edits", json={"version": 2, "edit": DROP}, headers=api)
    assert plain.json == {"version": 3}
    log = client.get("/api/demonstrations/rec-1~p1/edits", headers=api).json
    assert [line["edit"]["op"] for line in log] == ["begin_at", "set_task"] and log[0]["edit"]["other"] == "rec-1"


@pytest.mark.parametrize("db_url", ["sqlite"], indirect=True)  # exports ask the database as for any other
def test_both_are_exported_in_every_format(app, db, tmp_path):
    do(db, ANN, {"op": "add", "turn": "said", "after": "t5", "added": {
        "id": "said", "type": "chat", "timestamp": 5.0, "speaker": "navigator", "utterance": "Any", "reply_to": "t1"}},
       SPLIT)
    sources = list(export_sources.exportable(db, app.extensions["demotape"].store))
    for name in FORMATS:
        summary = export(sources, tmp_path / name, name)
        assert summary.demonstrations == 2 and not summary.damaged and verify(tmp_path / name) == []
    told = list((tmp_path / "weblinx").rglob("demotape.json"))
    assert len(told) == 2 and [verify(path) for path in told] == [[], []]
