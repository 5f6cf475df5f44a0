"""The review app without a browser: importing, editing, the database, the API, and what it refuses."""

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest

from curator_web import create_app, server
from curator_web.access.security import PAGE_POLICY, SNAPSHOT_POLICY
from curator_web.demonstrations.library.export_sources import exportable
from curator_web.demonstrations.library.library import current, import_recording
from curator_web.demonstrations.listing.listing import Filter, listing
from curator_web.demonstrations.workflow.editing import add_edit, edit_log
from curator_web.demonstrations.workflow.workflow import change_status
from curator_web.errors import Conflict, NotFound
from curator_web.users import Account
from pipeline.export import Selection, order_key
from recorder.writer import RecordingWriter
from schemas import InputError
from tests.support.curator.curator_fixtures import (
    HOSTILE,
    TASK,
    action,
    chat,
    hostile_turns,
    make_recording,
    manifest,
    pointer,
)

ALONE = Account("local", "lead", alone=True)


@pytest.fixture
def app(tmp_path, db_url):
    app = create_app(db_url, tmp_path / "data")
    app.testing = False
    yield app
    app.extensions["demotape"].db.close()


@pytest.fixture
def db(app):
    return app.extensions["demotape"].db


@pytest.fixture
def store(app):
    return app.extensions["demotape"].store


@pytest.fixture
def recording(tmp_path):
    return make_recording(tmp_path)


def set_status(db, name, status, version, reason=""):
    return change_status(db, name, status, version, ALONE, reason)


def ids(demonstration):
    return [turn["id"] for turn in demonstration["turns"]]


# ---- importing ---------------------------------------------------------------------------------------------------


def test_import_is_idempotent_and_keeps_edits(db, store, recording):
    assert import_recording(db, store, recording).outcome == "new"
    version = add_edit(db, "rec-1", {"op": "drop", "turn": "t3"}, 1)
    assert import_recording(db, store, recording).outcome == "known"
    again = json.loads((recording / "demonstration.json").read_text())
    again["turns"] = again["turns"][:5]
    (recording / "demonstration.json").write_text(json.dumps(again))
    assert import_recording(db, store, recording).outcome == "kept"
    assert len(current(db, "rec-1")["turns"]) == 6
    assert add_edit(db, "rec-1", {"op": "undo"}, version) == version + 1


def test_recording_processed_again_renews_what_nobody_edited(db, store, recording):
    import_recording(db, store, recording)
    again = json.loads((recording / "demonstration.json").read_text())
    again["turns"] = again["turns"][:5]
    (recording / "demonstration.json").write_text(json.dumps(again))
    assert import_recording(db, store, recording).outcome == "renewed"
    assert import_recording(db, store, recording).outcome == "known"
    assert listing(db).rows[0].turns == len(current(db, "rec-1")["turns"]) == 5


def test_import_refuses_what_cannot_be_reviewed(db, store, recording, tmp_path):
    with pytest.raises(InputError, match="not a recording"):
        import_recording(db, store, tmp_path)
    unprocessed = shutil.copytree(recording, tmp_path / "unprocessed")
    (unprocessed / "demonstration.json").unlink()
    with pytest.raises(InputError, match="demotape process"):
        import_recording(db, store, unprocessed)
    other = shutil.copytree(recording, tmp_path / "other")
    content = json.loads((other / "demonstration.json").read_text())
    (other / "demonstration.json").write_text(json.dumps(content | {"id": "../../escape"}))
    with pytest.raises(InputError, match="field id"):
        import_recording(db, store, other)
    twice = content | {"turns": [content["turns"][0], content["turns"][0]]}
    (other / "demonstration.json").write_text(json.dumps(twice))
    with pytest.raises(InputError, match="twice"):
        import_recording(db, store, other)
    assert listing(db).total == 0


def test_live_recording_is_refused(db, store, tmp_path):
    path = make_recording(tmp_path, recording_id="live")
    writer = RecordingWriter(tmp_path / "running" / "live", manifest("live"))
    shutil.copy(path / "demonstration.json", tmp_path / "running" / "live")
    with pytest.raises(InputError, match="is not finished"):
        import_recording(db, store, tmp_path / "running" / "live")
    writer.abandon()


def test_links_are_refused_and_nothing_is_left_behind(db, store, recording, tmp_path):
    (tmp_path / "secret").write_text("secret")
    blob = next((recording / "blobs").glob("*/*"))
    blob.unlink()
    blob.symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match="is a link"):
        import_recording(db, store, recording)
    assert os.listdir(store.recordings) == []


