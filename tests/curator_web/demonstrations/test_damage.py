"""Demonstrations that cannot be shown or exported: named wherever one meets them, and they stop nothing else."""

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from sqlalchemy import delete, select, update

from curator_web import create_app
from curator_web.db.models.core import BaseTurns, Demonstration, Edit
from curator_web.demonstrations.library.library import current, import_recording
from curator_web.demonstrations.workflow.editing import add_edit
from demotape.cli import main
from pipeline.export.manifest import read_manifest
from tests.support.curator.curator_fixtures import database_of, make_recording, typed_recording

NOW = "2025-01-02T03:04:05+00:00"


def blob_of(held, name: str, kind: str):
    """Where the blob of a demonstration's second turn lies."""
    state = current(held.db, name)["turns"][1]["state"]
    return held.store.open(name).layout.blob(state[kind])


def without_picture(held, name):
    blob_of(held, name, "screenshot").unlink()


def with_broken_page(held, name):
    blob_of(held, name, "dom").write_bytes(b"no zstandard")


def without_recording(held, name):
    shutil.rmtree(held.store.path(name))


def with_broken_manifest(held, name):
    (held.store.path(name) / "recording.json").write_text("{")


def with_edit(content: dict) -> Callable:
    """As an older version took it, unlooked at."""
    def damage(held, name):
        version = add_edit(held.db, name, {"op": "drop", "turn": "t6"}, 1)
        with held.db.writing() as session:
            session.execute(update(Edit).where(Edit.demonstration_id == name).values(content=content, version=version))
    return damage


def with_base(change: Callable[[dict], None]) -> Callable:
    def damage(held, name):
        with held.db.writing() as session:
            row = session.get_one(BaseTurns, name)
            content = json.loads(json.dumps(row.content))
            change(content)
            row.content = content
    return damage


def without_base(held, name):
    with held.db.writing() as session:
        session.execute(delete(BaseTurns).where(BaseTurns.demonstration_id == name))


def late(content):
    content["turns"][2]["timestamp"] = 1e308


def wide(content):
    content["turns"][2]["element"]["bbox"]["width"] = 1e308


def turnless(content):
    del content["turns"]


PICTURE = {"op": "set_screenshot", "turn": "t3", "screenshot": "0" * 64, "screenshot_time": 1.0, "source": "video"}
# What is damaged; whether there is still something to be shown of it; what the reason says.
DAMAGES = {
    "picture-gone": (without_picture, True, "blob is missing"),
    "page-broken": (with_broken_page, True, "blob cannot be read"),
    "recording-gone": (without_recording, True, "unknown recording"),
    "manifest-broken": (with_broken_manifest, True, "not JSON"),
    "picture-never-was": (with_edit(PICTURE), True, "blob is missing"),
    "edit-of-nothing": (with_edit({"op": "drop", "turn": "gone"}), False, "no turn 'gone'"),
    "edit-of-no-kind": (with_edit({"op": "drop"}), False, "KeyError"),
    "time-impossible": (with_base(late), False, "field turns.2.timestamp"),
    "box-impossible": (with_base(wide), True, "field turns.2.element.bbox.width"),
    "turns-gone": (with_base(turnless), False, "KeyError"),
    "base-gone": (without_base, False, "NoResultFound"),
}
SOUND = ["sound-1", "sound-2"]
SEEN_BY_EXPORT_ALONE = {"page-broken"}


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """The folder of the recordings as they were imported."""
    folder = tmp_path_factory.mktemp("recordings")
    for name in (*SOUND, *DAMAGES):
        make_recording(folder, recording_id=name)
    return folder


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def app(request, recordings, tmp_path_factory):
    """One for all tests, which come in the order of what they change."""
    app = create_app(database_of(request), tmp_path_factory.mktemp("app") / "data")
    held = app.extensions["demotape"]
    for name in (*SOUND, *DAMAGES):
        import_recording(held.db, held.store, recordings / name)
        if name in DAMAGES:
            DAMAGES[name][0](held, name)
    yield app
    held.jobs.close()
    held.db.close()


