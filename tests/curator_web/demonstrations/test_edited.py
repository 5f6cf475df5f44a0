"""What counts as edited, and who edited first."""

import pytest

from curator_web import create_app
from curator_web.db.models.core import Demonstration
from curator_web.demonstrations.leases import leases
from curator_web.demonstrations.library import library
from curator_web.demonstrations.library.summary import displaced
from curator_web.demonstrations.listing.comments import add_comment
from curator_web.demonstrations.workflow.workflow import change_status
from curator_web.errors import NotAllowed
from pipeline.turns.edits import apply_edits
from tests.support.curator.curator_fixtures import chat, make_recording
from tests.support.curator.team_fixtures import ANN, LEA, VAL, WIM, add_people, give, say

BASE = [chat(number, "navigator", "x") for number in range(1, 7)]


@pytest.mark.parametrize(("moves", "expected"), [
    ([("t3", "t5")], {"t3"}), ([("t3", "t5"), ("t3", "t2")], set()),
    ([("t3", "t5"), ("t4", "t2"), ("t5", "t4")], {"t3"}),
    ([("t3", None), ("t3", "t6"), ("t2", "t1")], {"t3"}),
    ([("t2", "t4"), ("t3", "t4")], {"t2", "t3"}),
    ([("t1", "t2"), ("t2", "t1"), ("t1", None)], set()),
])
def test_moved_and_moved_back_is_not_edited(moves, expected):
    log = [{"op": "move", "turn": turn, "after": after} for turn, after in moves]
    turns = apply_edits(BASE, log)
    found = displaced(BASE, turns, log)
    assert found == expected or (len(found) == len(expected) and found <= {turn for turn, _ in moves})
    assert bool(found) == ([turn["id"] for turn in turns] != [turn["id"] for turn in BASE])


@pytest.fixture
def services(tmp_path, db_url):
    app = create_app(db_url, tmp_path / "data")
    add_people(app)
    services = app.extensions["demotape"]
    library.import_recording(services.db, services.store, make_recording(tmp_path))
    yield services
    services.db.close()


@pytest.fixture
def db(services):
    return services.db


def end_lease(db) -> None:
    with db.writing() as session:
        leases.give_back(session.get_one(Demonstration, "rec-1"))


def test_who_edited_before_a_later_submission_does_not_review_it(db):
    say(db, "rec-1", ANN, {"op": "drop", "turn": "t1"})
    give(db, "rec-1", ANN)
    say(db, "rec-1", VAL, {"op": "set_task", "task": "Fly"})  # during the review
    change_status(db, "rec-1", "returned", library.listed(db, "rec-1").version, VAL, "Again")
    say(db, "rec-1", WIM, {"op": "drop", "turn": "t2"})
    end_lease(db)
    give(db, "rec-1", ANN)
    with pytest.raises(NotAllowed, match="before it was submitted"):
        give(db, "rec-1", WIM, "approved")
    give(db, "rec-1", VAL, "approved")


def test_who_edited_a_reopened_one_does_not_review_it(db):
    give(db, "rec-1", ANN)
    give(db, "rec-1", VAL, "approved")
    give(db, "rec-1", LEA, "draft")
    say(db, "rec-1", LEA, {"op": "drop", "turn": "t2"})
    end_lease(db)
    give(db, "rec-1", ANN)
    with pytest.raises(NotAllowed, match="before it was submitted"):
        give(db, "rec-1", LEA, "approved")


def test_moved_back_is_counted_as_not_edited(db):
    say(db, "rec-1", ANN, {"op": "move", "turn": "t3", "after": "t5"})
    assert library.listed(db, "rec-1").edited == 1
    say(db, "rec-1", ANN, {"op": "move", "turn": "t3", "after": "t2"})
    assert library.listed(db, "rec-1").edited == 0


def test_an_import_keeps_a_demonstration_with_comments(db, services, tmp_path):
    add_comment(db, "rec-1", ANN, "This line", turn="t5")
    path = make_recording(tmp_path / "again", change=lambda turns: turns.insert(0, chat(9, "instructor", "Earlier")))
    assert library.import_recording(db, services.store, path).outcome == "kept"
    assert [turn["id"] for turn in library.current(db, "rec-1")["turns"]][0] == "t1"
