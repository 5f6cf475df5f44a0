"""The requests between two actions: under the page that is shown, on a page by themselves, and for programs."""

import json

import pytest
from playwright.sync_api import expect

from curator_web.db.models.core import LEAD
from curator_web.demonstrations.library.library import import_recording, listed
from curator_web.users import LOCAL, Account
from pipeline.network import MAX_REQUESTS
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.edits import edit
from tests.support.samples.exchanges import SECRET, turns_with_network

from .conftest import open_review


@pytest.fixture(scope="module")
def kept(site, tmp_path_factory) -> str:
    path = make_recording(tmp_path_factory.mktemp("kept"), recording_id="kept", make_turns=turns_with_network,
                          options={"replayable": True})
    return import_recording(site.db, site.store, path).id


def test_requests_are_shown_by_a_key_and_run_nothing(page, site, kept):
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_review(page, site, kept, "t3")
    table = page.get_by_role("table")
    expect(table).to_have_count(0)
    page.keyboard.press("Shift+N")
    expect(table.locator("tbody tr")).to_have_count(3)
    expect(table).to_be_in_viewport(ratio=1)
    first, hostile, missing = table.locator("tbody tr").all()
    for text in ("0:03.2", "POST", "200", "air.example/seats", "application/json", "42,000", "250 ms"):
        expect(first).to_contain_text(text)
    expect(hostile).to_contain_text("none")
    expect(hostile).to_contain_text("<script>document.title='owned'</script>")
    expect(missing).to_contain_text("404")
    assert page.title() != "owned" and page.locator(".network :is(script, img)").count() == 0
    assert SECRET not in page.content() and all(url.startswith((site.url, "data:")) for url in asked)
    page.keyboard.press("j")
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t4")
    expect(table).to_have_count(0)
    page.keyboard.press("Shift+N")
    expect(table.locator("tbody tr")).to_have_count(MAX_REQUESTS)
    expect(page.locator(".network")).to_contain_text(f"The first {MAX_REQUESTS} of 150.")
    page.keyboard.press("Shift+N")
    expect(table).to_be_hidden()


def test_without_scripts_the_table_has_a_page_by_itself(browser, site, kept):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    open_review(page, site, kept, "t6")
    page.get_by_text("Network and console until the next action").click()
    page.get_by_role("link", name="Show network and console").click()
    expect(page.get_by_text("Nothing was requested.")).to_be_visible()
    page.get_by_role("link", name="Review").click()
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t6")
    context.close()


def test_the_api_tells_what_lies_between_two_actions(page, site, kept, demonstration):
    def told(turn: str, name: str = kept):
        return page.request.get(f"{site.url}api/demonstrations/{name}/network", params={"turn": turn})

    first = told("t1").json()  # all that was asked for before the first action
    assert (first["begin"], first["end"], first["total"]) == (0, 2, 1)
    between = told("t3").json()
    assert (between["begin"], between["end"], between["total"]) == (3, 4, 3)
    assert between["requests"][0] == {
        "time": 3.2, "duration": 0.25, "tab": 1, "method": "POST", "host": "air.example", "path": "/seats",
        "status": 200, "type": "application/json", "size": 42000, "failure": ""}
    assert SECRET not in json.dumps(between)
    last = told("t4").json()
    assert (last["end"], len(last["requests"]), last["total"]) == (6, MAX_REQUESTS, 150)
    assert told("t6").json()["end"] is None
    assert told("t9").status == 404 and told("t3", demonstration).status == 404
    open_review(page, site, demonstration, "t3")
    expect(page.locator(".network")).to_have_count(0)


def test_of_a_session_that_was_split_each_part_has_its_own(page, site, kept):
    split, version = {"op": "end_before", "turn": "t4"}, listed(site.db, kept).version
    part = edit(site.db, kept, split, version, Account(LOCAL, LEAD)).part
    for name, turn, total in ((kept, "t3", 3), (part, "t4", 150)):
        answer = page.request.get(f"{site.url}api/demonstrations/{name}/network", params={"turn": turn})
        assert answer.json()["total"] == total
