"""Answers to a project's questions: stored for each person, hidden from others, required before submitting."""

import pytest
from sqlalchemy import select

from curator_web.db.models.core import Demonstration
from curator_web.db.models.scheme_models import Answer
from curator_web.demonstrations.leases.leases import give_back
from curator_web.demonstrations.library.library import import_recording, listed
from curator_web.demonstrations.schemes import versions
from curator_web.demonstrations.schemes.answers import visible_answers
from curator_web.demonstrations.workflow.answering import answer
from curator_web.demonstrations.workflow.pairing import choose
from curator_web.errors import Conflict, InputError, NotAllowed, NotFound
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.edits import edit
from tests.support.curator.team_fixtures import ANN, BOB, LEA, VAL, csrf, signed_in

from .test_workflow import app, db, fill, go, row

__all__ = ["app", "db", "fill"]
pytestmark = pytest.mark.postgresql
SCHEME = """
questions:
  - {name: success, question: Done, scope: demonstration, kind: choice, options: [done, failed], required: true}
  - {name: causes, question: Why, scope: demonstration, kind: several, options: [a, b], when: {success: failed}}
  - {name: clear, question: Clear, scope: turn, kind: scale, minimum: 1, maximum: 5, intents: [click, textInput]}
  - {name: note, question: Note, scope: demonstration, kind: text}
"""
ALL_CLEAR = SCHEME.replace("intents: [click, textInput]}", "intents: [click, textInput], required: true}")
CLICK = "t3"


@pytest.fixture
def asking(db, fill):  # noqa: F811
    """Two demonstrations in a project with a scheme."""
    fill(2)
    versions.save(db, SCHEME, LEA)


def say(db, account, question, value, name="rec-1", turn=""):  # noqa: F811
    answer(db, name, [{"question": question, "value": value, "turn": turn}], account)


def seen(db, account, name="rec-1") -> set[tuple]:  # noqa: F811
    with db.reading() as session:
        return {(each.who, each.question, each.turn, str(each.value))
                for each in visible_answers(session, listed(db, name), account)}


def independent(db, question) -> dict[str, bool]:  # noqa: F811
    with db.reading() as session:
        return dict(session.execute(select(Answer.who, Answer.independent).where(Answer.question == question)).all())


def test_answers_are_stored_for_each_person_and_changed(db, asking):  # noqa: F811
    say(db, ANN, "success", "failed")
    say(db, ANN, "causes", ["b", "a"])
    say(db, ANN, "clear", 4, turn=CLICK)
    say(db, ANN, "clear", 5, turn=CLICK)
    say(db, ANN, "note", " Fine ")
    say(db, ANN, "note", "")
    assert seen(db, ANN) == {("ann", "success", "", "failed"), ("ann", "causes", "", "['a', 'b']"),
                             ("ann", "clear", CLICK, "5")}
    say(db, ANN, "success", "done")  # the causes are not asked any more, and stay for the case that they are again
    assert len(seen(db, ANN)) == 3


@pytest.mark.parametrize("question, value, turn, message", [
    ("colour", "red", "", "unknown question 'colour'"), ("success", "perhaps", "", "unknown option 'perhaps'"),
    ("causes", ["a"], "", "question causes: does not apply here"), ("clear", 3, "", "does not apply here"),
    ("clear", 9, CLICK, "whole number from 1 to 5"), ("success", "done", CLICK, "does not apply here"),
    ("clear", 3, "t1", "does not apply here"), ("clear", 3, "t99", "unknown turn 't99'")])
def test_what_cannot_be_answered_is_refused_as_a_whole(db, asking, question, value, turn, message):  # noqa: F811
    valid = {"question": "note", "value": "x"}
    with pytest.raises(InputError, match=message):
        answer(db, "rec-1", [valid, {"question": question, "value": value, "turn": turn}], ANN)
    assert seen(db, ANN) == set()


