"""A link to a turn that an edit removed, or that never existed, leads to the nearest one."""

from urllib.parse import quote

import pytest

from curator_web import create_app
from curator_web.demonstrations.library.library import import_recording, review
from curator_web.demonstrations.workflow.editing import add_edit
from curator_web.web.review.visits import nearest_turn
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.random_edits import editable_turns

NOTICE = "not in this demonstration"
CHAT = {"op": "add", "turn": "said-1", "after": "t2", "added": {
    "id": "said-1", "type": "chat", "timestamp": 2.0, "speaker": "navigator", "utterance": "Hm", "checks": [],
    "dropped": False}}


@pytest.fixture
def app(db_url, tmp_path):
    app = create_app(db_url, tmp_path / "data")
    services = app.extensions["demotape"]
    import_recording(services.db, services.store, make_recording(tmp_path, make_turns=editable_turns))
    yield app
    services.db.close()


@pytest.mark.parametrize("edits, gone, nearest", [
    ([{"op": "merge", "turn": "t4", "other": "t5"}], "t5", "t6"),
    ([{"op": "merge", "turn": "t5", "other": "t4"}], "t4", "t5"),
    ([{"op": "end_before", "turn": "t9"}], "t10", "t8"),
    ([CHAT, {"op": "undo"}], "said-1", "t2"),
    ([{**CHAT, "after": None}, {"op": "undo"}], "said-1", "t1"),
    ([{"op": "end_before", "turn": "t3"}, {"op": "undo"}], "t10", None),
    ([{"op": "drop", "turn": "t3"}], "t3", None),
    ([], "t4000", "t11"), ([], "t0", "t1"), ([{"op": "merge", "turn": "t4", "other": "t5"}], "t007", "t7"),
    ([], "turn-4", "t1"), ([], "nobody", "t1"), ([], "t" * 5000, "t1"), ([], "t" + "9" * 5000, "t1"),
    ([], "t\n4", "t1")])
def test_it_is_the_next_recorded_one_or_the_one_it_was_added_to(app, edits, gone, nearest):
    db = app.extensions["demotape"].db
    for version, edit in enumerate(edits, 1):
        add_edit(db, "rec-1", edit, version)
    assert nearest_turn(review(db, "rec-1"), gone) == nearest
    client = app.test_client()
    timeline = client.get(f"/demonstrations/rec-1/timeline?turn={quote(gone)}")
    assert timeline.location == (nearest and f"/demonstrations/rec-1/timeline?turn={nearest}")
    assert (nearest is None) == (NOTICE not in client.get(timeline.location or "/demonstrations/rec-1/timeline").text)
    hostile = "view=dom&_scheme=javascript&_external=1&demonstration_id=x"
    answer = client.get(f"/demonstrations/rec-1?turn={quote(gone)}&{hostile}")
    if nearest is None:
        assert answer.status_code == 200
        return
    assert answer.status_code == 302 and answer.location == f"/demonstrations/rec-1?turn={nearest}&view=dom"
    assert NOTICE in client.get(answer.location).text
    assert NOTICE not in client.get(answer.location).text
    part = client.get(f"/demonstrations/rec-1?turn={quote(gone)}", headers={"HX-Request": "true"})
    assert part.status_code == 404  # the page keeps the turn that it shows
