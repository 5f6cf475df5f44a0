"""The pages of one demonstration: tabs between them, titles and headings, and the keys in the help."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.axe import problems
from tests.support.curator.curator_fixtures import TASK, app_with, make_recording, serving

TABS = {"Review": "", "Timeline": "/timeline", "Changes": "/changes", "Outcome": "/outcome", "Replay": "/proof"}
REVIEW = "/demonstrations/rec-1"


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tabs")
    with app_with(folder / "data", [make_recording(folder)]) as app:
        yield app


@pytest.fixture(scope="module")
def address(app):
    with serving(app) as address:
        yield address.rstrip("/")


@pytest.fixture
def page(browser, address):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{address}{REVIEW}?turn=t3")
    yield page
    page.close()


def test_title_heading_and_tab_name_the_page(app):
    headings = set()
    for name, path in TABS.items():
        text = app.test_client().get(f"{REVIEW}{path}?turn=t3").text
        assert re.search("<title>(.*)</title>", text)[1] == f"{name}: {TASK} · demotape"
        assert re.findall(r'aria-current="page"[^>]*>(\w+)', text) == [name]
        headings.add(re.search("<h1[^>]*>(.*)</h1>", text)[1])
    assert headings == {TASK, *TABS} - {"Review"}


def test_every_tab_shows_the_same_turn(page):
    tabs = page.get_by_role("navigation", name="Pages of this demonstration")
    page.keyboard.press("j")  # by a key of the page, which changes only a part of it
    expect(page).to_have_url(re.compile(r"turn=t4$"))
    for name in ("Timeline", "Changes", "Outcome", "Replay", "Review"):
        tabs.get_by_role("link", name=name).click()
        expect(tabs.locator("[aria-current=page]")).to_have_text(re.compile(name))
        expect(page).to_have_url(re.compile(rf"{REVIEW}{TABS[name]}\?turn=t4$"))
    page.wait_for_load_state("load")  # its scripts take the keys
    page.keyboard.press("z")
    expect(page.get_by_role("heading", name="Timeline", level=1)).to_be_visible()
    page.wait_for_load_state("load")
    page.keyboard.press("k")
    tabs.get_by_role("link", name="Changes").click()
    page.wait_for_load_state("load")
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile(rf"{REVIEW}\?turn=t3$"))


@pytest.mark.parametrize("focused, area", [
    ("#turns [aria-current]", "turns"), (".stage a", "picture"), (".editor select", "turn"),
    (".bar .wordmark", "demonstration")])
def test_the_keys_of_the_focused_area_come_first(page: Page, focused, area):
    page.locator(focused).first.focus()
    page.get_by_role("button", name="Help: all keys").click()
    groups = page.locator("[data-keys-of]")
    expect(groups.first).to_have_attribute("data-keys-of", area)
    assert sorted(groups.evaluate_all("groups => groups.map(group => group.dataset.keysOf)")) == [
        "demonstration", "picture", "turn", "turns"]
    expect(page.locator("#help .flag:visible")).to_have_text("in focus")
    expect(page.locator("#help dt").last).to_be_in_viewport()  # all keys at one glance
    assert problems(page) == []