def test_spans_are_of_turns_in_their_order(db, asking):  # noqa: F811
    versions.save(db, SCHEME + "  - {name: errors, question: Where, scope: demonstration, kind: span}\n", LEA)
    spans = [{"first": "t2", "last": "t4"}, {"first": "t5", "last": "t5"}]
    say(db, ANN, "errors", spans)
    assert seen(db, ANN) == {("ann", "errors", "", str(spans))}
    for wrong, message in (([{"first": "t4", "last": "t2"}], "a span ends before it begins"),
                           ([{"first": "t2", "last": "t99"}], "unknown turn 't99'"),
                           ([{"first": "t2"}], "each with first and last"), ("t2", "must be a list")):
        with pytest.raises(InputError, match=message):
            say(db, ANN, "errors", wrong)
    say(db, ANN, "errors", [])
    assert seen(db, ANN) == set()


def test_who_may_edit_may_answer(db, asking):  # noqa: F811
    say(db, ANN, "success", "done")
    with pytest.raises(Conflict, match="ann has locked"):
        say(db, BOB, "success", "done")
    go(db, "submitted", ANN)
    with pytest.raises(NotAllowed):
        say(db, ANN, "success", "failed")
    say(db, VAL, "success", "failed")
    go(db, "approved", VAL)
    with pytest.raises(Conflict, match="reopen it"):
        say(db, VAL, "success", "done")
    with pytest.raises(NotFound):
        say(db, ANN, "success", "done", name="nowhere")


def test_required_questions_hold_up_submitting_and_approving(db, asking):  # noqa: F811
    versions.save(db, ALL_CLEAR, LEA)
    with pytest.raises(InputError, match=r"no answer: success, clear \(3, 4\)$"):
        go(db, "submitted", ANN)
    say(db, ANN, "success", "done")
    edit(db, "rec-1", {"op": "drop", "turn": "t4"}, row(db).version, ANN)
    with pytest.raises(InputError, match=r"no answer: clear \(3\)$"):
        go(db, "submitted", ANN)
    say(db, ANN, "clear", 1, turn=CLICK)
    go(db, "submitted", ANN)
    go(db, "approved", VAL)  # one person has answered
    versions.save(db, "questions: []", LEA)
    go(db, "submitted", BOB, demonstration_id="rec-2")
    versions.save(db, SCHEME, LEA)
    with pytest.raises(InputError, match="no answer: success$"):
        go(db, "approved", VAL, demonstration_id="rec-2")
    go(db, "returned", VAL, "Answer", demonstration_id="rec-2")
    go(db, "invalid", BOB, "Wrong", demonstration_id="rec-2")


def test_reviewers_see_answers_after_submission_and_are_not_independent(db, asking):  # noqa: F811
    say(db, ANN, "success", "done")
    assert seen(db, VAL) == seen(db, BOB) == set() and len(seen(db, LEA)) == 1
    go(db, "submitted", ANN)
    assert len(seen(db, VAL)) == 1
    say(db, VAL, "success", "failed")
    assert independent(db, "success") == {"ann": True, "val": False}
    go(db, "returned", VAL, "Once more")
    assert seen(db, ANN) == {("ann", "success", "", "done")}  # not the reviewer's while it is annotated
    say(db, ANN, "success", "failed")
    assert independent(db, "success") == {"ann": False, "val": False}


def test_two_annotators_do_not_see_each_others_answers_before_both_have_submitted(db, asking):  # noqa: F811
    choose(db, ["rec-1"], LEA)
    say(db, ANN, "success", "done")
    with pytest.raises(NotFound):
        say(db, ANN, "success", "done", name="rec-1~2")
    go(db, "submitted", ANN)
    say(db, BOB, "success", "failed", name="rec-1~2")
    with pytest.raises(NotFound):
        say(db, BOB, "success", "failed")
    assert seen(db, BOB, "rec-1~2") == {("bob", "success", "", "failed")} and len(seen(db, ANN)) == 1
    assert len(seen(db, LEA)) == len(seen(db, LEA, "rec-1~2")) == 2
    go(db, "submitted", BOB, demonstration_id="rec-1~2")
    assert independent(db, "success") == {"ann": True, "bob": True}
    assert len(seen(db, ANN)) == len(seen(db, VAL)) == 2


