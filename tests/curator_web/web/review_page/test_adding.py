"""An action that was not recorded is added in two steps: by keys alone, by the pointer, and without scripts."""

import pytest
from playwright.sync_api import expect

from curator_web.demonstrations.library.library import import_recording
from curator_web.demonstrations.listing.listing import listing
from tests.curator_web.web.review.test_added_actions import turns
from tests.support import axe
from tests.support.curator.curator_fixtures import both_databases, make_recording

from .conftest import open_review, saved, selected, shown_order


@pytest.fixture
def loads(site, tmp_path) -> str:
    """A demonstration of two pages that were loaded; what was done in between was not heard."""
    name = f"rec-{listing(site.db).total}"
    return import_recording(site.db, site.store, make_recording(tmp_path, recording_id=name, make_turns=turns)).id


@both_databases
def test_a_click_and_a_typing_are_added_by_keys_alone(page, site, loads):
    open_review(page, site, loads)
    keys = ["Shift+O", *"all offers", "Enter", "Enter"]  # three keys and the name, faster than any answer
    with saved(page):
        for key in keys:
            page.keyboard.press(key)
    expect(page.locator("#turns [data-turn]")).to_have_count(3)
    added = site.turns(loads)[1]
    assert (added["intent"], added["element"]["name"], added["arguments"]["x"]) == ("click", "All offers", 760)
    assert selected(page) == added["id"] == shown_order(page)[1]
    expect(page.locator("#turns .row:focus")).to_have_attribute("aria-current", "true")
    expect(page.locator("#turns .row:focus .flag")).to_have_text("added")
    page.keyboard.press("Shift+O")
    expect(page.locator("#target-search")).to_be_focused()
    page.keyboard.type("from city")
    expect(page.locator("#choices .chosen")).to_have_attribute("data-uid", "9")  # outlined in the picture
    page.keyboard.press("Enter")
    expect(page.get_by_role("radio", name="Type")).to_be_focused()
    expect(page.get_by_role("group", name="Kind of action on “From city”")).to_be_visible()
    page.keyboard.press("Enter")  # there is no text yet
    expect(page.locator("#operation-text")).to_be_focused()
    page.keyboard.type("Oslo")
    with saved(page):
        page.keyboard.press("Enter")
    expect(page.locator("#turns [data-turn]")).to_have_count(4)
    typed = site.turns(loads)[2]
    assert typed["arguments"] == {"text": "Oslo"} and added["timestamp"] < typed["timestamp"] < 4
    for count in (3, 2):
        with saved(page):
            page.keyboard.press("u")
        expect(page.locator("#turns [data-turn]")).to_have_count(count)
    with saved(page):
        page.keyboard.press("Shift+U")
    expect(page.locator("#turn")).to_have_attribute("data-turn", added["id"])


def test_escape_goes_one_step_back_and_nothing_is_saved(page, site, loads):
    open_review(page, site, loads)
    page.keyboard.press("Shift+O")
    page.keyboard.type("class")
    page.keyboard.press("Enter")
    expect(page.get_by_role("radio", name="Select")).to_be_focused()
    page.keyboard.press("k")
    expect(page.locator("#operation-key")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#target-search")).to_be_focused()
    expect(page.locator("#target-list input:checked")).to_have_value("8")
    page.get_by_role("link", name="Page before turn 1").click()
    expect(page.locator("#target-list input:checked")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator("#overlay")).to_be_attached()
    assert selected(page) == "t1" and len(site.turns(loads)) == 2
    page.keyboard.press("j")
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t4")


def test_an_element_of_the_picture_or_the_tree_is_confirmed(page, site, loads):
    open_review(page, site, loads)
    page.get_by_role("link", name="Add action…").click()
    box = page.locator('#choices [data-uid="8"] rect')
    box.click()
    expect(page.locator("#choices .chosen")).to_have_attribute("data-uid", "8")
    expect(page.locator('#target-list [value="8"]')).to_be_focused()
    box.click()
    expect(page.get_by_label("Option")).to_be_visible()
    page.keyboard.press("s")
    page.get_by_label("Option").select_option("First")
    with saved(page):
        page.keyboard.press("Enter")
    expect(page.locator("#turns [data-turn]")).to_have_count(3)
    assert site.turns(loads)[1]["arguments"] == {"value": "First", "label": "First"}
    page.keyboard.press("Shift+O")
    expect(page.locator("#target-search")).to_be_focused()
    page.get_by_role("link", name="Tree").click()
    expect(page.locator("#tree :focus")).to_be_visible()
    page.locator('#choices [data-uid="6"] rect').click(position={"x": 60, "y": 4})
    expect(page.locator('#tree [data-uid="6"]')).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#operation-checked")).to_be_visible()
    page.keyboard.press("h")
    with saved(page):
        page.keyboard.press("Enter")
    expect(page.locator("#turns [data-turn]")).to_have_count(4)
    assert site.turns(loads)[2]["intent"] == "hover"


def test_on_a_telephone_and_for_all_eyes(page, site, loads):
    page.set_viewport_size({"width": 390, "height": 844})
    open_review(page, site, loads)
    for key in ("Shift+O", *"from", "Enter", "t", *"Rome"):
        page.keyboard.press(key)
    expect(page.locator("#operation-text")).to_have_value("Rome")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    with saved(page):
        page.keyboard.press("Enter")
    expect(page.locator("#turns [data-turn]")).to_have_count(3)
    assert site.turns(loads)[1]["arguments"] == {"text": "Rome"}
    for view in ("add", "add-tree", "operation&uid=8"):
        page.goto(f"{site.url}demonstrations/{loads}?turn=t1&view={view}")
        assert not any(axe.at_all_widths(page, view).values())


@both_databases
def test_it_is_added_without_scripts(browser, site, loads):
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844})
    page = context.new_page()
    open_review(page, site, loads)
    page.get_by_role("link", name="Add action…").click()
    page.get_by_role("radio", name="Direct").check()
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("radio", name="Select")).to_be_checked()
    expect(page.get_by_label("Text", exact=True)).to_be_hidden()
    page.locator("#operation-checked").select_option("false")
    page.get_by_role("link", name="Back").click()
    expect(page.get_by_role("radio", name="Direct")).to_be_checked()
    page.get_by_role("radio", name="From city").check()
    page.get_by_role("button", name="Confirm").click()
    page.get_by_label("Text", exact=True).fill("Lima")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("heading", name="Turn 2")).to_be_visible()
    added = site.turns(loads)[1]
    assert (added["intent"], added["arguments"]) == ("textInput", {"text": "Lima"})
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="Turn 1")).to_be_visible()
    assert len(site.turns(loads)) == 2
    context.close()
