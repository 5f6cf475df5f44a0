"""Choosing a target or a picture, and commenting, by keys alone, in a real Chromium."""

from playwright.sync_api import expect

from curator_web.demonstrations.library.library import import_recording
from tests.support.curator.curator_fixtures import typed_recording

from .conftest import open_review, saved, selected


def test_a_name_without_hits_saves_nothing_and_arrows_choose_another_hit(page, site, demonstration):
    open_review(page, site, demonstration, "t4")
    page.keyboard.press("t")
    expect(page.locator("#target-search")).to_be_focused()
    before = page.locator("#target-list input:checked").get_attribute("value")
    page.keyboard.type("zzz")
    expect(page.get_by_text("No visible element has this name")).to_be_visible()
    expect(page.get_by_role("button", name="Set as target")).to_be_disabled()
    page.keyboard.press("Enter")
    for _ in "zzz":
        page.keyboard.press("Backspace")
    assert page.locator("#target-list input:checked").get_attribute("value") == before, "as it was"
    values = page.locator("#target-list input").evaluate_all("all => all.map((input) => input.value)")
    page.keyboard.press("ArrowUp" if values.index(before) else "ArrowDown")
    chosen = page.locator("#target-list input:checked").get_attribute("value")
    assert abs(values.index(chosen) - values.index(before)) == 1
    with saved(page):
        page.keyboard.press("Enter")
    assert site.turns(demonstration)[3]["element"]["uid"] == chosen


def test_a_comment_is_begun_kept_and_sent_by_keys_alone(page, site, demonstration):
    open_review(page, site, demonstration, "t2")
    page.keyboard.press("m")
    expect(page.locator("#comment-text")).to_be_focused()
    page.keyboard.type("Is this the r")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t3")
    page.keyboard.press("m")
    expect(page.locator("#comment-text")).to_be_focused()
    expect(page.locator("#comment-text")).to_have_value("")
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t2")
    page.keyboard.press("m")
    expect(page.locator("#comment-text")).to_be_focused()
    page.keyboard.type("ight one?")
    page.keyboard.press("Enter")
    expect(page.locator(".comment .text")).to_have_text("Is this the right one?")
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t2")


def test_escape_leaves_a_choice_as_it_was(page, site, demonstration):
    open_review(page, site, demonstration, "t4")
    for key, there in (("t", "#target-search"), ("Shift+T", "#tree :focus"), ("p", ".choose")):
        page.keyboard.press(key)
        expect(page.locator(there)).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("#overlay")).to_be_attached()
        expect(page.locator(f"{there}, .choose, .targets")).to_have_count(0)
        assert selected(page) == "t4"
    page.keyboard.press("j")
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t5")


def test_arrows_go_through_the_pictures_from_the_present_one(page, site, tmp_path):
    name = import_recording(site.db, site.store, typed_recording(tmp_path)).id
    open_review(page, site, name, "turn-1")
    page.keyboard.press("p")
    expect(page.locator(".picture-choice[aria-current]")).to_be_focused()
    for key, step in (("ArrowRight", 1), ("ArrowRight", 1), ("ArrowLeft", -1), ("ArrowUp", 0)):
        before = at(page)
        page.keyboard.press(key)
        assert at(page) == before + step
    page.keyboard.press("ArrowDown")
    with saved(page):
        page.keyboard.press("Enter")
    assert selected(page) == "turn-1"


def at(page) -> int:
    """Which of the pictures has the focus."""
    return page.evaluate("[...document.querySelectorAll('.picture-choice')].indexOf(document.activeElement)")


def test_control_and_enter_send_an_added_utterance(page, site, demonstration):
    open_review(page, site, demonstration, "t2")
    page.keyboard.press("o")
    expect(page.locator("#add-utterance")).to_be_focused()
    page.keyboard.type("And then?")
    with saved(page):
        page.keyboard.press("Control+Enter")
    assert site.turns(demonstration)[2]["utterance"] == "And then?"


def test_at_the_width_of_a_telephone_everything_is_in_reach(page, site, demonstration):
    page.set_viewport_size({"width": 390, "height": 844})
    for view in ("screenshot", "targets", "tree", "pictures", "dom"):
        page.goto(f"{site.url}demonstrations/{demonstration}?turn=t4&view={view}")
        assert page.evaluate("document.documentElement.scrollWidth") == 390, view
        wide = page.locator("button:visible, a:visible, input:visible, select:visible").evaluate_all(
            "all => all.filter((each) => each.getBoundingClientRect().right > 390).map((each) => each.outerHTML)")
        assert wide == [], view
    page.get_by_role("button", name="Drop").click()
    page.get_by_role("button", name="Restore").wait_for()
    page.get_by_role("button", name="Approve").click()
    page.wait_for_url("**?done=*")
    assert site.turns(demonstration)[3]["dropped"]
