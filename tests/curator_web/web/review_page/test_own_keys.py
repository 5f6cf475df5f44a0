"""Keys are chosen by pressing them, or without scripts by typing, and the pages do and show what was chosen."""

import pytest
from playwright.sync_api import Page, expect

from curator_web.users import LOCAL, own_keys

from .conftest import open_review, saved, shown_order


@pytest.fixture(autouse=True)
def usual(site):
    yield
    own_keys.save_keys(site.db, LOCAL, {})


def press(page: Page, key: str) -> None:
    """As a keyboard with this key does it, trusted: Playwright's own has the keys of an American one."""
    session = page.context.new_cdp_session(page)
    for kind in ("rawKeyDown", "keyUp"):
        session.send("Input.dispatchKeyEvent", {"type": kind, "key": key})
    session.detach()


def key_of(page: Page, action: str):
    return page.locator(f"#key-{action}")


def save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).last.click()


def test_a_key_is_pressed_to_choose_it_and_then_does_what_it_was_chosen_for(page, site, demonstration):
    page.goto(f"{site.url}keys")
    key_of(page, "drop").focus()
    press(page, "ö")
    expect(key_of(page, "drop")).to_have_value("ö")
    key_of(page, "undo").focus()
    page.keyboard.press("j")
    expect(page.locator("#key-undo-problem")).to_have_text("The key j is in use: Next turn")
    page.keyboard.press("@")  # where a layout needs Shift or AltGr for it, that is not part of the key
    expect(page.locator("#key-undo-problem")).to_be_empty()
    key_of(page, "next").focus()
    page.keyboard.press("n")
    key_of(page, "next_demonstration").focus()
    page.keyboard.press("j")
    save(page)
    expect(page.locator(".note")).to_have_text("Saved.")
    assert {name: own_keys.keys_of(site.db, LOCAL)[name]
            for name in ("drop", "undo", "next", "next_demonstration")} == {
        "drop": "ö", "undo": "@", "next": "n", "next_demonstration": "j"}
    open_review(page, site, demonstration, "t2")
    expect(page.get_by_role("button", name="Drop", exact=True)).to_have_attribute("aria-keyshortcuts", "ö")
    expect(page.locator("#drop-form kbd")).to_have_text("ö")
    page.keyboard.press("d")  # nothing any more
    page.keyboard.press("n")
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t3")
    with saved(page):
        press(page, "ö")
    expect(page.locator('#turns li[data-turn="t3"]')).to_have_class("dropped")
    assert [turn["dropped"] for turn in site.turns(demonstration)].count(True) == 1
    with saved(page):  # AltGr on Windows; no key of the test's browser has it
        page.evaluate("""document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {
            key: "@", ctrlKey: true, altKey: true, modifierAltGraph: true, bubbles: true}))""")
    expect(page.locator("#turns .dropped")).to_have_count(0)
    page.keyboard.press("Shift+ArrowDown")
    with saved(page):
        press(page, "ö")
    expect(page.locator("#turns .dropped")).to_have_count(2)
    page.keyboard.press("?")
    line = page.locator("#help .keys > div", has_text="Drop or restore the turn")
    expect(line.locator("kbd")).to_have_text("ö")
    page.get_by_role("link", name="Choose other keys").click()
    page.get_by_role("button", name="Reset to d: Drop or restore the turn").click()
    expect(page.locator(".note")).to_have_text("Saved.")
    assert own_keys.keys_of(site.db, LOCAL)["drop"] == "d" and own_keys.keys_of(site.db, LOCAL)["undo"] == "@"
    page.get_by_role("button", name="Reset all").click()
    expect(page.locator(".note")).to_have_text("All keys were reset to their defaults.")
    assert own_keys.keys_of(site.db, LOCAL)["undo"] == "u" and shown_order(page) == []


def test_what_the_browser_needs_is_left_to_it_and_refused_without_losing_the_rest(page, site):
    page.goto(f"{site.url}keys")
    key_of(page, "drop").focus()
    page.keyboard.press("Tab")
    expect(key_of(page, "up")).to_be_focused()
    page.keyboard.press("PageDown")
    expect(key_of(page, "up")).to_have_value("PageDown")
    key_of(page, "edit").focus()
    page.keyboard.press("Shift+B")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Not saved")
    expect(page.locator("#key-up-problem")).to_have_text("Moves through the page")
    expect(key_of(page, "up")).to_be_focused()
    expect(key_of(page, "edit")).to_have_value("Shift+B")
    page.wait_for_load_state()
    page.screenshot()  # it has been painted: before that the browser hands a page no keys
    page.keyboard.press("Backspace")
    expect(key_of(page, "up")).to_have_value("")
    save(page)
    expect(page.locator(".note")).to_have_text("Saved.")
    assert own_keys.keys_of(site.db, LOCAL)["edit"] == "Shift+B"
    page.problems.clear()  # the browser logs the refusal


def test_list_and_time_line_know_the_own_keys(page, site, demonstration):
    own_keys.save_keys(site.db, LOCAL, {"next": "ö", "filter": "§"})
    page.goto(site.url)
    press(page, "ö")
    expect(page.locator("a.task").first).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("a.task").first).to_be_focused()
    press(page, "§")
    expect(page.locator("[name=search]")).to_be_focused()
    page.goto(f"{site.url}demonstrations/{demonstration}/timeline")
    before = page.locator("#cursor").input_value()
    press(page, "ö")
    press(page, "ö")
    assert page.locator("#cursor").input_value() != before


def test_without_scripts_a_key_is_typed(browser, site, demonstration):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site.url}keys")
    expect(page.get_by_text("Type the character of the key")).to_be_visible()
    page.get_by_label("Drop or restore the turn").fill("⇧ w")
    save(page)
    expect(page.get_by_label("Drop or restore the turn", exact=True)).to_have_value("Shift+W")
    open_review(page, site, demonstration)
    expect(page.locator("#drop-form kbd")).to_have_text("⇧ w")
    context.close()
