"""The raw dump beside Mind2Web's task files, with pictures and snapshots of a real Chromium."""

import base64
import json

import pyarrow.parquet
import pytest
from playwright.sync_api import sync_playwright

from pipeline.export import export
from pipeline.importing import list_items
from schemas import InputError
from schemas.chromium import find_chromium
from tests.pipeline.importing.test_own_exports import Source, imported, make_demonstration, write_recording

_PAGE = "data:text/html;charset=utf-8,<title>Lämps</title><p style='height:3000px'>Lamps"


@pytest.fixture(scope="module")
def moment():
    """Snapshot and picture of a page, as the authors took them."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(_PAGE)
        snapshot = page.context.new_cdp_session(page).send("DOMSnapshot.captureSnapshot", {
            "computedStyles": [], "includeDOMRects": True, "includePaintOrder": True})
        picture = page.screenshot(full_page=True, type="jpeg")
        browser.close()
    return {"dom": snapshot, "screenshot": base64.b64encode(picture).decode()}


@pytest.fixture
def task(tmp_path):
    """A folder with a task file that names no screenshots, and its task."""
    recording = write_recording(tmp_path / "recordings" / "shop-1")
    folder = tmp_path / "mind2web"
    export([Source(make_demonstration(recording), recording)], folder, "mind2web")
    file = folder / "data" / "train" / "train_0.json"
    tasks = json.loads(file.read_text())
    for action in tasks[0]["actions"]:
        del action["screenshot"]
    file.write_text(json.dumps(tasks))
    return folder, tasks[0]


def write_dump(folder, moments):
    """The two files of a task's dump; `moments`: by the uid of the action."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, field in (("screenshot.json", "screenshot"), ("dom_content.json", "dom")):
        (folder / name).write_text(json.dumps([
            {"action_uid": uid, "before": {field: moment[field]}, "action": {}, "after": {}}
            for uid, moment in moments.items()]))


@pytest.mark.parametrize("place", ["raw_dump/task/{}/processed", "task/{}/processed", "raw_dump/{}", "{}"])
def test_pictures_and_addresses_come_from_the_dump(task, moment, tmp_path, place):
    folder, fields = task
    uids = [action["action_uid"] for action in fields["actions"]]
    name = fields["annotation_id"]
    write_dump(folder / place.format(name), {uid: moment for uid in reversed(uids[1:])})
    source = imported(folder, tmp_path / "imported")["shop-1"]
    states = [turn["state"] for turn in source.turns]
    assert [state["url"] for state in states] == ["", *[_PAGE.replace("ä", "%C3%A4")] * (len(uids) - 1)]
    assert {state["title"] for state in states[1:]} == {"Lämps"}
    pictures = [state["screenshot"] for state in states]
    assert not pictures[0] and all(pictures[1:])


def test_multimodal_rows_have_the_addresses_of_the_dump(moment, tmp_path):
    recording = write_recording(tmp_path / "recordings" / "shop-1")
    folder = tmp_path / "multimodal"
    export([Source(make_demonstration(recording), recording)], folder, "multimodal-mind2web")
    rows = pyarrow.parquet.read_table(next(folder.glob("data/*.parquet"))).to_pylist()
    write_dump(folder / "task" / rows[0]["annotation_id"] / "processed", {row["action_uid"]: moment for row in rows})
    source, = imported(folder, tmp_path / "imported").values()
    assert {turn["state"]["title"] for turn in source.turns} == {"Lämps"}


def test_a_picture_that_could_not_be_taken(task, moment, tmp_path):
    folder, fields = task
    write_dump(folder / "task" / fields["annotation_id"] / "processed", {
        action["action_uid"]: {**moment, "screenshot": "", "dom": None} for action in fields["actions"]})
    source = imported(folder, tmp_path / "imported")["shop-1"]
    assert not any(turn["state"]["screenshot"] or turn["state"]["url"] for turn in source.turns)


@pytest.mark.parametrize(("field", "value", "file"), [
    ("screenshot", "no Base64!", "screenshot.json"), ("screenshot", 7, "screenshot.json"),
    ("dom", {"documents": []}, "dom_content.json"), ("dom", 7, "dom_content.json")])
def test_odd_fields_are_one_clear_error(task, moment, tmp_path, field, value, file):
    folder, fields = task
    write_dump(folder / "task" / fields["annotation_id"], {
        action["action_uid"]: {**moment, field: value} for action in fields["actions"]})
    with pytest.raises(InputError, match=file):
        imported(folder, tmp_path / "imported")


@pytest.mark.parametrize("name", ["../../outside", "/etc", "..", "a\0b", ""])
def test_ids_are_no_paths(task, moment, tmp_path, name):
    folder, fields = task
    write_dump(tmp_path / "outside", {action["action_uid"]: moment for action in fields["actions"]})
    file = folder / "data" / "train" / "train_0.json"
    file.write_text(json.dumps([{**fields, "annotation_id": name}]))
    sources = imported(folder, tmp_path / "imported")
    assert not any(turn["state"]["screenshot"] for source in sources.values() for turn in source.turns)


def test_links_are_refused(task, moment, tmp_path):
    folder, fields = task
    write_dump(tmp_path / "outside", {action["action_uid"]: moment for action in fields["actions"]})
    place = folder / "task" / fields["annotation_id"]
    place.mkdir(parents=True)
    (place / "screenshot.json").symlink_to(tmp_path / "outside" / "screenshot.json")
    with pytest.raises(InputError, match="is a link"):
        imported(folder, tmp_path / "imported")


def test_a_dump_without_task_file_is_not_taken_for_a_task(moment, tmp_path):
    write_dump(tmp_path / "task" / "shop-1" / "processed", {"a-1": moment})
    assert list_items(tmp_path) is None