def test_only_known_files_are_copied(db, store, recording):
    (recording / "evil.html").write_text("x")
    (recording / "blobs" / "zz").mkdir()
    import_recording(db, store, recording)
    assert not (store.path("rec-1") / "evil.html").exists()
    assert sorted(os.listdir(store.path("rec-1"))) == sorted(set(os.listdir(recording)) - {"evil.html"})


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "/etc", ".tmp-x", "a" * 101, "a\0b", "ä"])
def test_store_takes_plain_names_only(store, name):
    with pytest.raises(NotFound):
        store.open(name)


# ---- editing ------------------------------------------------------------------------------------------------------


def test_edits_fold_and_counts_follow(db, store, recording):
    import_recording(db, store, recording)
    edits = [{"op": "drop", "turn": "t2"}, {"op": "move", "turn": "t5", "after": None},
             {"op": "set_arguments", "turn": "t4", "arguments": {"text": "Anchorage"}},
             {"op": "set_utterance", "turn": "t1", "utterance": "Please book a flight to Seattle"}]
    for version, edit in enumerate(edits, 1):
        assert add_edit(db, "rec-1", edit, version, user_name="ann") == version + 1
    now = current(db, "rec-1")
    assert ids(now) == ["t5", "t1", "t2", "t3", "t4", "t6"]
    row = listing(db).rows[0]
    assert (row.turns, row.dropped, row.edited, row.checks, row.version) == (6, 1, 3, 1, 5)
    assert [(edit.number, edit.content["op"], edit.who) for edit in edit_log(db, "rec-1")] == [
        (number, edit["op"], "ann") for number, edit in enumerate(edits, 1)]
    add_edit(db, "rec-1", {"op": "undo"}, 5)
    assert current(db, "rec-1")["turns"][1]["utterance"] == "Plese book a flight to Seatle"


def test_stale_version_is_refused_and_nothing_changes(db, store, recording):
    import_recording(db, store, recording)
    add_edit(db, "rec-1", {"op": "drop", "turn": "t2"}, 1)
    with pytest.raises(Conflict):
        add_edit(db, "rec-1", {"op": "drop", "turn": "t3"}, 1)
    with pytest.raises(Conflict):
        set_status(db, "rec-1", "approved", 1)
    assert [turn["id"] for turn in current(db, "rec-1")["turns"] if turn["dropped"]] == ["t2"]


def test_of_many_at_once_one_wins(db, store, recording):
    import_recording(db, store, recording)

    def attempt(number: int) -> bool:
        try:
            return add_edit(db, "rec-1", {"op": "drop", "turn": f"t{number}"}, 1) == 2
        except Conflict:
            return False
    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(attempt, range(1, 7))) == 1
    assert len(edit_log(db, "rec-1")) == listing(db).rows[0].dropped == 1


def test_edit_that_changes_nothing_is_not_kept(db, store, recording):
    import_recording(db, store, recording)
    assert add_edit(db, "rec-1", {"op": "restore", "turn": "t2"}, 1) == 1
    assert edit_log(db, "rec-1") == []


@pytest.mark.parametrize("edit", [
    {"op": "drop", "turn": "nowhere"}, {"op": "undo"}, {"op": "move", "turn": "t1", "after": "t1"}, {"op": "melt"},
    {"op": "set_arguments", "turn": "t3", "arguments": {"x": "left"}}, {"op": "set_utterance", "turn": "t2",
                                                                       "utterance": "x"}])
def test_edit_that_does_not_fit_is_refused(db, store, recording, edit):
    import_recording(db, store, recording)
    with pytest.raises(InputError):
        add_edit(db, "rec-1", edit, 1)
    assert listing(db).rows[0].version == 1


def test_approved_demonstration_is_locked_until_reopened(db, store, recording):
    import_recording(db, store, recording)
    version = set_status(db, "rec-1", "approved", 1)
    with pytest.raises(Conflict, match="reopen"):
        add_edit(db, "rec-1", {"op": "drop", "turn": "t2"}, version)
    version = set_status(db, "rec-1", "draft", version)
    with pytest.raises(InputError, match="reason"):
        set_status(db, "rec-1", "invalid", version)
    assert add_edit(db, "rec-1", {"op": "drop", "turn": "t2"}, version) == version + 1


