"""What an edit on the page costs: its turns are read once, and folded once before it and once after it."""

import pytest
from sqlalchemy import event

import curator_web.demonstrations.library.library
import pipeline.turns.edits
from curator_web import create_app
from curator_web.demonstrations.library.library import current, import_recording
from tests.support.curator.curator_fixtures import make_recording


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """A client of an app with one demonstration, and what is counted: reads of turns, folds."""
    app = create_app(None, tmp_path / "data")
    services = app.extensions["demotape"]
    import_recording(services.db, services.store, make_recording(tmp_path))
    counts = {"reads": 0, "folds": 0}

    def count(name: str) -> None:
        counts[name] += 1

    apply_edits = pipeline.turns.edits.apply_edits
    for module in (pipeline.turns.edits, curator_web.demonstrations.library.library):
        monkeypatch.setattr(module, "apply_edits", lambda *given: (count("folds"), apply_edits(*given))[1])
    event.listen(services.db.engine, "before_cursor_execute",
                 lambda _connection, _cursor, statement, *_: "FROM base_turns" in statement and count("reads"))
    client = app.test_client()
    token = client.get("/api/token").json["token"]
    yield counts, services.db, lambda path, form: client.post(
        path, data=form, headers={"X-CSRFToken": token, "HX-Request": "true"})
    services.db.close()


@pytest.mark.parametrize("form", [
    {"op": "drop", "turn": "t3"}, {"op": "move", "turn": "t3", "step": "1"}, {"op": "undo"},
    {"op": "set_intent", "turn": "t3", "intent": "hover"},
    {"op": "add", "turn": "t3", "speaker": "navigator", "utterance": "Done"}], ids=lambda form: form["op"])
def test_an_edit_reads_the_turns_once(counted, form):
    counts, db, post = counted
    assert post("/demonstrations/rec-1/edits", {"op": "drop", "turn": "t2", "version": 1}).status_code == 200
    counts.update(reads=0, folds=0)
    answer = post("/demonstrations/rec-1/edits", form | {"version": 2})
    assert answer.status_code == 200
    assert counts["reads"] <= 1 and counts["folds"] <= 2
    shown = [turn["id"] for turn in current(db, "rec-1")["turns"]]
    assert [name for name in shown if name not in answer.text] == []


def test_what_was_read_too_early_is_read_again(counted, monkeypatch):
    """Somebody else's edit comes between the reading and the writing: theirs is not lost, ours is refused."""
    counts, db, post = counted
    review, edit = curator_web.demonstrations.library.library.review, {"op": "drop", "turn": "t3", "version": 1}

    def meanwhile(*given):
        monkeypatch.setattr(curator_web.demonstrations.library.library, "review", review)
        found = review(*given)
        assert post("/demonstrations/rec-1/edits", edit | {"turn": "t2"}).status_code == 200
        return found

    monkeypatch.setattr(curator_web.demonstrations.library.library, "review", meanwhile)
    assert post("/demonstrations/rec-1/edits", edit).status_code == 409
    dropped = [turn["id"] for turn in current(db, "rec-1")["turns"] if turn["dropped"]]
    assert dropped == ["t2"]
