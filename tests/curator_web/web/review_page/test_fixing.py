"""Fixing a demonstration's turns, in a real Chromium, over HTTP, with trusted keys and mouse."""

import threading

import pytest
from playwright.sync_api import Page, expect

from curator_web.demonstrations.library.library import import_recording
from curator_web.demonstrations.workflow.editing import add_edit
from tests.support.curator.curator_fixtures import both_databases, make_recording, typed_recording

from .conftest import EDITS, open_review, saved, selected, shown_order


@both_databases
def test_drop_restore_and_undo_by_keyboard(page, site, demonstration):
    open_review(page, site, demonstration, "t2")
    row = page.locator('#turns li[data-turn="t2"]')
    with saved(page):
        page.keyboard.press("d")
    expect(row).to_have_class("dropped")
    expect(page.get_by_role("button", name="Restore")).to_be_visible()
    assert site.turns(demonstration)[1]["dropped"]
    with saved(page):
        page.keyboard.press("d")
    expect(row).not_to_have_class("dropped")
    page.keyboard.press("j")
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t3")
    with saved(page):
        page.keyboard.press("u")
    expect(row).to_have_class("dropped")
    assert selected(page) == "t2", "undo shows what it changed"
    assert site.turns(demonstration)[1]["dropped"]
    with saved(page):
        page.keyboard.press("Shift+U")
    expect(row).not_to_have_class("dropped")
    assert not site.turns(demonstration)[1]["dropped"]


@both_databases
def test_quick_keys_are_all_saved(page, site, demonstration):
    open_review(page, site, demonstration, "t6")
    for _ in range(4):
        page.keyboard.press("Alt+ArrowUp")
    expect(page.locator("#turns [data-turn]").nth(1)).to_have_attribute("data-turn", "t6")
    assert site.ids(demonstration)[:3] == ["t1", "t6", "t2"]


def test_a_key_acts_on_what_the_keys_before_it_led_to(page, site, demonstration):
    held, is_held = [], threading.Event()
    # Requests of a page that was there first may pass a route by: the browser tells the page of it in its own time.
    page.route("**/demonstrations/**", lambda route: held.append(route) if is_held.is_set() else route.continue_())
    open_review(page, site, demonstration, "t2")
    is_held.set()  # no answer comes before all keys are pressed
    with page.expect_request("**/demonstrations/**"):
        page.keyboard.press("j")
    for key in ("d", "j", "j", "d", "k"):
        page.keyboard.press(key)
    is_held.clear()
    for route in held:
        route.continue_()
    expect(page.locator('#turns li[data-turn="t5"]')).to_have_class("dropped")
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t4")
    assert [turn["id"] for turn in site.turns(demonstration) if turn["dropped"]] == ["t3", "t5"]
    assert selected(page) == "t4"


@both_databases
def test_reorder_by_keyboard_keeps_the_original_time(page, site, demonstration):
    open_review(page, site, demonstration, "t5")
    for _ in range(2):
        with saved(page):
            page.keyboard.press("Alt+ArrowUp")
    order = ["t1", "t2", "t5", "t3", "t4", "t6"]
    expect(page.locator("#turns [data-turn]").nth(2)).to_have_attribute("data-turn", "t5")
    assert shown_order(page) == order == site.ids(demonstration)
    assert site.turns(demonstration)[2]["timestamp"] == 5
    expect(page.locator(".editor")).to_contain_text("recorded as turn 5")
    with saved(page):
        page.keyboard.press("Alt+ArrowDown")
    assert site.ids(demonstration) == ["t1", "t2", "t3", "t5", "t4", "t6"]


def drag(page: Page, turn: str, onto: str, steps: int) -> None:
    """Drag a turn's row onto another's, in so many moves of the pointer."""
    start = page.locator(f'#turns li[data-turn="{turn}"]').bounding_box()
    end = page.locator(f'#turns li[data-turn="{onto}"]').bounding_box()
    page.mouse.move(start["x"] + 120, start["y"] + 20)
    page.mouse.down()
    page.mouse.move(start["x"] + 122, start["y"] + 30, steps=3)
    page.mouse.move(end["x"] + 120, end["y"] + end["height"] - 6, steps=steps)
    page.mouse.up()


@pytest.mark.parametrize("steps", [12, 1], ids=["slowly", "quickly"])
def test_reorder_by_dragging(page, site, demonstration, steps):
    open_review(page, site, demonstration, "t1")
    with saved(page):
        drag(page, "t2", "t4", steps)
    order = ["t1", "t3", "t4", "t2", "t5", "t6"]
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t2")
    assert shown_order(page) == order == site.ids(demonstration)
    with saved(page):
        page.keyboard.press("u")
    assert site.ids(demonstration) == ["t1", "t2", "t3", "t4", "t5", "t6"]


