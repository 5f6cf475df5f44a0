"""An action that no event tells of is added by a form or by a program, is undone and exported, and is refused where it
cannot have been done."""

import json

import pytest

from curator_web import create_app
from curator_web.demonstrations.library.export_sources import exportable
from curator_web.demonstrations.library.library import current, import_recording, listed, review
from curator_web.demonstrations.measuring.differences import differences
from curator_web.demonstrations.workflow.editing import add_edit
from pipeline.export import export
from tests.support.curator.curator_fixtures import (
    BOX,
    TABLE,
    action,
    database_of,
    element,
    make_recording,
    pointer,
    state,
)

PAGE = ('<input data-demotape-uid="9" id="from" value="Anchorage"><p><a data-demotape-uid="7" href="/offers">All offers'
        '</a></p><select data-demotape-uid="8"><option value="ec">Economy</option><option>First</option></select>'
        '<input type="checkbox" data-demotape-uid="6">')
ROWS = [*TABLE, *(TABLE[1] | {"uid": uid, "tag": tag, "role": role, "name": name, "bbox": BOX | {"y": y}}
                  for uid, tag, role, name, y in (("8", "select", "combobox", "Class", 300),
                                                  ("6", "input", "checkbox", "Direct", 700)))]


def turns(writer) -> list[dict]:
    """Two pages that were loaded; what was done on the first was not heard."""
    seen = state(writer, 2, PAGE) | {"elements": writer.blob(json.dumps(ROWS).encode())}
    first = action(writer, 1, "load", {"url": "https://air.example/", "transition": "typed"}, element=None)
    second = action(writer, 4, "load", {"url": "https://air.example/offers", "transition": "link"}, element=None)
    return [first, second | {"state": seen}]


@pytest.fixture
def app(tmp_path, request):
    app = create_app(database_of(request), tmp_path / "data")
    services = app.extensions["demotape"]
    import_recording(services.db, services.store, make_recording(tmp_path, make_turns=turns))
    yield app
    services.db.close()


@pytest.fixture
def db(app):
    return app.extensions["demotape"].db


def send(app, form: dict):
    """Send the form of the second step."""
    client = app.test_client()
    told = {"op": "add_action", "turn": "t1", "version": listed(app.extensions["demotape"].db, "rec-1").version,
            "csrf_token": client.get("/api/token").json["token"]}
    return client.post("/demonstrations/rec-1/edits", data=told | form)


def post(app, edit: dict):
    client = app.test_client()
    headers = {"X-CSRFToken": client.get("/api/token").json["token"]}
    version = listed(app.extensions["demotape"].db, "rec-1").version
    return client.post("/api/demonstrations/rec-1/edits", json={"version": version, "edit": edit}, headers=headers)


TURN = {"id": "n", "type": "browser", "timestamp": 3.0, "intent": "click", "arguments": pointer(), "events": [],
        "element": element(), "checks": [], "dropped": False,
        "state": {"tab": 1, "url": "https://air.example/", "title": "", "viewport": {"width": 1280, "height": 720},
                  "zoom": 1, "device_pixel_ratio": 1, "scroll": {"x": 0, "y": 0}, "dom": None, "elements": None,
                  "screenshot": None, "screenshot_time": None, "video_time": None, "screenshot_status": "broken"}}
FORMS = [
    ({"uid": "7", "intent": "click"},
     {"x": 760, "y": 515, "button": 0, "modifiers": [], "keyboard": False}),
    ({"uid": "7", "intent": "hover", "seen": "next"},
     {"x": 760, "y": 515, "button": 0, "modifiers": [], "keyboard": False}),
    ({"uid": "9", "intent": "textInput", "argument.text": "Seattle\r\n<b>"}, {"text": "Seattle\n<b>"}),
    ({"uid": "8", "intent": "change", "argument.value": "ec"}, {"value": "ec", "label": "Economy"}),
    ({"uid": "8", "intent": "change", "argument.value": "First"}, {"value": "First", "label": "First"}),
    ({"uid": "6", "intent": "change", "argument.checked": "true"}, {"checked": True}),
    ({"uid": "6", "intent": "dblclick"}, {"x": 420, "y": 710, "button": 0, "modifiers": [], "keyboard": False}),
    ({"uid": "9", "intent": "press", "argument.key": "Enter"}, {"key": "Enter"}),
    ({"uid": "9", "intent": "submit"}, {}),
]


