"""Every route that edits requires what the edit refers to: pictures and pages of its recording, a visible target."""

import pytest

from curator_web import create_app
from curator_web.demonstrations.leases import leases
from curator_web.demonstrations.library import library
from curator_web.demonstrations.library.library import import_recording
from curator_web.demonstrations.workflow import pairing
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.team_fixtures import ANN, BOB, LEA, add_people, csrf, signed_in

FOREIGN = "0" * 64  # the digest of a blob that the recording does not have
SCREENSHOT = {"op": "set_screenshot", "turn": "t2", "screenshot": FOREIGN, "screenshot_time": 1.0, "source": "captured"}
OUTCOME = {"format": "demotape/outcome", "version": 1,
           "checks": [{"kind": "picture", "picture": FOREIGN, "css": "", "least": 0.8}]}
ADDED = {"op": "add", "turn": "added-1", "after": "t2", "added": {
    "id": "added-1", "type": "browser", "timestamp": 1.0, "intent": "press", "arguments": {"key": "Enter"},
    "element": None, "state": None, "events": [], "checks": [], "dropped": False}}


@pytest.fixture
def app(tmp_path):
    app = create_app(None, tmp_path / "data")
    services = app.extensions["demotape"]
    app.tokens = add_people(app)
    for name in ("rec-1", "rec-2"):
        import_recording(services.db, services.store, make_recording(tmp_path / name, recording_id=name),
                         recorded_by="bob")
    yield app
    services.db.close()


def turns_state(app) -> dict:
    """A state of the other recording, which shows nothing of the first."""
    turn = next(turn for turn in library.current(app.extensions["demotape"].db, "rec-2")["turns"]
                if turn["type"] == "browser" and turn["state"])
    return turn["state"] | {"url": "https://elsewhere.example/"}


def by_api(app, name: str, edit: dict, user: str = "lea"):
    version = library.listed(app.extensions["demotape"].db, name).version
    return app.test_client().post(f"/api/demonstrations/{name}/edits", json={"version": version, "edit": edit},
                                  headers={"Authorization": f"Bearer {app.tokens[user]}"})


@pytest.mark.parametrize("edit, field", [
    (SCREENSHOT, "screenshot"), ({"op": "set_outcome", "outcome": OUTCOME}, "picture")])
def test_what_the_recording_does_not_have_is_refused(app, edit, field):
    answer = by_api(app, "rec-1", edit)
    assert answer.status_code == 400 and f"field {field}" in answer.json["message"].lower(), answer.text
    assert library.listed(app.extensions["demotape"].db, "rec-1").version == 1


def test_an_action_is_added_in_pages_of_its_own_demonstration_only(app):
    foreign = ADDED | {"added": ADDED["added"] | {"state": turns_state(app)}}
    answer = by_api(app, "rec-1", foreign)
    assert answer.status_code == 400 and "added.state" in answer.json["message"], answer.text


def test_the_outcome_routes_pass_the_same_door(app):
    headers = {"Authorization": f"Bearer {app.tokens['lea']}"}
    answer = app.test_client().put("/api/demonstrations/rec-1/outcome", json={"version": 1, "outcome": OUTCOME},
                                   headers=headers)
    assert answer.status_code == 400 and "field picture" in answer.json["message"].lower(), answer.text


def test_the_review_page_passes_the_same_door(app):
    client = signed_in(app, "lea")
    form = {"csrf_token": csrf(client, "/demonstrations/rec-1"), "version": "1", "turn": "t2", "op": "use_screenshot",
            "screenshot": FOREIGN}
    assert client.post("/demonstrations/rec-1/edits", data=form).status_code == 400
    assert library.listed(app.extensions["demotape"].db, "rec-1").version == 1


@pytest.mark.parametrize("edit", [{"op": "drop", "turn": "t1"}, SCREENSHOT, {"op": "place_video", "place": {}}])
def test_a_demonstration_that_is_hidden_cannot_be_edited_by_any_route(app, edit):
    db = app.extensions["demotape"].db
    pairing.choose(db, ["rec-1"], LEA)
    leases.take_next(db, ANN)
    leases.take_next(db, BOB)
    for user, name in (("bob", "rec-1"), ("ann", "rec-1~2"), ("val", "rec-1")):
        version = library.listed(db, name).version
        assert by_api(app, name, edit, user).status_code == 404
        client = signed_in(app, user)
        token = csrf(client, "/")
        for address in ("edits", "timeline", "outcome"):
            assert client.post(f"/demonstrations/{name}/{address}",
                               data={"csrf_token": token, "version": version}).status_code in (404, 405), address
        assert library.listed(db, name).version == version