@both_databases
def test_fix_arguments_by_keyboard(page, site, demonstration):
    open_review(page, site, demonstration, "t4")
    page.keyboard.press("e")
    page.keyboard.press("Control+A")
    page.keyboard.type("Anchorage, <b>AK</b>")
    with saved(page):
        page.keyboard.press("Enter")
    expect(page.get_by_text("Was “Ancorage”")).to_be_visible()
    assert site.turns(demonstration)[3]["arguments"] == {"text": "Anchorage, <b>AK</b>"}
    page.keyboard.press("j")  # the keys work again at once
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t5")
    with saved(page):
        page.keyboard.press("u")
    expect(page.get_by_label("Text", exact=True)).to_have_value("Ancorage")
    assert site.turns(demonstration)[3]["arguments"] == {"text": "Ancorage"}


def test_tab_goes_on_to_the_next_field_after_a_save(page, site, demonstration):
    open_review(page, site, demonstration, "t3")
    page.get_by_label("X", exact=True).fill("420")
    with saved(page):
        page.keyboard.press("Tab")
    expect(page.get_by_text("Was “400”")).to_be_visible()
    expect(page.get_by_label("Y", exact=True)).to_be_focused()
    page.get_by_text("Button, Modifiers, By keyboard").click()  # what nearly every click has is folded away
    with saved(page):
        page.get_by_label("Shift").check()
    expect(page.get_by_text("Button, By keyboard")).to_be_visible()
    assert site.turns(demonstration)[2]["arguments"] == {"x": 420, "y": 200, "button": 0, "modifiers": ["Shift"],
                                                         "keyboard": False}


def test_wrong_argument_gives_a_message_and_keeps_what_was_typed(page, site, demonstration):
    before = site.turns(demonstration)[2]["arguments"]
    open_review(page, site, demonstration, "t3")
    with saved(page) as answer:
        page.get_by_label("X", exact=True).fill("99999")
        page.keyboard.press("Enter")
    assert answer.value.status == 400
    expect(page.get_by_role("alert")).to_contain_text("99999 is outside the page")
    expect(page.get_by_label("X", exact=True)).to_have_value("99999")
    assert site.turns(demonstration)[2]["arguments"] == before
    page.problems.clear()  # the browser notes the refusal


def test_fix_intent_and_picture(page, site, demonstration):
    open_review(page, site, demonstration, "t4")
    with saved(page):
        page.get_by_label("Intent").select_option("change")
    expect(page.get_by_label("Value", exact=True)).to_have_value("Ancorage")
    with saved(page):
        page.keyboard.press("Escape")
        page.keyboard.press("b")
    expect(page.get_by_role("button", name="Mark good")).to_be_visible()
    turn = site.turns(demonstration)[3]
    assert (turn["intent"], turn["arguments"]) == ("change", {"value": "Ancorage"})
    assert turn["state"]["screenshot_status"] == "broken"
    for _ in range(2):
        with saved(page):
            page.keyboard.press("u")
    expect(page.get_by_label("Intent")).to_have_value("textInput")


@both_databases
def test_fix_utterance_and_speaker(page, site, demonstration):
    open_review(page, site, demonstration, "t1")
    page.keyboard.press("e")
    page.keyboard.press("Control+A")
    page.keyboard.type("Please book a flight to Seattle")
    with saved(page):
        page.keyboard.press("Enter")
    expect(page.locator(".speech blockquote")).to_have_text("Please book a flight to Seattle")
    with saved(page):
        page.locator("#speaker-form").get_by_text("Navigator", exact=True).click()
    turn = site.turns(demonstration)[0]
    assert (turn["utterance"], turn["speaker"]) == ("Please book a flight to Seattle", "navigator")


@both_databases
def test_stale_edit_of_a_second_client_is_refused(page, site, demonstration):
    open_review(page, site, demonstration, "t2")
    add_edit(site.db, demonstration, {"op": "drop", "turn": "t6"}, 1, user_name="somebody else")
    with saved(page) as answer:
        page.keyboard.press("d")
    assert answer.value.status == 409
    expect(page.get_by_role("alert")).to_contain_text("This demonstration was changed by another user")
    assert [turn["id"] for turn in site.turns(demonstration) if turn["dropped"]] == ["t6"]
    with saved(page):
        drag(page, "t2", "t4", 12)
    expect(page.locator("#turns [data-turn]").nth(1)).to_have_attribute("data-turn", "t2")
    assert shown_order(page) == ["t1", "t2", "t3", "t4", "t5", "t6"], "a refused move goes back"
    page.problems.clear()
    page.get_by_role("link", name="Reload the page").click()
    expect(page.locator('#turns li[data-turn="t6"]')).to_have_class("dropped")
    page.wait_for_load_state()
    with saved(page):
        page.keyboard.press("d")
    assert [turn["id"] for turn in site.turns(demonstration) if turn["dropped"]] == ["t2", "t6"]