@pytest.mark.parametrize("app", ["sqlite", "postgresql"], indirect=True)
def test_each_operation_is_added_between_its_turns_and_undone(app, db):
    before = current(db, "rec-1")["turns"]
    for form, arguments in FORMS:
        assert send(app, form).status_code == 303
        first, added, last = current(db, "rec-1")["turns"]
        assert added["arguments"] == arguments and added["intent"] == form["intent"]
        assert first["timestamp"] < added["timestamp"] == 2.5 < last["timestamp"]
        assert added["element"]["uid"] == form["uid"] and added["element"]["css"] and added["events"] == []
        assert added["state"] == last["state"]
        assert post(app, {"op": "undo"}).status_code == 201 and current(db, "rec-1")["turns"] == before
        assert post(app, {"op": "redo"}).status_code == 201 and current(db, "rec-1")["turns"][1] == added
        assert post(app, {"op": "undo"}).status_code == 201
    row = listed(db, "rec-1")
    assert (row.turns, row.edited) == (2, 0)
    send(app, FORMS[0][0])
    assert send(app, FORMS[0][0] | {"turn": "t1"}).status_code == 303
    row = listed(db, "rec-1")
    assert (row.turns, row.edited) == (4, 2) and len({turn["id"] for turn in current(db, "rec-1")["turns"]}) == 4
    assert "Action added" in app.test_client().get("/demonstrations/rec-1/changes").text


REFUSED = [
    ({"uid": "77"}, "field uid"), ({"uid": "7" * 100_000}, "field uid"), ({"uid": "7", "intent": "drag"}, "intent"),
    ({"uid": "7", "seen": "own"}, "field uid"), ({"uid": "7", "seen": "last"}, "field seen"),
    ({"uid": "9", "intent": "textInput"}, "field text"), ({"uid": "9", "intent": "press"}, "field key"),
    ({"uid": "8", "intent": "change"}, "field value"), ({"uid": "7", "turn": "t9"}, "field turn"),
    ({"uid": "9", "intent": "textInput", "argument.text": "x" * 1_000_000}, "65536 characters")]


def test_a_form_that_cannot_be_meant_is_refused(app, db):
    for form, words in REFUSED:
        answer = send(app, {"intent": "click"} | form)
        assert answer.status_code in (400, 413) and words in answer.text.lower(), (form, answer.text)
    assert listed(db, "rec-1").version == 1


def edit_of(db, **changes) -> dict:
    """As a program adds a click."""
    page = current(db, "rec-1")["turns"][1]["state"]
    added = {"id": "n", "type": "browser", "timestamp": 3.0, "intent": "click", "arguments": pointer(760, 510),
             "element": element(uid="7", tag="a", role="link", name="All offers", bbox=TABLE[2]["bbox"]),
             "state": page, "events": [], "checks": [], "dropped": False}
    return {"op": "add", "turn": "n", "after": "t1", "added": added | changes}


def test_a_program_adds_an_action_and_is_held_to_what_was_recorded(app, db):
    good = edit_of(db)
    page, target = good["added"]["state"], good["added"]["element"]
    for changes, words in [
            ({"state": page | {"dom": "0" * 64}}, "added.state"), ({"state": page | {"tab": 2}}, "added.state"),
            ({"state": None}, "state"), ({"element": None}, "element"), ({"element": target | {"uid": "77"}}, "uid"),
            ({"element": target | {"bbox": BOX}}, "added.element.bbox"),
            ({"element": target | {"tag": "b"}}, "added.element.tag"),
            ({"timestamp": 0.5}, "from 1 to 4"), ({"timestamp": 4.5}, "from 1 to 4"),
            ({"timestamp": 1e308}, "timestamp"),
            ({"arguments": pointer(1281, 5)}, "outside the page"), ({"arguments": pointer(5, -1)}, "outside the page"),
            ({"arguments": {"text": "x"}}, "arguments"), ({"events": [1]}, "added.events"),
            ({"intent": "load", "arguments": {"url": "x", "transition": ""}}, "added.intent"),
            ({"intent": "change", "arguments": {}}, "added.arguments"),
            ({"intent": "textInput", "arguments": {"text": "x" * 1_000_000}}, "65536 characters"),
            ({"id": "t1"}, "added")]:
        answer = post(app, edit_of(db, **changes))
        assert answer.status_code in (400, 422) and words in answer.text, (changes, answer.text)
    assert post(app, good | {"after": "nobody"}).status_code == 400
    assert post(app, good | {"after": None}).status_code == 400  # it was at 3 seconds, the first turn at 1
    assert listed(db, "rec-1").version == 1 and post(app, good).status_code == 201
    assert [turn["id"] for turn in current(db, "rec-1")["turns"]] == ["t1", "n", "t4"]
    assert post(app, good).status_code == 400
    kept = app.test_client().get("/api/demonstrations/rec-1/edits").json[0]["edit"]  # as annotations have it
    assert post(app, {"op": "undo"}).status_code == 201 and post(app, kept).status_code == 201
    assert current(db, "rec-1")["turns"][1] == kept["added"]