def test_exportable_by_status(db, store, recording, tmp_path):
    import_recording(db, store, recording)
    import_recording(db, store, make_recording(tmp_path, recording_id="rec-2"))
    import_recording(db, store, make_recording(tmp_path, recording_id="rec-3"))
    add_edit(db, "rec-1", {"op": "drop", "turn": "t2"}, 1)
    set_status(db, "rec-1", "approved", 2)
    set_status(db, "rec-3", "invalid", 1, reason="wrong page")
    [source] = exportable(db, store, Selection("approved"))
    demonstration, held = source.demonstration, source.recording
    assert demonstration["turns"][1]["dropped"] and held.id == "rec-1"
    assert held.blob(demonstration["turns"][1]["state"]["screenshot"]).startswith(b"\xff\xd8")
    assert [source.id for source in exportable(db, store)] == sorted(["rec-1", "rec-2"], key=order_key)
    with pytest.raises(InputError):
        list(exportable(db, store, Selection("perfect")))


def test_list_is_searched_and_filtered(db, store, recording, tmp_path):
    import_recording(db, store, recording)
    import_recording(db, store, make_recording(tmp_path, recording_id="rec-2", task="100 % done_"))
    set_status(db, "rec-2", "submitted", 1)
    assert [row.id for row in listing(db, Filter("SEATTLE cheapest")).rows] == ["rec-1"]
    assert [row.id for row in listing(db, Filter("% done_")).rows] == ["rec-2"]
    assert listing(db, Filter("air.example")).total == 2
    assert [row.id for row in listing(db, Filter(status="submitted")).rows] == ["rec-2"]
    assert [row.id for row in listing(db, Filter("%")).rows] == ["rec-2"]  # a sign like any other
    assert listing(db, Filter("zebra")).rows == [] and listing(db, Filter("%%")).rows == []


# ---- API and headers ----------------------------------------------------------------------------------------------


@pytest.fixture
def client(app, db, store, recording):
    import_recording(db, store, recording)
    return app.test_client()


def test_api_has_the_pages_abilities(client, db):
    assert client.get("/api/demonstrations?search=seattle").json["demonstrations"][0]["task"] == TASK
    token = {"X-CSRFToken": client.get("/api/token").json["token"]}
    edit = {"version": 1, "edit": {"op": "drop", "turn": "t3"}}
    assert client.post("/api/demonstrations/rec-1/edits", json=edit).status_code == 400
    answer = client.post("/api/demonstrations/rec-1/edits", json=edit, headers=token)
    assert (answer.status_code, answer.json) == (201, {"version": 2})
    assert client.post("/api/demonstrations/rec-1/edits", json=edit, headers=token).status_code == 409
    assert client.get("/api/demonstrations/rec-1/turns").json == current(db, "rec-1")
    log = client.get("/api/demonstrations/rec-1/edits").json
    assert [(line["number"], line["edit"], line["who"]) for line in log] == [(1, edit["edit"], "local")]
    undo = {"version": 2, "edit": {"op": "undo"}}
    assert client.post("/api/demonstrations/rec-1/edits", json=undo, headers=token).json == {"version": 3}
    status = {"version": 3, "status": "approved"}
    assert client.put("/api/demonstrations/rec-1/status", json=status, headers=token).json == {"version": 4}
    assert client.get("/api/demonstrations/rec-1").json["status"] == "approved"
    wrong = client.post("/api/demonstrations/rec-1/edits", json={"version": 4, "edit": {"op": "melt"}}, headers=token)
    assert wrong.status_code == 422 and "op" in str(wrong.json["errors"])
    assert client.get("/api/demonstrations/none").json == {"code": 404, "message": "Unknown demonstration 'none'."}