@both_databases
def test_approve_locks_and_reopens(page, site, demonstration):
    open_review(page, site, demonstration, "t2")
    page.keyboard.press("a")
    page.wait_for_url("**?done=*")
    open_review(page, site, demonstration, "t2")
    expect(page.get_by_role("button", name="Reopen")).to_be_visible()
    expect(page.get_by_role("button", name="Drop")).to_be_disabled()
    page.keyboard.press("d")
    page.keyboard.press("a")
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    assert not site.turns(demonstration)[1]["dropped"]
    page.keyboard.press("i")
    page.get_by_label("Reason").fill("The wrong site")
    page.keyboard.press("Enter")
    page.wait_for_url("**?done=*")
    open_review(page, site, demonstration, "t2")
    expect(page.get_by_text("The wrong site")).to_be_visible()
    expect(page.locator(".bar .status")).to_have_text("Invalid")


def test_another_target_by_clicking_in_the_picture(page, site, demonstration):
    open_review(page, site, demonstration, "t3")
    page.keyboard.press("t")
    expect(page.locator("#choices .choice")).to_have_count(2)  # the boxes are there: so is the picture's place
    picture = page.locator("#screen-picture").bounding_box()
    scale = picture["width"] / 1280
    with saved(page):
        page.mouse.click(picture["x"] + 750 * scale, picture["y"] + 510 * scale)
    expect(page.locator(".element")).to_contain_text("All offers")
    element = site.turns(demonstration)[2]["element"]
    assert (element["uid"], element["tag"], element["text"]) == ("7", "a", "All offers")
    assert element["attributes"] == {"class": "wide", "href": "/offers"}
    assert element["xpath"] == "/html/body/p/a" and element["bbox"]["x"] == 700
    with saved(page):
        page.keyboard.press("u")
    assert site.turns(demonstration)[2]["element"]["uid"] == "9"


def test_a_box_has_its_place_before_the_picture_has_come(page, site, demonstration):
    waiting, is_held = [], True
    page.route("**/blobs/**", lambda route: waiting.append(route) if is_held else route.continue_())
    page.goto(f"{site.url}demonstrations/{demonstration}?turn=t3&view=targets", wait_until="domcontentloaded")
    expect(page.locator("#choices .choice")).to_have_count(2)
    place = page.locator("#screen-picture").bounding_box()
    assert place["width"] > 400 and not page.evaluate("document.querySelector('#screen-picture img').complete")
    is_held = False  # one that comes only now must not wait for ever
    for route in waiting:
        route.continue_()
    page.wait_for_load_state()
    assert page.locator("#screen-picture").bounding_box() == place


@both_databases
def test_another_target_by_keyboard(page, site, demonstration):
    open_review(page, site, demonstration, "t4")
    page.keyboard.press("t")
    expect(page.get_by_label("Find by name, role or number")).to_be_focused()
    page.keyboard.type("offers")
    expect(page.locator("#target-list label:visible")).to_have_count(1)
    with saved(page):
        page.keyboard.press("Enter")
    turn = site.turns(demonstration)[3]
    assert turn["element"]["uid"] == "7"
    expect(page.locator(".element")).to_contain_text("All offers")
    box, (x, y) = turn["element"]["bbox"], (turn["arguments"].get(name) for name in "xy")
    assert x is None or (box["x"] <= x <= box["x"] + box["width"] and box["y"] <= y <= box["y"] + box["height"])


@pytest.mark.parametrize("view, chosen", [("t", ["Tab", "ArrowDown"]), ("Shift+T", ["ArrowUp"])])
def test_keys_after_another_target_are_not_lost_before_the_answer(page, site, demonstration, view, chosen):
    held = []
    page.route(EDITS, lambda route: route.continue_() if held else held.append(route))
    open_review(page, site, demonstration, "t4")
    for key in dict.fromkeys(("t", view)):
        page.keyboard.press(key)
        expect(page.locator("#target-search, #tree :focus")).to_be_focused()
    for key in chosen:
        page.keyboard.press(key)
    with page.expect_request(EDITS):
        page.keyboard.press("Enter")
    for key in ("Home", "d"):
        page.keyboard.press(key)
    held[0].continue_()
    expect(page.locator('#turns li[data-turn="t1"]')).to_have_class("dropped")
    assert selected(page) == "t1"


# ---- more than one turn, more than one picture ----------------------------------------------------------------------