def test_at_the_end_it_is_seen_in_what_was_shown_last_and_not_after_the_recording(app, tmp_path):
    services = app.extensions["demotape"]

    def last(writer) -> list[dict]:
        shown = state(writer, 5, PAGE) | {"title": "At the end"}
        writer.update(last_state={key: value for key, value in shown.items()
                                  if key not in ("video_time", "screenshot_status")})
        return [action(writer, 1, "load", {"url": "https://air.example/", "transition": "typed"}, element=None)]
    path = make_recording(tmp_path, recording_id="end", make_turns=last)
    name = import_recording(services.db, services.store, path).id
    client = app.test_client()
    told = {"op": "add_action", "turn": "t1", "version": 1, "uid": "7", "intent": "click",
            "csrf_token": client.get("/api/token").json["token"]}
    assert client.post(f"/demonstrations/{name}/edits", data=told).status_code == 303
    added = current(services.db, name)["turns"][1]
    assert added["state"]["title"] == "At the end" and added["timestamp"] == 2.0
    edit = {"op": "add", "turn": "n", "after": added["id"], "added": added | {"id": "n", "timestamp": 61.0}}
    headers = {"X-CSRFToken": client.get("/api/token").json["token"]}
    answer = client.post(f"/api/demonstrations/{name}/edits", json={"version": 2, "edit": edit}, headers=headers)
    assert answer.status_code == 400 and "from 2 to 60" in answer.text


def test_it_is_exported_as_any_other(app, db, tmp_path):
    send(app, {"uid": "9", "intent": "textInput", "argument.text": "Seattle"})
    sources = list(exportable(db, app.extensions["demotape"].store))
    for name in ("weblinx", "mind2web", "webdataset"):
        export(sources, tmp_path / name, name)
    replay = json.loads(next((tmp_path / "weblinx").rglob("replay.json")).read_text())
    typed = [turn for turn in replay["data"] if turn.get("action", {}).get("intent") == "textInput"]
    assert [turn["action"]["arguments"]["text"] for turn in typed] == ["Seattle"]
    (task,) = json.loads(next((tmp_path / "mind2web").rglob("train_0.json")).read_text())
    (acted,) = task["actions"]
    assert acted["operation"] == {"op": "TYPE", "original_op": "TYPE", "value": "Seattle"} and acted["pos_candidates"]


def test_edits_of_the_added_action_a_split_and_a_join_keep_it(app, db):
    send(app, {"uid": "9", "intent": "textInput", "argument.text": "Seattle"})
    name = current(db, "rec-1")["turns"][1]["id"]
    version = 2
    for edit in ({"op": "set_arguments", "turn": name, "arguments": {"text": "Boston"}}, {"op": "drop", "turn": name},
                 {"op": "restore", "turn": name}, {"op": "move", "turn": name, "after": None},
                 {"op": "move", "turn": name, "after": "t1"}, {"op": "end_before", "turn": name}):
        version = add_edit(db, "rec-1", edit, version)
    part = "rec-1~p7"
    assert [turn["id"] for turn in current(db, part)["turns"]] == [name, "t4"]
    add_edit(db, "rec-1", {"op": "join", "other": part}, version)
    assert current(db, "rec-1")["turns"][1]["arguments"] == {"text": "Boston"}
    assert review(db, "rec-1").turns[1]["events"] == []


def test_two_people_who_add_the_same_are_told_what_differs():
    def demonstration(added: dict | None, **changes) -> tuple[dict, list]:
        """What one of them has, and no edits that place a video."""
        told = [{**TURN, "id": "t1", "events": [1]}, *([added | changes] if added else [])]
        return {"turns": told, "task": ""}, []
    lone = differences(demonstration(None), demonstration(TURN), [])
    assert [(each.what, each.turn) for each in lone] == [("added", "n")] and lone[0].edits == (
        {"op": "add", "turn": "n", "added": TURN, "after": "t1"},)
    (gone,) = differences(demonstration(TURN), demonstration(None), [])
    assert gone.edits == ({"op": "drop", "turn": "n"},)
    (other,) = differences(demonstration(TURN), demonstration(TURN, intent="hover"), [])
    assert other.what == "intent"