def test_openapi_describes_every_path(client):
    paths = client.get("/api/openapi.json").json["paths"]
    assert {f"{method} {path}" for path, methods in paths.items() for method in methods if method != "parameters"} == {
        "get /api/account", "get /api/agreement", "post /api/assignments", "post /api/comments/{comment_id}/resolve",
        "get /api/dashboard", "post /api/deletions", "post /api/deletions/{batch}/restore",
        "delete /api/demonstrations/{demonstration_id}/known-answers", "get /api/demonstrations",
        "get /api/demonstrations/{demonstration_id}", "get /api/demonstrations/{demonstration_id}/answers",
        "get /api/demonstrations/{demonstration_id}/comments", "get /api/demonstrations/{demonstration_id}/console",
        "get /api/demonstrations/{demonstration_id}/edits", "get /api/demonstrations/{demonstration_id}/history",
        "get /api/demonstrations/{demonstration_id}/network", "get /api/demonstrations/{demonstration_id}/outcome",
        "get /api/demonstrations/{demonstration_id}/outcome/proposals",
        "get /api/demonstrations/{demonstration_id}/outcome/trial", "get /api/demonstrations/{demonstration_id}/proof",
        "get /api/demonstrations/{demonstration_id}/training", "get /api/demonstrations/{demonstration_id}/turns",
        "post /api/demonstrations/{demonstration_id}/comments", "post /api/demonstrations/{demonstration_id}/edits",
        "post /api/demonstrations/{demonstration_id}/known-answers",
        "post /api/demonstrations/{demonstration_id}/outcome/trial",
        "post /api/demonstrations/{demonstration_id}/proof", "post /api/demonstrations/{demonstration_id}/withdrawal",
        "put /api/demonstrations/{demonstration_id}/answers", "put /api/demonstrations/{demonstration_id}/outcome",
        "put /api/demonstrations/{demonstration_id}/status", "delete /api/export-presets/{preset_id}",
        "get /api/export-presets", "post /api/export-presets", "put /api/export-presets/{preset_id}",
        "post /api/exports", "post /api/exports/counts", "delete /api/filters/{filter_id}", "get /api/filters",
        "post /api/filters", "get /api/jobs", "get /api/jobs/{job_id}", "post /api/jobs/{job_id}/again",
        "get /api/judging", "get /api/judging/next", "get /api/judging/results", "post /api/judging/results",
        "post /api/judging/sample", "post /api/judging/verdicts", "put /api/judging/labels/{demonstration_id}",
        "get /api/keys", "put /api/keys", "get /api/labels", "put /api/labels", "post /api/moves", "post /api/next",
        "get /api/notifications", "post /api/notifications/read", "get /api/pairs", "post /api/pairs",
        "get /api/projects", "get /api/projects/{project}/guidelines", "get /api/projects/{project}/known-answers",
        "get /api/projects/{project}/members", "get /api/projects/{project}/scheme",
        "get /api/projects/{project}/scheme/agreement", "get /api/projects/{project}/settings", "post /api/projects",
        "post /api/projects/{project}/guidelines", "put /api/projects/{project}/members/{who}",
        "put /api/projects/{project}/prelabels", "put /api/projects/{project}/scheme",
        "put /api/projects/{project}/settings", "get /api/rooms/{room_id}", "post /api/rooms", "post /api/runs",
        "post /api/statuses", "get /api/tasks", "get /api/tasks/coverage", "get /api/tasks/{task_id}",
        "post /api/tasks", "post /api/tasks/next", "post /api/tasks/proposals", "post /api/tasks/{task_id}/back",
        "put /api/tasks/{task_id}", "put /api/tasks/{task_id}/state", "get /api/token", "get /api/training",
        "post /api/training", "post /api/training/decisions", "get /api/uploads/{upload_id}",
        "post /api/uploads/{upload_id}/finish", "put /api/uploads/{upload_id}",
        "put /api/uploads/{upload_id}/chunks/{number}", "delete /api/webhooks/{webhook_id}", "get /api/webhooks",
        "get /api/webhooks/{webhook_id}/deliveries", "post /api/webhooks"}


def test_headers_hosts_and_cookies(client):
    page = client.get("/demonstrations/rec-1")
    assert page.headers["Content-Security-Policy"] == PAGE_POLICY
    assert page.headers["X-Content-Type-Options"] == "nosniff"
    assert "HttpOnly" in page.headers["Set-Cookie"] and "SameSite=Lax" in page.headers["Set-Cookie"]
    for host, code in (("evil.example", 400), ("127.0.0.1.evil.example", 400), ("localhost:5000", 200),
                       ("[::1]:5000", 200), ("127.0.0.1", 200)):
        assert client.get("/", headers={"Host": host}).status_code == code, host
    without_token = client.post("/demonstrations/rec-1/edits", data={"op": "drop", "turn": "t1", "version": 1})
    assert without_token.status_code == 400


