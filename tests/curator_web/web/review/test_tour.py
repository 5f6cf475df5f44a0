"""The first tour of the review page: offered once, taken or left by keyboard, and without scripts too."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.axe import problems
from tests.support.curator.curator_fixtures import app_with, make_recording, serving
from tests.support.curator.team_fixtures import csrf


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tour")
    with app_with(folder / "data", [make_recording(folder)]) as app:
        yield app


@pytest.fixture(scope="module")
def address(app):
    with serving(app) as address:
        yield address.rstrip("/")


@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_taken_by_keyboard_and_not_offered_again(browser, address, width):
    context = browser.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    page.goto(address)
    page.get_by_role("button", name="Take the tour").focus()
    page.keyboard.press("Enter")
    areas = []
    for number in range(1, 7):
        expect(page.get_by_text(f"Tour, {number} of 6")).to_be_visible()
        assert problems(page) == []
        area = {"turns": ".film", "picture": ".stage", "turn": ".editor", "bar": ".actions"}[
            page.locator("#tour").get_attribute("data-area")]
        areas.append(area)
        expect(page.locator(area)).to_be_in_viewport()
        page.keyboard.press("Enter")
    assert list(dict.fromkeys(areas)) == [".film", ".stage", ".editor", ".actions"]
    expect(page.locator("#tour")).to_have_count(0)
    assert re.search(r"/demonstrations/rec-1\?turn=t\d$", page.url)
    page.goto(address)
    expect(page.get_by_role("button", name="Take the tour")).to_have_count(0)
    context.close()


def test_the_work_goes_on_beside_it_and_it_is_left_at_any_step(browser, address):
    page = browser.new_page()
    page.goto(f"{address}/demonstrations/rec-1?tour=1")
    page.keyboard.press("j")
    expect(page.locator(".row[aria-current=true] .position")).to_have_text("2")
    page.get_by_role("button", name="End the tour").click()
    page.wait_for_url(lambda url: "tour" not in url)
    page.keyboard.press("?")
    page.get_by_role("link", name="Take the tour").click()
    expect(page.get_by_text("Tour, 1 of 6")).to_be_visible()
    page.close()


def test_it_needs_no_scripts(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    page.get_by_role("button", name="Take the tour").click()
    page.get_by_role("link", name="Next step").click()
    expect(page.get_by_role("heading", name="Page as the person saw it")).to_be_visible()
    page.get_by_role("link", name="Back").click()
    page.get_by_role("button", name="End the tour").click()
    assert "tour" not in page.url
    context.close()


def test_it_is_left_at_once_where_it_is_not_wanted(app):
    client = app.test_client()
    token = csrf(client, "/")
    assert "Take the tour" in client.get("/").text and "Take the tour" not in client.get("/?search=zebra").text
    told = {"csrf_token": token, "answer": "leave", "next": "/?status=draft"}
    assert client.post("/tour", data=told).headers["Location"] == "/?status=draft"
    assert "Take the tour" not in client.get("/").text


@pytest.mark.parametrize("told, status, where", [
    ({"answer": "leave", "next": "https://elsewhere.example"}, 303, "/"), ({"answer": "leave"}, 303, "/"),
    ({"answer": "take"}, 303, "/demonstrations/-?tour=1"), ({"answer": "x"}, 404, None), ({}, 404, None)])
def test_odd_answers_lead_nowhere_else(app, told, status, where):
    client = app.test_client()
    answer = client.post("/tour", data={"csrf_token": csrf(client, "/"), **told})
    assert (answer.status_code, answer.headers.get("Location")) == (status, where)


@pytest.mark.parametrize("step", ["-1", "0", "99999999999999999999", "x", "7"])
def test_odd_steps_are_none_or_the_last(app, step):
    page = app.test_client().get(f"/demonstrations/rec-1?tour={step}")
    assert page.status_code == 200
    assert ("Tour, 6 of 6" in page.text) == (step in ("99999999999999999999", "7"))
