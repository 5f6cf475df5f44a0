"""Hostile recordings and uploads: clear errors, nothing executed, nothing written outside the data folder."""

import io
import json
import os
import zipfile
from pathlib import Path

import pytest

from curator_web import create_app
from curator_web.demonstrations.library.library import current, import_recording
from curator_web.demonstrations.listing.listing import listing
from demotape.importing import import_package
from recorder.writer import RecordingWriter
from schemas import InputError, limits
from tests.support.curator.curator_fixtures import (
    BOX,
    HOSTILE,
    action,
    chat,
    element,
    hostile_turns,
    make_recording,
    pointer,
)
from tests.support.samples.packages import journal, pack


@pytest.fixture
def app(tmp_path):
    app = create_app(data_dir=tmp_path / "data", import_package=import_package)
    yield app
    app.extensions["demotape"].jobs.close()


@pytest.fixture
def services(app):
    return app.extensions["demotape"]


def tree(folder: Path) -> set[str]:
    """Every file below a folder but the database's, which notes what failed."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.name.startswith("demotape.db")}


def rewritten(path: Path, change) -> Path:
    """The recording with another demonstration.json."""
    file = path / "demonstration.json"
    content = json.loads(file.read_text())
    changed = change(content)
    file.write_text(changed if isinstance(changed, str) else json.dumps(changed))
    return path


def on_turn(number: int, **changes):
    """Change a turn."""
    def change(content):
        content["turns"][number] |= changes
        return content
    return change


@pytest.mark.parametrize(("change", "words"), [
    (lambda content: "{", "not JSON"),
    (lambda content: "[" * 100_000, "not JSON"),
    (lambda content: "null", "Invalid input type"),
    (lambda content: content | {"id": "../../etc/passwd"}, "field id"),
    (lambda content: content | {"id": "/etc/passwd"}, "field id"),
    (lambda content: content | {"id": "rec-1\n"}, "field id"),
    (lambda content: content | {"recording": "../other"}, "field recording"),
    (lambda content: content | {"turns": content["turns"] * 2}, "twice"),
    (lambda content: content | {"turns": {"0": {}}}, "field turns"),
    (lambda content: content | {"version": 99}, "field version"),
    (lambda content: content | {"extra": 1}, "field extra"),
    (on_turn(0, speaker="<script>"), "field turns.0.speaker"),
    (on_turn(2, intent="explode"), "field turns.2.intent"),
    (on_turn(2, arguments={"x": "left", "y": None, "button": 0, "modifiers": []}), "field turns.2.arguments"),
    (on_turn(2, timestamp=float("nan")), "field turns.2.timestamp"),
    (on_turn(2, element=element(bbox=BOX | {"width": float("inf")})), "field turns.2.element.bbox.width"),
    (on_turn(2, state={"screenshot": "../../../etc/passwd"}), "field turns.2.state"),
])
def test_a_broken_demonstration_is_refused_by_field(services, tmp_path, change, words):
    path = rewritten(make_recording(tmp_path), change)
    before = tree(tmp_path)
    with pytest.raises(InputError) as caught:
        import_recording(services.db, services.store, path)
    assert words in str(caught.value) and "\n" not in str(caught.value).strip() and len(str(caught.value)) < 500
    assert listing(services.db).total == 0
    assert tree(tmp_path) - before == set()


@pytest.mark.parametrize("name", ["..", "../x", "/etc/passwd", "a" * 64, "A" * 64, "", "0" * 63, "%2e%2e"])
def test_no_name_of_a_blob_leads_anywhere(app, services, tmp_path, name):
    import_recording(services.db, services.store, make_recording(tmp_path))
    client = app.test_client()
    for room in ("blobs", "thumbnails", "snapshot"):
        assert client.get(f"/{room}/rec-1/{name}").status_code == 404
        assert client.get(f"/{room}/{name}/{'0' * 64}").status_code == 404


def test_a_blob_that_is_not_what_its_name_says_is_not_served(app, services, tmp_path):
    import_recording(services.db, services.store, make_recording(tmp_path))
    state = current(services.db, "rec-1")["turns"][2]["state"]
    held = services.store.path("rec-1")
    for file in held.glob("blobs/*/*"):
        file.write_bytes(b"\x28\xb5\x2f\xfd<script>alert(1)</script>")
    client = app.test_client()
    for room, name in (("blobs", "screenshot"), ("thumbnails", "screenshot"), ("snapshot", "dom")):
        assert client.get(f"/{room}/rec-1/{state[name]}").status_code == 404
    assert client.get("/demonstrations/rec-1?turn=t3&view=targets").status_code in (200, 400, 404)


def test_huge_boxes_and_far_pointers_are_shown(app, services, tmp_path):
    most = limits.LENGTH

    def huge(writer: RecordingWriter) -> list[dict]:
        far = {"x": -most, "y": most, "width": most, "height": 5e-324}
        return [action(writer, 1, "click", pointer(-most, most), element=element(bbox=far)),
                action(writer, 2, "drag", {"from": {"x": most, "y": 0}, "to": {"x": -most, "y": 0}}),
                action(writer, 3, "scroll", {"x": most, "y": -most}, element=None)]
    import_recording(services.db, services.store, make_recording(tmp_path, make_turns=huge))
    client = app.test_client()
    for turn in ("t1", "t2", "t3"):
        for view in ("screenshot", "dom", "targets"):
            assert client.get(f"/demonstrations/rec-1?turn={turn}&view={view}").status_code == 200


def test_a_box_that_no_page_has_is_refused(services, tmp_path):
    def huge(writer: RecordingWriter) -> list[dict]:
        return [action(writer, 1, "click", pointer(), element=element(bbox=BOX | {"x": 1e308}))]
    with pytest.raises(InputError, match="field turns.0.element.bbox.x: Must be greater than"):
        import_recording(services.db, services.store, make_recording(tmp_path, make_turns=huge))


def test_text_of_every_kind_is_kept_found_and_shown(app, services, tmp_path):
    odd = "\0 \ud83d \u202egnirts\u202c \ufeff <b> ' \" \\ %s {{7*7}} \x1b[31m " + "x" * 100_000

    def odd_turns(writer: RecordingWriter) -> list[dict]:
        return [chat(1, "navigator", odd), action(writer, 2, "textInput", {"text": odd}, element=element(
            name=odd, attributes={odd: odd}, css=odd, xpath=odd))]
    import_recording(services.db, services.store, make_recording(tmp_path, make_turns=odd_turns, task=odd))
    client = app.test_client()
    for address in ("/", "/demonstrations/rec-1", "/demonstrations/rec-1?turn=t2", "/?search=gnirts",
                    "/api/demonstrations/rec-1/turns"):
        answer = client.get(address)
        assert answer.status_code == 200 and "{{7*7}}" in answer.text  # what is captured is no template
    assert client.get("/?search=%00%27").status_code == 200
    assert "rec-1" in client.get("/?search=gnirts").text


def test_very_many_turns_are_imported_and_edited(app, services, tmp_path):
    count = 20_000

    def many(writer: RecordingWriter) -> list[dict]:
        return [chat(number, "navigator", "x") for number in range(count)]
    import_recording(services.db, services.store, make_recording(tmp_path, make_turns=many))
    assert listing(services.db).rows[0].turns == count
    client = app.test_client()
    token = {"X-CSRFToken": client.get("/api/token").json["token"]}
    edit = {"version": 1, "edit": {"op": "drop", "turn": "t7"}}
    assert client.post("/api/demonstrations/rec-1/edits", json=edit, headers=token).json == {"version": 2}
    assert listing(services.db).rows[0].dropped == 1


BODIES = {
    "arrays in arrays": "[" * 50_000, "objects in objects": '{"a":' * 50_000,
    "a long number": '{"version":' + "9" * 5000 + ',"edit":{"op":"drop","turn":"t1"}}',
    "an endless number": '{"version":1e400,"edit":{"op":"drop","turn":"t1"}}',
    "half a character": '{"version":1,"key":"\\ud800","edit":{"op":"drop","turn":"\\ud800"}}',
    "no text": b"\xff\xfe\0{",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_no_body_is_a_fault_of_the_server(app, services, tmp_path, body):
    import_recording(services.db, services.store, make_recording(tmp_path))
    client = app.test_client()
    headers = {"X-CSRFToken": client.get("/api/token").json["token"], "Content-Type": "application/json"}
    for method, path in (("post", "demonstrations/rec-1/edits"), ("put", "demonstrations/rec-1/status"),
                         ("post", "demonstrations/rec-1/comments"), ("post", "next"), ("post", "assignments")):
        answer = getattr(client, method)(f"/api/{path}", data=body, headers=headers)
        assert 400 <= answer.status_code < 500, (path, answer.text)


def test_a_moment_beyond_all_recordings_is_not_there(app, services, tmp_path):
    import_recording(services.db, services.store, make_recording(tmp_path))
    for number in ("9" * 19, "9" * 400):
        assert app.test_client().get(f"/frames/rec-1/{number}").status_code == 404


def far(**changes):
    """An element whose box is changed."""
    return element(bbox=BOX | changes)


EDITS = [
    ({"op": "add", "turn": "n", "after": None, "added": chat(9, "navigator", "x") | {"id": "n", "timestamp": 1e308}},
     "timestamp"),
    ({"op": "retarget", "turn": "t2", "element": far(x=1e308)}, "bbox"),
    ({"op": "retarget", "turn": "t2", "element": far(width=-1)}, "bbox"),
    ({"op": "set_arguments", "turn": "t2", "arguments": pointer() | {"x": 1e308}}, "arguments"),
    ({"op": "set_arguments", "turn": "t2", "arguments": pointer() | {"button": 10 ** 400}}, "arguments"),
    ({"op": "set_screenshot", "turn": "t2", "screenshot": "0" * 64, "screenshot_time": 1.0, "source": "captured"},
     "unknown picture"),
    ({"op": "set_screenshot", "turn": "t2", "screenshot": "0" * 64 + "\n", "screenshot_time": 1.0,
      "source": "captured"}, "screenshot"),
]


@pytest.mark.parametrize(("edit", "words"), EDITS, ids=lambda value: value if isinstance(value, str) else value["op"])
def test_an_edit_that_could_not_be_shown_or_exported_is_refused(app, services, tmp_path, edit, words):
    def two(writer: RecordingWriter) -> list[dict]:
        return [chat(1, "navigator", "x"), action(writer, 2, "click", pointer(), element=element())]
    import_recording(services.db, services.store, make_recording(tmp_path, make_turns=two))
    client = app.test_client()
    token = {"X-CSRFToken": client.get("/api/token").json["token"]}
    answer = client.post("/api/demonstrations/rec-1/edits", json={"version": 1, "edit": edit}, headers=token)
    assert answer.status_code in (400, 422) and words in answer.text
    assert client.get("/demonstrations/rec-1").status_code == 200
    assert client.get("/api/demonstrations/rec-1").json["version"] == 1


def test_the_fix_of_a_check_sets_no_picture_that_is_not_there(app, services, tmp_path):
    fix = {"op": "set_screenshot", "turn": "t2", "screenshot": "0" * 64, "screenshot_time": 1.0, "source": "captured"}

    def two(writer: RecordingWriter) -> list[dict]:
        clicked = action(writer, 2, "click", pointer(), element=element())
        return [chat(1, "navigator", "x"), clicked | {"checks": [{"kind": "late", "reason": "Late.", "fix": fix}]}]
    import_recording(services.db, services.store, make_recording(tmp_path, make_turns=two))
    client = app.test_client()
    form = {"op": "fix", "turn": "t2", "check": "late", "version": "1",
            "csrf_token": client.get("/api/token").json["token"]}
    answer = client.post("/demonstrations/rec-1/edits", data=form)
    assert answer.status_code == 400 and "unknown picture" in answer.text
    assert client.get("/api/demonstrations/rec-1").json["version"] == 1


@pytest.mark.parametrize("name", ["../evil", "/evil", "blobs/../../evil", "blobs\\..\\evil", "evil\0.txt", "C:evil"])
def test_a_package_never_writes_outside_its_folder(services, tmp_path, name):
    package = pack(tmp_path / "p.zip")
    with zipfile.ZipFile(package, "a") as archive:
        entry = zipfile.ZipInfo("x")
        entry.filename = name
        archive.writestr(entry, b"evil")
    before = tree(tmp_path)
    with pytest.raises(InputError):
        import_package(services.db, services.store, package)
    assert tree(tmp_path) == before


def test_a_link_in_a_package_is_no_link(services, tmp_path):
    package = pack(tmp_path / "p.zip")
    with zipfile.ZipFile(package, "a") as archive:
        entry = zipfile.ZipInfo("link")
        entry.external_attr = 0o120777 << 16
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(InputError, match="is not a file of a package"):
        import_package(services.db, services.store, package)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(services, tmp_path):
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", b" " * (64 << 20))
    (tmp_path / "bomb.zip").write_bytes(bomb.getvalue())
    assert len(bomb.getvalue()) < 1 << 20
    before = tree(tmp_path)
    with pytest.raises(InputError):
        import_package(services.db, services.store, tmp_path / "bomb.zip")
    assert tree(tmp_path) == before


@pytest.mark.parametrize("line", [{"n": 1, "kind": "nothing"}, {"kind": HOSTILE}, {"kind": None}, {"kind": []},
                                  {"n": 10**30}, {}])
def test_a_hostile_journal_is_refused(services, tmp_path, line):
    with pytest.raises(InputError) as caught:
        import_package(services.db, services.store, pack(tmp_path / "p.zip", [line, *journal()]))
    assert len(str(caught.value)) < 500


def test_nothing_of_a_hostile_recording_runs_on_any_page(app, services, tmp_path):
    path = make_recording(tmp_path, recording_id="hostile", task=HOSTILE, make_turns=hostile_turns)
    import_recording(services.db, services.store, path, recorded_by="bob")
    client = app.test_client()
    for address in ("/", "/?search=script", "/demonstrations/hostile", "/questions"):
        answer = client.get(address)
        assert answer.status_code == 200
        assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
        assert b"<script>document" not in answer.data and b"<img src=x" not in answer.data


def test_secrets_are_not_in_the_log(app, services, tmp_path, caplog):
    from curator_web.users import add_user
    token = add_user(services.db, "ann", "lead", "a long enough password")
    client = app.test_client()
    client.post("/sign-in", data={"name": "ann", "password": "a long enough password"})
    client.get("/api/account", headers={"Authorization": f"Bearer {token}"})
    assert token not in caplog.text and "long enough" not in caplog.text
    assert os.stat(tmp_path / "data" / "secret.key").st_mode & 0o077 == 0