def test_blobs_are_served_by_kind_only(client, db):
    state = current(db, "rec-1")["turns"][2]["state"]
    picture = client.get(f"/blobs/rec-1/{state['screenshot']}")
    assert (picture.content_type, picture.headers["X-Content-Type-Options"]) == ("image/jpeg", "nosniff")
    assert "immutable" in picture.headers["Cache-Control"]
    small = client.get(f"/thumbnails/rec-1/{state['screenshot']}")
    assert small.content_type == "image/jpeg" and len(small.data) < len(picture.data)
    snapshot = client.get(f"/snapshot/rec-1/{state['dom']}?uid=9")
    assert snapshot.headers["Content-Security-Policy"] == SNAPSHOT_POLICY
    assert b'value="Anchorage"' in snapshot.data and b'data-demotape-outlined=""' in snapshot.data
    for path in (f"/blobs/rec-1/{state['dom']}", f"/thumbnails/rec-1/{state['dom']}", f"/blobs/rec-1/{'0' * 64}",
                 "/blobs/rec-1/..%2f..%2frecording.json", "/blobs/none/" + state["screenshot"],
                 f"/blobs/..%2frec-1/{state['screenshot']}", "/blobs/rec-1/recording.json"):
        assert client.get(path).status_code == 404, path


def test_port_that_is_taken_gives_one_line(app):
    running = server.make(app)
    with pytest.raises(InputError, match="cannot be used"):
        server.make(app, port=running.port)
    running.server_close()


def test_failures_have_pages_and_tell_nothing(client, app, monkeypatch):
    monkeypatch.setattr("curator_web.demonstrations.library.library.review", lambda *_: 1 / 0)
    page = client.get("/demonstrations/rec-1")
    assert page.status_code == 500 and b"division" not in page.data and b"Something went wrong" in page.data
    assert client.get("/nowhere").status_code == 404
    assert client.get("/api/nowhere").json["code"] == 404


def test_hostile_recording_is_escaped_on_every_page(client, db, store, tmp_path):
    path = make_recording(tmp_path, recording_id="hostile", task=HOSTILE, make_turns=hostile_turns)
    import_recording(db, store, path)
    for turn in current(db, "hostile")["turns"]:
        page = client.get("/demonstrations/hostile", query_string={"turn": turn["id"]})
        assert page.status_code == 200
        for run in (b"<script>document", b"<img src=x", b"6049261729"):
            assert run not in page.data
    assert client.get("/").status_code == 200
    assert client.get("/api/demonstrations/hostile/turns").status_code == 200


def test_stylesheets_and_pictures_of_a_snapshot_come_from_the_recording(app, db, store, tmp_path):
    def with_resources(writer):
        sheet = writer.blob(b"p { background: url('dot.png') } /* </style><b>x */")
        writer.resource({"url": "https://air.example/a.css", "content_type": "text/css", "time": 0.5, "blob": sheet})
        writer.resource({"url": "https://air.example/dot.png", "content_type": "image/png", "time": 0.5,
                         "blob": writer.blob(b"\x89PNG dot")})
        body = ('<link rel="stylesheet" href="/a.css"><link rel="preconnect" href="https://evil.example">'
                '<img src="dot.png"><iframe srcdoc="&lt;p onclick=&quot;x()&quot;&gt;inner&lt;/p&gt;"></iframe>')
        return [chat(1, "navigator", "x"), action(writer, 2, "click", pointer(), body)]
    import_recording(db, store, make_recording(tmp_path, make_turns=with_resources))
    state = current(db, "rec-1")["turns"][1]["state"]
    html = app.test_client().get(f"/snapshot/rec-1/{state['dom']}").text
    assert html.count("data:image/png;base64,") == 2 and "inner" in html
    assert not any(word in html for word in ("preconnect", "<link ", "</style><b>", "onclick"))  # <link>: a placeholder


def test_a_bitmap_is_served_as_png_and_as_a_small_jpeg(app, db, store, tmp_path):
    def with_bitmap(writer):
        turn = action(writer, 2, "click", pointer(), "<p>x</p>")
        pixels = np.full((96, 160, 3), 200, np.uint8)
        turn["state"]["screenshot"] = writer.blob(cv2.imencode(".bmp", pixels)[1].tobytes(), kind="screenshot")
        return [turn]

    import_recording(db, store, make_recording(tmp_path, make_turns=with_bitmap))
    name = current(db, "rec-1")["turns"][0]["state"]["screenshot"]
    client = app.test_client()
    for address, media_type, shape in (("blobs", "image/png", (96, 160)), ("thumbnails", "image/jpeg", (12, 20))):
        answer = client.get(f"/{address}/rec-1/{name}")
        assert answer.content_type == media_type
        assert cv2.imdecode(np.frombuffer(answer.data, np.uint8), 1).shape[:2] == shape
