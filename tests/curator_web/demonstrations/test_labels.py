"""Labels: defined by a lead, said by edits, found by on the list, told by exports."""

import json

import pytest

from curator_web.demonstrations.library import labels
from curator_web.demonstrations.library.export_sources import exportable
from curator_web.demonstrations.library.library import current, review
from curator_web.demonstrations.listing.listing import Filter, listing
from curator_web.errors import InputError
from pipeline.export import Selection, export
from tests.support.curator.edits import edit
from tests.support.curator.team_fixtures import ANN, LEA, csrf, signed_in

from .test_workflow import app, db, fill

__all__ = ["app", "db", "fill"]
DIFFICULTY = {"name": "difficulty", "scope": "demonstration", "kind": "single", "options": ["easy", "hard"],
              "hint": "For you"}
TOPICS = {"name": "topics", "scope": "demonstration", "kind": "multiple", "options": ["travel", "food"]}
STEPS = {"name": "steps", "scope": "demonstration", "kind": "number"}
WHY = {"name": "why", "scope": "demonstration", "kind": "text"}
NEEDED = {"name": "needed", "scope": "turn", "kind": "single", "options": ["yes", "no"]}


@pytest.fixture
def labelled(db, fill):  # noqa: F811
    """Two demonstrations, and a function by which ann says something of the first."""
    fill(2)
    labels.define(db, [DIFFICULTY, TOPICS, STEPS, WHY, NEEDED], LEA)

    def say(label: str, *values: str, **of: str) -> int:
        change = {"op": "label", "label": label, "said": list(values)} | of
        return edit(db, "rec-1", change, review(db, "rec-1").row.version, ANN).version
    return say


def found(db, label: str) -> list[str]:  # noqa: F811
    return [row.id for row in listing(db, Filter(label=label)).rows]


def test_what_is_said_is_an_edit_is_found_and_undone(db, labelled):  # noqa: F811
    labelled("difficulty", "easy")
    labelled("difficulty", "hard")
    labelled("topics", "travel", "food")
    labelled("needed", "no", turn="t3")
    labelled("needed", "no", turn="t4")
    assert current(db, "rec-1")["labels"] == {"difficulty": ["hard"], "topics": ["travel", "food"]}
    assert [turn.get("labels") for turn in current(db, "rec-1")["turns"]][2:5] == [{"needed": ["no"]}] * 2 + [None]
    assert found(db, "difficulty=hard") == found(db, "needed=no") == ["rec-1"] and found(db, "difficulty=easy") == []
    edit(db, "rec-1", {"op": "drop", "turns": ["t3", "t4"]}, review(db, "rec-1").row.version, ANN)
    assert found(db, "needed=no") == []
    labelled("topics")
    assert current(db, "rec-1")["labels"] == {"difficulty": ["hard"]}
    for _ in range(2):
        edit(db, "rec-1", {"op": "undo"}, review(db, "rec-1").row.version, ANN)
    assert found(db, "topics=food") == found(db, "needed=no") == ["rec-1"]


def test_what_cannot_be_said_is_refused(db, labelled):  # noqa: F811
    before = review(db, "rec-1").row.version
    for wrong in (("colour", "red"), ("difficulty", "middling"), ("difficulty", "easy", "hard"), ("steps", "many"),
                  ("steps", "nan"), ("needed", "yes"), ("topics", "food", "food"), ("why", "x" * 501)):
        with pytest.raises(InputError):
            labelled(*wrong)
    with pytest.raises(InputError):
        labelled("difficulty", "easy", turn="t3")
    assert review(db, "rec-1").row.version == before
    for wrong in (DIFFICULTY | {"options": []}, DIFFICULTY | {"name": "a=b"}, DIFFICULTY | {"kind": "dance"},
                  DIFFICULTY | {"options": ["a", "a"]}, DIFFICULTY | {"name": ""}):
        with pytest.raises(InputError):
            labels.define(db, [TOPICS, wrong], LEA)
    with pytest.raises(InputError):
        labels.define(db, [TOPICS, TOPICS], LEA)
    assert [label["name"] for label in labels.definitions(db)] == ["difficulty", "topics", "steps", "why", "needed"]


def test_exports_tell_what_was_chosen_and_select_by_it(app, db, labelled, tmp_path):  # noqa: F811
    labelled("difficulty", "hard")
    labelled("steps", "12")
    labelled("why", "Ann Lee asked for it")
    store = app.extensions["demotape"].store
    export(exportable(db, store), tmp_path / "out", "weblinx")
    told = json.loads((tmp_path / "out" / "manifest.json").read_bytes())["demonstrations"]
    assert {entry["id"]: entry.get("labels") for entry in told} == {
        "rec-1": {"difficulty": ["hard"], "steps": ["12"]}, "rec-2": None}
    assert b"Ann Lee" not in b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    hard = Selection(labels={"difficulty": "hard"})
    assert export(exportable(db, store), tmp_path / "hard", "weblinx", selection=hard).demonstrations == 1


def test_a_lead_defines_labels_on_the_page_and_reviewers_answer(app, db, fill):  # noqa: F811
    fill()
    lea, ann = signed_in(app, "lea"), signed_in(app, "ann")
    form = {"csrf_token": csrf(lea, "/labels"), **DIFFICULTY, "options": "easy\r\n\r\nhard "}
    assert lea.post("/labels", data=form).status_code == 303
    assert lea.post("/labels", data=form).status_code == 400  # there is such a label already
    assert ann.get("/labels").status_code == 403 and "href=\"/labels\"" not in ann.get("/").text
    page = ann.get("/demonstrations/rec-1?turn=t3").text
    assert "<option >hard</option>" in page and "For you" in page
    answer = {"csrf_token": csrf(ann, "/"), "op": "label", "label": "difficulty", "said": "hard", "version": 1}
    assert ann.post("/demonstrations/rec-1/edits", data=answer).status_code == 303
    assert current(db, "rec-1")["labels"] == {"difficulty": ["hard"]}
    assert "<option selected>hard</option>" in ann.get("/demonstrations/rec-1?turn=t3").text
    assert "difficulty: hard" in ann.get("/demonstrations/rec-1/changes").text
    assert "difficulty=hard" in ann.get("/").text
    lea.post("/labels", data=form | {"label": "difficulty", "name": "how hard"})
    assert [label["name"] for label in labels.definitions(db)] == ["how hard"]
    lea.post("/labels/remove", data={"csrf_token": csrf(lea, "/labels"), "label": "how hard"})
    assert labels.definitions(db) == []
    token = {"Authorization": f"Bearer {app.tokens['lea']}"}
    assert lea.put("/api/labels", json={"labels": [TOPICS]}, headers=token).status_code == 200
    assert ann.get("/api/labels").json["labels"][0]["name"] == "topics"