@both_databases
def test_typing_is_split_and_merged_by_keyboard(page, site, tmp_path):
    name = import_recording(site.db, site.store, typed_recording(tmp_path)).id
    open_review(page, site, name, "turn-1")
    page.keyboard.press("x")
    expect(page.get_by_role("radio").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    with saved(page):
        page.keyboard.press("Enter")
    assert [(turn["arguments"]["text"], turn["events"]) for turn in site.turns(name)] == [
        ("to", [1, 2, 3, 4]), ("town", [5, 6, 7, 8])]
    expect(page.locator("#turns [data-turn]")).to_have_count(2)
    page.keyboard.press("j")
    with saved(page):
        page.keyboard.press("g")
    expect(page.locator("#turn")).to_have_attribute("data-turn", "turn-1")
    assert [turn["arguments"]["text"] for turn in site.turns(name)] == ["town"]
    with saved(page):
        page.keyboard.press("u")
    with saved(page):
        page.keyboard.press("u")
    assert [turn["events"] for turn in site.turns(name)] == [[1, 2, 3, 4, 5, 6, 7, 8]]


@both_databases
def test_a_chat_turn_is_added_by_keyboard_and_told_among_the_changes(page, site, demonstration):
    open_review(page, site, demonstration, "t3")
    page.keyboard.press("o")
    expect(page.get_by_role("dialog").get_by_label("Utterance")).to_be_focused()
    page.keyboard.type("Which city? <b>bold</b>")
    with saved(page):
        page.get_by_role("dialog").get_by_role("button", name="Add").press("Enter")
    added = site.turns(demonstration)[3]
    assert added["utterance"] == "Which city? <b>bold</b>"
    assert added["timestamp"] == site.turns(demonstration)[2]["timestamp"]
    expect(page.locator("#turn")).to_have_attribute("data-turn", added["id"])
    page.keyboard.press("d")
    page.keyboard.press("h")
    expect(page.get_by_role("heading", name="As recorded and as curated")).to_be_visible()
    expect(page.get_by_role("article").filter(has_text="Which city? <b>bold</b>")).to_contain_text("new")
    expect(page.locator(".log tbody tr")).to_have_count(2)


def test_a_check_is_fixed_or_settled_by_one_key(page, site, tmp_path):
    name = import_recording(site.db, site.store, make_recording(
        tmp_path, recording_id="checked", change=lambda turns: turns[0]["checks"].extend([
            {"kind": "typo", "reason": "hte?", "fix": {"op": "set_utterance", "turn": "t1", "utterance": "Mended."}},
            {"kind": "long-gap", "reason": "Long."}]))).id
    open_review(page, site, name)
    with saved(page):
        page.keyboard.press("f")
    expect(page.locator("#utterance-form").get_by_label("Utterance")).to_have_value("Mended.")
    expect(page.get_by_label("Warnings").get_by_role("listitem")).to_have_count(1)
    with saved(page):
        page.keyboard.press("y")
    expect(page.get_by_label("Warnings")).to_have_count(0)
    assert site.turns(name)[0]["utterance"] == "Mended." and not site.turns(name)[0]["checks"]


def test_another_picture_and_the_views_of_a_moment(page, site, tmp_path):
    name = import_recording(site.db, site.store, typed_recording(tmp_path, video=True)).id
    open_review(page, site, name, "turn-1")
    for key, there in (("v", "#screen-dom iframe"), ("v", "#screen-video img"), ("v", "#screen-picture img"),
                       ("c", "#screen-other img"), ("c", "#screen-picture img")):
        page.keyboard.press(key)
        expect(page.locator(there)).to_be_visible()
        page.wait_for_function("there => (document.querySelector(there).naturalWidth ?? 1) > 0", arg=there)
    first = site.turns(name)[0]["state"]["screenshot"]
    page.keyboard.press("p")
    with saved(page):
        page.get_by_role("button", name="Video frame").first.press("Enter")
    state = site.turns(name)[0]["state"]
    assert state["screenshot_source"] == "video" and state["screenshot_taken"] == first != state["screenshot"]
    expect(page.locator("#screen-picture img")).to_be_visible()
    page.wait_for_function("() => document.querySelector('#screen-picture img').naturalWidth > 0")


def test_every_form_works_without_scripts(browser, site, demonstration):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    open_review(page, site, demonstration, "t4")
    page.get_by_label("Text", exact=True).fill("Anchorage")
    with saved(page):
        page.get_by_role("button", name="Save").last.click()
    assert site.turns(demonstration)[3]["arguments"] == {"text": "Anchorage"}
    drop = page.get_by_role("button", name="Drop")
    expect(drop).to_have_count(1)  # the page's styles are there, which hide what needs scripts
    with saved(page):
        drop.click()
    expect(page.get_by_role("button", name="Restore")).to_be_visible()
    assert site.turns(demonstration)[3]["dropped"] and page.url.endswith("turn=t4")
    context.close()