def words_of_app(held) -> list[str]:
    """The options by which a command finds the app."""
    return ["--db", held.db.engine.url.render_as_string(hide_password=False), "--data", str(held.store.data_dir)]


def damaged(held) -> dict[str, str]:
    with held.db.reading() as session:
        rows = session.execute(select(Demonstration.id, Demonstration.damage)).all()
    return {name: said for name, said in rows if said}


def test_each_is_named_on_its_page_in_the_list_and_by_the_api_and_stops_no_other(app):
    held, client = app.extensions["demotape"], app.test_client()
    for name, (_, shown, words) in DAMAGES.items():
        page = client.get(f"/demonstrations/{name}")
        assert page.status_code == (200 if shown else 409), name
        assert str(held.store.data_dir) not in page.text
        if name not in SEEN_BY_EXPORT_ALONE:
            assert "damaged" in page.text, name
        turns = client.get(f"/api/demonstrations/{name}/turns")
        assert turns.status_code in (200, 409), (name, turns.text)
        if turns.status_code == 409:
            assert "damaged" in turns.json["message"]
            assert words.replace("'", "&#39;") in page.text or words in held.store.without_paths(page.text), name
        for address in ("", "/edits"):
            assert client.get(f"/api/demonstrations/{name}{address}").status_code in (200, 409), (name, address)
        assert client.get(f"/demonstrations/{name}/changes").status_code in (200, 409), name
    assert damaged(held).keys() == DAMAGES.keys() - SEEN_BY_EXPORT_ALONE
    listed = client.get("/").text
    assert listed.count(">damaged</span>") == len(DAMAGES) - 1
    rows = {row["id"]: row["damage"] for row in client.get("/api/demonstrations").json["demonstrations"]}
    assert rows.keys() == {*SOUND, *DAMAGES} and rows["sound-1"] is None and rows["base-gone"]
    for address in ("/?search=seattle", "/dashboard", "/api/dashboard", "/questions",
                    *(f"/demonstrations/{name}" for name in SOUND)):
        answer = client.get(address)
        assert answer.status_code == 200 and "is damaged" not in answer.text, address
    nothing = {"csrf_token": client.get("/api/token").json["token"]}
    handed = client.post("/next", data=nothing).headers["Location"]
    assert any(name in handed for name in (*SOUND, *SEEN_BY_EXPORT_ALONE)), handed


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_export_names_what_it_leaves_out_and_writes_the_others(app, tmp_path, jobs):
    held = app.extensions["demotape"]
    if jobs == "2" and held.db.engine.dialect.name != "sqlite":
        pytest.skip("several processes are no matter of the database")
    done = CliRunner().invoke(main, ["export", str(tmp_path / "out"), "--format", "weblinx", "--status", "any",
                                     "--jobs", jobs, *words_of_app(held)])
    assert done.exit_code == 1, done.output
    for name, (*_, words_) in DAMAGES.items():
        [line] = [line for line in done.stderr.splitlines() if line.startswith(f"damaged: {name}: ")]
        assert words_ in line, (name, line)
        assert str(held.store.data_dir) not in line
    assert f"{len(DAMAGES)} of {len(DAMAGES) + 2} demonstrations are damaged" in done.stderr.replace("\n", " ")
    manifest = read_manifest(tmp_path / "out")
    assert [each["id"] for each in manifest["demonstrations"]] == SOUND
    assert sorted(manifest["damaged"]) == sorted(DAMAGES)
    assert CliRunner().invoke(main, ["check", str(tmp_path / "out")]).exit_code == 0
    assert damaged(held).keys() == DAMAGES.keys()


