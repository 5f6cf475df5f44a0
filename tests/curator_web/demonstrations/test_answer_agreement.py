"""Agreement on the questions of a scheme: of independent answers in pairs, by the level of each question."""

import pytest

from curator_web.demonstrations.schemes import versions
from curator_web.demonstrations.schemes.measuring import agreement
from curator_web.demonstrations.workflow.pairing import choose
from tests.support.curator.edits import edit
from tests.support.curator.team_fixtures import ANN, BOB, LEA, VAL, signed_in

from .test_answers import SCHEME, asking, say
from .test_workflow import app, db, fill, go, row

__all__ = ["app", "asking", "db", "fill"]


@pytest.fixture
def compared(db, asking):  # noqa: F811
    """Two pairs; the annotators differ in one of two choices and in two of four numbers. The third person's answer,
    and those about what one person annotates alone, do not count."""
    choose(db, ["rec-1", "rec-2"], LEA)
    for account, mark, success, numbers in ((ANN, "", ("done", "done"), (1, 5)),
                                            (BOB, "~2", ("done", "failed"), (2, 5))):
        for name, value in zip(("rec-1", "rec-2"), success, strict=True):
            copy = name + mark
            say(db, account, "success", value, copy)
            for turn, number in zip(("t3", "t4"), numbers, strict=True):
                say(db, account, "clear", number, copy, turn)
            say(db, account, "note", f"by {account.name}", copy)
            edit(db, copy, {"op": "set_task", "task": f"Task of {account.name}"}, row(db, copy).version, account)
            go(db, "submitted", account, demonstration_id=copy)


def test_each_question_is_measured_by_its_kind(app, db, compared):  # noqa: F811
    by_name = {measured.question["name"]: measured for measured in agreement(db, "main")}
    success, clear, causes, note = (by_name[name] for name in ("success", "clear", "causes", "note"))
    assert (success.level, success.measured.units, success.measured.agreement) == ("nominal", 2, 0.5)
    assert success.measured.alpha == pytest.approx(0)
    assert (clear.level, clear.measured.units, clear.measured.agreement) == ("ordinal", 4, 0.5)
    assert 0.7 < clear.measured.alpha < 1 and causes.measured.units == note.measured.units == 0 and note.level == ""
    lea, ann = signed_in(app, "lea"), signed_in(app, "ann")
    answer = lea.get("/api/projects/main/scheme/agreement").json
    assert [(each["question"], each["units"]) for each in answer] == [
        ("success", 2), ("causes", 0), ("clear", 4), ("note", 0)]
    assert ann.get("/api/projects/main/scheme/agreement").status_code == 403
    assert "<td class=\"number\" data-label=\"Items\">4</td>" in lea.get("/projects/main/scheme/answers").text
    assert ann.get("/projects/main/scheme/answers").status_code == 403


def test_answers_to_what_a_question_no_longer_allows_do_not_count(db, compared):  # noqa: F811
    versions.save(db, SCHEME.replace("maximum: 5", "maximum: 4"), LEA)
    assert {each.question["name"]: each.measured.units for each in agreement(db, "main")}["clear"] == 2


def test_pairs_that_are_still_annotated_do_not_count(db, asking):  # noqa: F811
    choose(db, ["rec-1"], LEA)
    say(db, ANN, "success", "done")
    go(db, "submitted", ANN)
    say(db, BOB, "success", "done", "rec-1~2")
    assert agreement(db, "main")[0].measured.units == 0
    go(db, "submitted", BOB, demonstration_id="rec-1~2")
    assert agreement(db, "main")[0].measured.units == 1
    say(db, VAL, "success", "failed")  # who has seen theirs
    assert agreement(db, "main")[0].measured.agreement == 1
