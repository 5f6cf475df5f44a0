"""Pre-labels count only once confirmed; known answers are hidden, and those of annotators are compared with them."""

from dataclasses import replace

import pytest

from curator_web.demonstrations.library.export_sources import exportable
from curator_web.demonstrations.schemes.answers import visible_answers
from curator_web.demonstrations.schemes.known import forget_known, make_known, report
from curator_web.demonstrations.schemes.prelabels import save_prelabels
from curator_web.demonstrations.workflow.answering import confirm
from curator_web.demonstrations.workflow.pairing import choose
from curator_web.errors import InputError, NotAllowed, NotFound
from tests.support.curator.edits import edit
from tests.support.curator.team_fixtures import ANN, BOB, LEA, csrf, signed_in

from .test_answers import asking, independent, say, seen
from .test_workflow import app, db, fill, go, row

__all__ = ["app", "asking", "db", "fill"]
pytestmark = pytest.mark.postgresql
SUGGESTED = [{"demonstration": "rec-1", "question": "success", "value": "done"},
             {"demonstration": "rec-1", "question": "clear", "turn": "t3", "value": 4}]


def prelabels_confirmed(db, name="rec-1") -> dict[str, str | None]:  # noqa: F811
    with db.reading() as session:
        return {each.question: each.prelabel for each in visible_answers(session, row(db, name), ANN)}


def test_a_prelabel_counts_once_a_person_confirms_it(app, db, asking):  # noqa: F811
    assert save_prelabels(db, "model-7", SUGGESTED, LEA) == 2
    assert seen(db, ANN) == set()
    with pytest.raises(InputError, match="no answer: success"):
        go(db, "submitted", ANN)
    confirm(db, "rec-1", "success", "", ANN)
    say(db, ANN, "clear", 5, turn="t3")
    assert prelabels_confirmed(db) == {"success": "model-7", "clear": None}
    say(db, ANN, "success", "failed")
    assert prelabels_confirmed(db)["success"] is None
    say(db, ANN, "success", "done")
    with pytest.raises(InputError, match="question note: no answer is suggested"):
        confirm(db, "rec-1", "note", "", ANN)
    go(db, "submitted", ANN)
    source = next(each for each in exportable(db, app.extensions["demotape"].store) if each.id == "rec-1")
    assert [(each["question"], each.get("prelabel")) for each in source.demonstration["answers"]] == [
        ("success", "model-7"), ("clear", None)]


@pytest.mark.parametrize("change, message", [
    ({"value": "perhaps"}, "pre-label 2: question success: unknown option 'perhaps'"),
    ({"question": "colour"}, "pre-label 2: field question: unknown question 'colour'"),
    ({"turn": "t3"}, "pre-label 2: field turn: unknown turn 't3'"),
    ({"question": "clear", "value": 1, "turn": "t99"}, "pre-label 2: field turn: unknown turn 't99'"),
    ({"demonstration": "rec-9"}, "pre-label 2: unknown demonstration 'rec-9'")])
def test_prelabels_are_saved_as_a_whole_or_not(db, asking, change, message):  # noqa: F811
    with pytest.raises(InputError, match=message):
        save_prelabels(db, "model", [SUGGESTED[1], SUGGESTED[0] | change], LEA)
    with pytest.raises(InputError, match="no answer is suggested"):
        confirm(db, "rec-1", "clear", "t3", ANN)
    with pytest.raises(NotAllowed):
        save_prelabels(db, "model", SUGGESTED, ANN)


def test_prelabels_are_shown_to_both_annotators_and_follow_their_turns(app, db, asking):  # noqa: F811
    save_prelabels(db, "model", SUGGESTED, LEA)
    choose(db, ["rec-2"], LEA)
    save_prelabels(db, "model", [SUGGESTED[0] | {"demonstration": "rec-2"}], LEA)
    confirm(db, "rec-2~2", "success", "", BOB)
    ann = signed_in(app, "ann")
    page = ann.get("/demonstrations/rec-1?turn=t3").text
    assert "model suggests: done" in page and "model suggests: 4" in page
    form = {"csrf_token": csrf(ann, "/"), "question": "clear", "turn": "t3", "confirm": "1", "value": "1"}
    assert ann.post("/demonstrations/rec-1/answers", data=form).status_code == 303
    assert prelabels_confirmed(db) == {"clear": "model"}
    split = edit(db, "rec-1", {"op": "end_before", "turn": "t3"}, row(db).version, ANN)
    say(db, ANN, "clear", None, name=split.part, turn="t3")
    confirm(db, split.part, "clear", "t3", ANN)


def test_known_answers_are_hidden_and_compared_with_those_of_annotators(app, db, asking):  # noqa: F811
    with pytest.raises(InputError, match="answer questions about this demonstration first"):
        make_known(db, "rec-1", LEA)
    say(db, LEA, "success", "done")
    say(db, LEA, "clear", 4, turn="t3")
    with db.writing() as session:
        row_ = session.get_one(type(row(db)), "rec-1")
        row_.lease_who = row_.lease_until = None
    with pytest.raises(NotAllowed):
        make_known(db, "rec-1", ANN)
    assert make_known(db, "rec-1", LEA) == 2
    assert seen(db, LEA) == set()
    choose(db, ["rec-1"], LEA)
    for account, name, value in ((ANN, "rec-1", 4), (BOB, "rec-1~2", 1)):
        say(db, account, "success", "done", name)
        say(db, account, "clear", value, name, "t3")
        say(db, account, "clear", 3, name, "t4")  # which is not known
    assert independent(db, "success") == {"ann": True, "bob": True}
    assert "known" not in signed_in(app, "ann").get("/demonstrations/rec-1").text
    assert "Forget the known answers (2)" in signed_in(app, "lea").get("/demonstrations/rec-1").text
    ann, bob = report(db, "main")
    assert (ann.who, ann.total.compared, ann.total.share) == ("ann", 2, 1.0)
    assert (bob.total.compared, bob.total.equal, bob.by_question["clear"].share) == (2, 1, 0.0)
    lea = {"Authorization": f"Bearer {app.tokens['lea']}"}
    client = app.test_client()
    shown = client.get("/api/projects/main/known-answers", headers=lea).json
    assert shown[1] == {"who": "bob", "total": {"compared": 2, "equal": 1}, "by_question": {
        "clear": {"compared": 1, "equal": 0}, "success": {"compared": 1, "equal": 1}}}
    body = {"source": "m", "prelabels": SUGGESTED}
    assert client.put("/api/projects/main/prelabels", json=body, headers=lea).json == {"count": 2}
    for change in (make_known, forget_known):
        with pytest.raises(NotFound):
            change(db, "rec-1", replace(LEA, project="other"))
    forget_known(db, "rec-1", LEA)
    assert report(db, "main") == []