def test_the_job_says_it_too(app):
    held, client = app.extensions["demotape"], app.test_client()
    headers = {"X-CSRFToken": client.get("/api/token").json["token"]}
    number = client.post("/api/exports", json={"format": "webdataset", "status": "any"}, headers=headers).json["id"]
    held.jobs.close()
    job = client.get(f"/api/jobs/{number}").json
    assert job["state"] == "done" and job["result"]["demonstrations"] == 2, job
    assert job["result"]["damaged"] == len(DAMAGES)
    assert {each["id"] for each in job["result"]["damaged_first"]} == DAMAGES.keys()
    page = client.get("/exports").text
    assert f"{len(DAMAGES)} damaged, excluded<" in page and str(held.store.data_dir) not in page + json.dumps(job)


def test_importing_again_mends_what_can_be_mended(app, recordings):
    held, client = app.extensions["demotape"], app.test_client()
    for name in ("recording-gone", "picture-gone", "base-gone", "time-impossible"):
        assert name in damaged(held)
        import_recording(held.db, held.store, recordings / name)
        answer = client.get(f"/demonstrations/{name}")
        assert answer.status_code == 200 and "is damaged" not in answer.text, name
        assert name not in damaged(held)


@pytest.mark.parametrize("recorded", [datetime.min, datetime.max])
def test_a_time_that_no_zone_has_stops_no_list(app, recorded):
    held = app.extensions["demotape"]
    with held.db.writing() as session:
        session.execute(update(Demonstration).where(Demonstration.id == "sound-1")
                        .values(recorded_at=recorded.replace(tzinfo=UTC)))
    for address in ("/", "/api/demonstrations", "/?sort=recorded_at", "/demonstrations/sound-1", "/dashboard"):
        assert app.test_client().get(address).status_code == 200, address


def test_what_is_damaged_is_neither_edited_nor_lost_and_may_be_marked_invalid(app):
    held, client = app.extensions["demotape"], app.test_client()
    headers = {"X-CSRFToken": client.get("/api/token").json["token"]}
    for name in ("edit-of-nothing", "edit-of-no-kind", "turns-gone"):
        version = client.get(f"/api/demonstrations/{name}").json["version"]
        edit = {"version": version, "edit": {"op": "drop", "turn": "t1"}}
        assert client.post(f"/api/demonstrations/{name}/edits", json=edit, headers=headers).status_code == 409, name
        given = {"version": version, "status": "invalid", "reason": "damaged"}
        assert client.put(f"/api/demonstrations/{name}/status", json=given, headers=headers).status_code == 200, name
    with held.db.reading() as session:
        assert session.get(Demonstration, "turns-gone").status == "invalid"


def test_an_export_of_nothing_but_damage_is_refused(app, tmp_path):
    held = app.extensions["demotape"]
    with held.db.writing() as session:
        session.execute(update(Demonstration).where(Demonstration.id == "page-broken").values(status="validated"))
    words = ["export", str(tmp_path / "out"), "--format", "weblinx", "--status", "validated", *words_of_app(held)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2 and "none of 1 demonstrations" in done.stderr.replace("\n", " ")
    assert not (tmp_path / "out").exists()


def test_check_and_process_go_on(tmp_path):
    first = typed_recording(tmp_path, recording_id="rec-0")
    names = [str(first), *(str(shutil.copytree(first, tmp_path / f"rec-{number}")) for number in range(1, 6))]
    (tmp_path / "rec-1" / "events.jsonl").write_text("{\n")
    (tmp_path / "rec-2" / "recording.json").write_text("{")
    (tmp_path / "rec-3" / "demonstration.json").write_text("[")
    shutil.rmtree(tmp_path / "rec-4")
    checked = CliRunner().invoke(main, ["check", *names])
    assert checked.exit_code == 1 and "4 of 6 are incomplete or damaged" in checked.stderr
    assert [f"{names[number]}: whole" in checked.stdout.replace("\n", "") for number in range(6)] == [
        True, False, False, False, False, True]
    processed = CliRunner().invoke(main, ["process", *names])
    assert processed.exit_code != 0 and "3 of 6 failed" in processed.stderr.replace("\n", " ")
