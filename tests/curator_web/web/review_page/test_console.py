"""What pages wrote to the console between two actions: with the requests, and for programs."""

import json

import pytest
from playwright.sync_api import expect

from curator_web.demonstrations.library.library import import_recording
from pipeline.console import MAX_LINES
from tests.support.curator.curator_fixtures import HOSTILE, make_recording, turns
from tests.support.samples.exchanges import SECRET, console_line, turns_with_console

from .conftest import open_review


@pytest.fixture(scope="module")
def kept(site, tmp_path_factory) -> str:
    path = make_recording(tmp_path_factory.mktemp("console"), recording_id="console", make_turns=turns_with_console,
                          options={"replayable": True, "console": True})
    return import_recording(site.db, site.store, path).id


@pytest.fixture(scope="module")
def console_only(site, tmp_path_factory) -> str:
    def write(writer):
        writer.open_console()
        writer.console(console_line(3.1))
        return turns(writer)

    path = make_recording(tmp_path_factory.mktemp("only"), recording_id="console-only", make_turns=write,
                          options={"console": True})
    return import_recording(site.db, site.store, path).id


def test_the_console_stands_with_the_requests_and_runs_nothing(page, site, kept):
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_review(page, site, kept, "t3")
    page.keyboard.press("Shift+N")
    lines = page.get_by_role("table", name="Console 2 errors").locator("tbody tr")
    expect(lines).to_have_count(4)
    expect(page.get_by_role("table", name="Requests").locator("tbody tr")).to_have_count(3)
    error, hostile, long, missing = lines.all()
    for text in ("0:03.3", "error", "Uncaught Error: boom", "air.example/app/seats.js:12"):
        expect(error).to_contain_text(text)
    expect(error.get_by_text("at seats.js:12:4")).to_be_hidden()
    error.locator("summary").press("Enter")
    expect(error.get_by_text("at seats.js:12:4")).to_be_visible()
    expect(hostile).to_contain_text("warning")
    expect(hostile).to_contain_text(HOSTILE[:60])
    expect(hostile.locator(".place")).to_have_count(0)
    expect(long.locator(".place")).to_have_text("data:12")
    expect(missing.locator(".place")).to_have_text("air.example/app/seats.js")
    assert page.title() != "owned" and page.locator(".network :is(script, img)").count() == 0
    assert SECRET not in page.content() and all(url.startswith((site.url, "data:")) for url in asked)
    page.keyboard.press("j")
    page.keyboard.press("Shift+N")
    expect(lines).to_have_count(0)
    expect(page.locator(".network .console tbody tr")).to_have_count(MAX_LINES)


def test_without_scripts_and_without_the_network_the_console_has_a_page_by_itself(browser, site, console_only):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    open_review(page, site, console_only, "t3")
    page.get_by_text("Network and console until the next action").click()
    page.get_by_role("link", name="Show network and console").click()
    expect(page.get_by_role("table")).to_have_count(1)
    expect(page.get_by_role("row", name="3 seats")).to_contain_text("air.example/app/seats.js:12")
    page.goto(f"{site.url}demonstrations/{console_only}/network?turn=t4")
    expect(page.get_by_text("Nothing was written to the console.")).to_be_visible()
    context.close()


def test_the_api_tells_what_was_written_between_two_actions(page, site, kept, console_only, demonstration):
    def told(turn: str, name: str = kept, what: str = "console"):
        return page.request.get(f"{site.url}api/demonstrations/{name}/{what}", params={"turn": turn})

    between = told("t3").json()
    assert (between["begin"], between["end"], between["total"], between["errors"]) == (3, 4, 4, 2)
    assert between["lines"][0] == {
        "time": 3.3, "tab": 2, "kind": "uncaught", "level": "error",
        "text": "Uncaught Error: boom\n    at seats.js:12:4", "host": "air.example", "path": "/app/seats.js",
        "line": 12, "column": 4}
    assert SECRET not in json.dumps(between) and told("t3", what="network").json()["total"] == 3
    assert [len(told("t4").json()["lines"]), told("t4").json()["total"]] == [MAX_LINES, 150]
    assert [told("t9").status, told("t3", demonstration).status] == [404, 404]
    assert "--console" in told("t3", demonstration).text()
    assert [told("t3", console_only).status, told("t3", console_only, "network").status] == [200, 404]
