"""The list of demonstrations: the place to which one returns, its columns, and what fits into a window."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.axe import problems
from tests.support.curator.curator_fixtures import app_with, make_recording, serving
from tests.support.curator.team_fixtures import csrf

COUNT = 30
TASKS = ("Book a table for two", "Write the opening hours of the library in Bergen and those of its café into a note")


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    folder = tmp_path_factory.mktemp("list-page")
    recordings = (make_recording(folder, recording_id=f"rec-{number:02}", task=TASKS[number % 3 == 0])
                  for number in range(COUNT))
    with app_with(folder / "data", recordings) as app:
        yield app


@pytest.fixture(scope="module")
def address(app):
    with serving(app) as address:
        yield address.rstrip("/")


@pytest.fixture
def context(browser, address):
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    yield context
    context.close()


def test_the_way_back_leads_to_the_same_row_of_the_same_page(context, address):
    page = context.new_page()
    listed = f"{address}/?search=rec&sort=turns&order=asc"
    page.goto(listed)
    last = page.locator("a.task").nth(COUNT - 2)
    last.focus()
    page.keyboard.press("j")
    focused = page.locator("a.task:focus")
    name = focused.get_attribute("id")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/demonstrations/"))
    page.wait_for_load_state("load")
    page.keyboard.press("d")
    expect(page.locator("#saved")).to_contain_text("Saved")
    page.get_by_role("link", name="Changes").click()  # by another page of the demonstration
    page.wait_for_load_state("load")
    page.get_by_role("link", name="demotape", exact=True).click()
    expect(page).to_have_url(listed)
    expect(focused).to_have_attribute("id", name)
    expect(focused).to_be_in_viewport()
    page.keyboard.press("k")  # and from there on
    expect(focused).not_to_have_attribute("id", name)
    page.get_by_role("link", name="Demonstrations").click()  # on the list itself: all
    expect(page).to_have_url(f"{address}/")


def test_the_next_row_has_the_focus_where_the_demonstration_is_no_longer_listed(context, address):
    page = context.new_page()
    page.goto(f"{address}/?status=draft")
    task = page.locator("a.task").nth(3)
    following = page.locator("a.task").nth(4).get_attribute("id")
    task.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/demonstrations/"))
    page.keyboard.press("a")
    page.wait_for_url(re.compile("done="))
    page.wait_for_load_state("load")
    page.get_by_role("link", name="Go back to the one before").click()
    page.wait_for_load_state("load")
    page.get_by_role("link", name="demotape").click()
    expect(page.locator("a.task:focus")).to_have_attribute("id", following)


@pytest.mark.parametrize("scripts", [True, False])
def test_columns_and_page_size_are_chosen(browser, address, scripts):
    context = browser.new_context(java_script_enabled=scripts)
    page = context.new_page()
    page.goto(f"{address}/?sort=turns")
    heads = page.locator("thead th")
    expect(heads.filter(has_text="Dropped")).to_have_count(1)
    page.get_by_text("Columns and page size").click()
    if scripts:
        assert problems(page) == []
    page.get_by_label("Dropped").uncheck()
    page.get_by_label("Rows on a page").select_option("25")
    page.get_by_role("button", name="Apply").first.click()
    expect(page).to_have_url(f"{address}/?sort=turns")
    expect(page.locator("tbody tr")).to_have_count(25)
    expect(heads.filter(has_text="Dropped")).to_have_count(0)
    expect(heads.filter(has_text="Edited")).to_have_count(1)
    page.get_by_role("link", name="After →").click()
    expect(page.locator("tbody tr")).to_have_count(COUNT - 25)
    page.get_by_text("Columns and page size").click()
    page.get_by_role("button", name="Reset").click()
    expect(heads.filter(has_text="Dropped")).to_have_count(1)
    context.close()


@pytest.mark.parametrize("cookie", ["", "50", "7.turns", "50.<script>", "x" * 4000, "99999999.turns"])
def test_an_odd_choice_shows_the_list_all_the_same(app, cookie):
    client = app.test_client()
    client.set_cookie("demotape-list", cookie)
    answer = client.get("/")
    assert answer.status_code == 200 and "<script>" not in answer.text.partition("<tbody>")[2]


def test_only_known_page_sizes_are_taken(app):
    client = app.test_client()
    answer = client.post("/list-view", data={"page_size": "5000", "csrf_token": csrf(client)})
    assert answer.status_code == 400 and "page_size" in answer.text


@pytest.mark.parametrize("width, height, rows", [(1280, 800, 8), (390, 844, 1)])
def test_demonstrations_are_in_view_without_scrolling(browser, address, width, height, rows):
    context = browser.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    page.goto(address)  # a new browser: with the offer of the tour
    for index in range(rows):
        expect(page.locator("a.task").nth(index)).to_be_in_viewport(ratio=1)
    assert problems(page) == []
    if width == 390:
        expect(page.get_by_label("Site", exact=True)).to_be_hidden()
        page.get_by_role("button", name="Filters").click()
        expect(page.get_by_role("button", name="Filters")).to_have_attribute("aria-expanded", "true")
        expect(page.get_by_label("Site", exact=True)).to_be_visible()
        assert problems(page) == []
    context.close()