def test_who_only_answered_is_one_of_the_two_annotators(db, asking):  # noqa: F811
    choose(db, ["rec-1"], LEA)
    say(db, ANN, "success", "done")
    with db.writing() as session:
        give_back(session.get_one(Demonstration, "rec-1"))
    with pytest.raises(NotFound):
        say(db, ANN, "success", "done", name="rec-1~2")


def test_answers_about_turns_follow_them_through_splitting_and_joining(db, asking):  # noqa: F811
    say(db, ANN, "success", "done")
    say(db, ANN, "clear", 2, turn="t3")
    say(db, ANN, "clear", 4, turn="t4")
    split = edit(db, "rec-1", {"op": "end_before", "turn": "t4"}, row(db).version, ANN)
    assert seen(db, ANN) == {("ann", "success", "", "done"), ("ann", "clear", "t3", "2")}
    assert seen(db, ANN, split.part) == {("ann", "clear", "t4", "4")}
    say(db, ANN, "success", "failed", name=split.part)
    edit(db, "rec-1", {"op": "join", "other": split.part}, row(db).version, ANN)
    assert seen(db, ANN) == {("ann", "success", "", "done"), ("ann", "clear", "t3", "2"), ("ann", "clear", "t4", "4")}
    edit(db, "rec-1", {"op": "undo"}, row(db).version, ANN)
    assert seen(db, ANN, split.part) == {("ann", "clear", "t4", "4"), ("ann", "success", "", "failed")}


def test_a_recording_that_is_sent_again_does_not_replace_turns_with_answers(app, db, asking, tmp_path):  # noqa: F811
    say(db, ANN, "clear", 2, turn=CLICK)
    path = make_recording(tmp_path / "again", recording_id="rec-1", task="Another")
    assert import_recording(db, app.extensions["demotape"].store, path, recorded_by="bob").outcome == "kept"


def test_the_page_and_the_api_take_answers(app, db, asking):  # noqa: F811
    ann, token = signed_in(app, "ann"), {"Authorization": f"Bearer {app.tokens['ann']}"}
    page = ann.get(f"/demonstrations/rec-1?turn={CLICK}").text
    assert 'data-question="success"' in page and 'data-question="clear"' in page and "causes" not in page
    assert 'data-question="clear"' not in ann.get("/demonstrations/rec-1?turn=t1").text
    form = {"csrf_token": csrf(ann, "/"), "selected": CLICK}
    moved = ann.post("/demonstrations/rec-1/answers", data=form | {"question": "success", "value": "failed"})
    assert moved.status_code == 303 and moved.headers["Location"].endswith(f"/demonstrations/rec-1?turn={CLICK}")
    shown = ann.post("/demonstrations/rec-1/answers", headers={"HX-Request": "true"},
                     data=form | {"question": "causes", "value": ["b", "a"]})
    assert shown.status_code == 200 and shown.text.lstrip().startswith('<main id="turn"')
    clear = {"question": "clear", "turn": CLICK}
    assert ann.post("/demonstrations/rec-1/answers", data=form | clear | {"value": "five"}).status_code == 400
    ann.post("/demonstrations/rec-1/answers", data=form | clear | {"value": "5"})
    client, address = app.test_client(), "/api/demonstrations/rec-1/answers"
    read = client.get(address, headers=token).json["answers"]
    assert [(each["question"], each["turn"], each["value"]) for each in read] == [
        ("causes", "", ["a", "b"]), ("clear", CLICK, 5), ("success", "", "failed")]
    body = {"answers": [{"question": "success", "value": "done"}, {"question": "note", "value": "x"}]}
    assert client.put(address, json=body, headers=token).status_code == 200
    refused = client.put(address, json={"answers": [{"question": "note", "value": 3}]}, headers=token)
    assert refused.status_code == 400 and refused.json["message"] == "Question note: must be a text."
    assert ann.post("/demonstrations/rec-1/answers", data=form | {"question": "note", "value": ""}).status_code == 303
    assert {each["question"] for each in client.get(address, headers=token).json["answers"]} == {
        "causes", "clear", "success"}
