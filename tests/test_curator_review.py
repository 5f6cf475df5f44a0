"""The review app in a real Chromium, over HTTP, with trusted keys and mouse."""

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from curator_web import create_app, vendor
from curator_web.app import dom_id
from curator_web.editing import add_edit
from curator_web.library import import_recording
from curator_web.listing import listing

from .curator_fixtures import (
    BOX, HOSTILE, TASK, Site, both_databases, database_of, hostile_turns, make_recording, serving, typed_recording,
)

EDITS = re.compile("/edits$")


@pytest.fixture(scope="module")
def site(request, tmp_path_factory) -> Iterator[Site]:
    assert vendor.main() == 0
    app = create_app(database_of(request), tmp_path_factory.mktemp("data"))
    services = app.extensions["demotape"]
    with serving(app) as address:
        yield Site(address, services.db, services.store)
    services.db.close()


@pytest.fixture
def page(browser) -> Iterator[Page]:
    """A page in which no script error and no refused resource goes unnoticed."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.problems = problems
    yield page
    context.close()
    assert problems == []


@pytest.fixture
def demonstration(site, tmp_path, request) -> str:
    """A demonstration for one test alone."""
    name = f"rec-{listing(site.db).total}"
    return import_recording(site.db, site.store, make_recording(tmp_path, recording_id=name)).id


def open_review(page: Page, site: Site, demonstration: str, turn: str = "t1") -> None:
    page.goto(f"{site.url}demonstrations/{demonstration}?turn={turn}")


def saved(page: Page):
    """Wait until the edit made inside is saved."""
    return page.expect_response(EDITS)


def shown_order(page: Page) -> list[str]:
    return page.locator("#turns > li").evaluate_all("items => items.map((item) => item.dataset.turn)")


def selected(page: Page) -> str:
    return page.locator("#turn").get_attribute("data-turn")


# ---- the list -----------------------------------------------------------------------------------------------------


def test_list_says_what_to_do_then_finds_and_opens(page, browser, tmp_path, site, demonstration):
    empty = create_app(data_dir=tmp_path / "empty").test_client().get("/").text
    assert "demotape record" in empty and "demotape import" in empty
    page.goto(site.url)
    page.get_by_placeholder("Search").press_sequentially("zebra")
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()
    expect(page).to_have_url(re.compile("search=zebra"))
    page.get_by_placeholder("Search").fill("anchorage")
    page.get_by_text("Draft", exact=True).first.click()
    expect(page).to_have_url(re.compile("status=draft"))
    page.reload()
    expect(page.get_by_placeholder("Search")).to_have_value("anchorage")
    page.locator(f'a[href$="{demonstration}"]').click()
    expect(page.get_by_role("heading", level=1)).to_have_text(TASK)


# ---- looking at turns ---------------------------------------------------------------------------------------------


@both_databases
def test_keys_step_through_turns_and_the_address_follows(page, site, demonstration):
    open_review(page, site, demonstration)
    for key, turn in (("j", "t2"), ("ArrowDown", "t3"), ("k", "t2"), ("End", "t6"), ("ArrowUp", "t5"), ("Home", "t1")):
        page.keyboard.press(key)
        expect(page.locator("#turn")).to_have_attribute("data-turn", turn)
        expect(page.locator("#turns [aria-current]")).to_have_attribute("href", re.compile(f"turn={turn}$"))
    expect(page).to_have_url(re.compile("turn=t1$"))
    for _ in range(5):
        page.keyboard.press("j")  # faster than the answers come
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t6")
    page.locator("#turns .row").nth(2).click()
    expect(page).to_have_url(re.compile("turn=t3$"))
    page.reload()
    assert selected(page) == "t3"


@pytest.mark.parametrize("width", [1280, 800])
def test_box_and_pointer_stand_where_they_were_at_any_width(page, site, demonstration, width):
    page.set_viewport_size({"width": width, "height": 900})
    open_review(page, site, demonstration, "t3")
    page.wait_for_function("document.querySelector('#screen-picture img').complete")
    picture = page.locator("#screen-picture img").bounding_box()
    scale = picture["width"] / 1280
    assert picture["height"] == pytest.approx(720 * scale, abs=1)
    box = page.locator("#overlay .box").evaluate("""(box) => {
        const { x, y, width, height } = box.getBBox(), { a, d, e, f } = box.getScreenCTM();
        return { x: e + x * a, y: f + y * d, width: width * a, height: height * d }; }""")
    for name, start in (("x", picture["x"]), ("y", picture["y"]), ("width", 0), ("height", 0)):
        assert box[name] == pytest.approx(start + BOX[name] * scale, abs=1.5), name
    assert float(page.locator("#overlay .pointer-dot").get_attribute("cx")) == 400
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_snapshot_is_shown_in_a_sandbox_at_its_width(page, site, demonstration):
    open_review(page, site, demonstration, "t3")
    page.keyboard.press("v")
    frame = page.frame_locator("#screen-dom iframe")
    expect(frame.locator("#from")).to_have_value("Anchorage")
    assert frame.locator("#from").evaluate("element => innerWidth") == 1280
    assert frame.locator("#from").evaluate("element => getComputedStyle(element).outlineStyle") == "solid"
    outer, inner = page.locator("#screen-dom").bounding_box(), page.locator("#screen-dom iframe").bounding_box()
    assert inner["width"] == pytest.approx(outer["width"], abs=3)
    assert page.locator("#screen-dom iframe").get_attribute("sandbox") == ""


# ---- editing ------------------------------------------------------------------------------------------------------


@both_databases
def test_drop_restore_and_undo_by_keyboard(page, site, demonstration):
    open_review(page, site, demonstration, "t2")
    row = page.locator('#turns > li[data-turn="t2"]')
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
    expect(page.locator("#turns > li").nth(1)).to_have_attribute("data-turn", "t6")
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
    expect(page.locator('#turns > li[data-turn="t5"]')).to_have_class("dropped")
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
    expect(page.locator("#turns > li").nth(2)).to_have_attribute("data-turn", "t5")
    assert shown_order(page) == order == site.ids(demonstration)
    assert site.turns(demonstration)[2]["timestamp"] == 5
    expect(page.locator(".editor")).to_contain_text("recorded as turn 5")
    with saved(page):
        page.keyboard.press("Alt+ArrowDown")
    assert site.ids(demonstration) == ["t1", "t2", "t3", "t5", "t4", "t6"]


def drag(page: Page, turn: str, onto: str) -> None:
    """Drag a turn's row onto another's, as a hand does."""
    start = page.locator(f'#turns > li[data-turn="{turn}"]').bounding_box()
    end = page.locator(f'#turns > li[data-turn="{onto}"]').bounding_box()
    page.mouse.move(start["x"] + 120, start["y"] + 20)
    page.mouse.down()
    page.mouse.move(start["x"] + 122, start["y"] + 30, steps=3)
    page.mouse.move(end["x"] + 120, end["y"] + end["height"] - 6, steps=12)
    page.mouse.up()


def test_reorder_by_dragging(page, site, demonstration):
    open_review(page, site, demonstration, "t1")
    with saved(page):
        drag(page, "t2", "t4")
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
    with saved(page):
        page.get_by_label("Shift").check()
    assert site.turns(demonstration)[2]["arguments"] == {"x": 420, "y": 200, "button": 0, "modifiers": ["Shift"],
                                                         "keyboard": False}


def test_wrong_argument_gives_a_message_and_keeps_what_was_typed(page, site, demonstration):
    open_review(page, site, demonstration, "t3")
    with saved(page) as answer:
        page.get_by_label("Button").fill("")
        page.keyboard.press("Enter")
    assert answer.value.status == 400
    expect(page.get_by_role("alert")).to_contain_text("is needed")
    expect(page.get_by_label("Button")).to_have_value("")
    assert site.turns(demonstration)[2]["arguments"]["button"] == 0
    page.problems.clear()  # the browser notes the refusal


def test_fix_intent_and_picture(page, site, demonstration):
    open_review(page, site, demonstration, "t4")
    with saved(page):
        page.get_by_label("Intent").select_option("change")
    expect(page.get_by_label("Value")).to_have_value("Ancorage")
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
    add_edit(site.db, demonstration, {"op": "drop", "turn": "t6"}, 1, who="somebody else")
    with saved(page) as answer:
        page.keyboard.press("d")
    assert answer.value.status == 409
    expect(page.get_by_role("alert")).to_contain_text("Somebody changed this demonstration meanwhile")
    assert [turn["id"] for turn in site.turns(demonstration) if turn["dropped"]] == ["t6"]
    with saved(page):
        drag(page, "t2", "t4")
    expect(page.locator("#turns > li").nth(1)).to_have_attribute("data-turn", "t2")
    assert shown_order(page) == ["t1", "t2", "t3", "t4", "t5", "t6"], "a refused move goes back"
    page.problems.clear()
    page.get_by_role("link", name="Reload the page").click()
    expect(page.locator('#turns > li[data-turn="t6"]')).to_have_class("dropped")
    page.wait_for_load_state()
    with saved(page):
        page.keyboard.press("d")
    assert [turn["id"] for turn in site.turns(demonstration) if turn["dropped"]] == ["t2", "t6"]


@both_databases
def test_approve_locks_and_reopens(page, site, demonstration):
    open_review(page, site, demonstration, "t2")
    page.keyboard.press("a")
    expect(page.get_by_role("button", name="Reopen")).to_be_visible()
    expect(page.get_by_role("button", name="Drop")).to_be_disabled()
    page.keyboard.press("d")
    page.keyboard.press("a")
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    assert not site.turns(demonstration)[1]["dropped"]
    page.keyboard.press("i")
    page.get_by_label("Reason").fill("The wrong site")
    page.keyboard.press("Enter")
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
    page.goto(f"{site.url}demonstrations/{demonstration}?turn=t3&view=targets", wait_until="commit")
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
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    with saved(page):
        page.keyboard.press("Enter")
    assert site.turns(demonstration)[3]["element"]["uid"] == "7"
    expect(page.locator(".element")).to_contain_text("All offers")


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
    expect(page.locator("#turns > li")).to_have_count(2)
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
    expect(page.get_by_label("To check").get_by_role("listitem")).to_have_count(1)
    with saved(page):
        page.keyboard.press("y")
    expect(page.get_by_label("To check")).to_have_count(0)
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


def test_help_lists_every_key(page, site, demonstration):
    open_review(page, site, demonstration, "t4")
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog")
    expect(sheet).to_be_visible()
    listed = {text.strip() for text in sheet.locator("kbd").all_inner_texts()}
    shown = {text.strip() for text in page.locator("#workspace kbd").all_inner_texts()}
    assert {key for text in shown for key in re.split(r"(?<=Alt) ", text)} - {"Alt"} <= listed | {"↑", "↓"}
    documented = set(re.findall("`(.*?)`", (Path(__file__).parent.parent / "docs" / "review.md").read_text()))
    assert {key.replace("⇧", "Shift") for key in listed} <= documented
    sheet.get_by_label("Use these keys").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    assert selected(page) == "t4"


def test_every_form_works_without_scripts(browser, site, demonstration):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    open_review(page, site, demonstration, "t4")
    page.get_by_label("Text", exact=True).fill("Anchorage")
    page.get_by_role("button", name="Save").last.click()
    assert site.turns(demonstration)[3]["arguments"] == {"text": "Anchorage"}
    page.get_by_role("button", name="Drop").click()
    assert site.turns(demonstration)[3]["dropped"] and page.url.endswith("turn=t4")
    context.close()


# ---- hostile recordings -------------------------------------------------------------------------------------------


def test_hostile_recording_runs_nothing(page, site, tmp_path):
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    path = make_recording(tmp_path, recording_id="hostile", task=HOSTILE, make_turns=hostile_turns)
    import_recording(site.db, site.store, path)
    page.goto(site.url)
    expect(page.get_by_role("link", name="<script>document.title='owned'").first).to_be_visible()
    for turn in site.turns("hostile"):
        page.goto(f"{site.url}demonstrations/hostile")
        page.locator(f"#row-{dom_id(turn['id'])} a").click()
        expect(page.locator("#turn")).to_have_attribute("data-turn", turn["id"])
        assert page.title() != "owned"
        if turn["type"] == "browser":
            page.keyboard.press("v")
            frame = page.frame_locator("#screen-dom iframe").locator("body")
            expect(frame).to_be_attached()
            page.wait_for_load_state("networkidle")
            assert frame.evaluate("() => document.title") != "owned"
            if turn["intent"] != "load":
                assert frame.evaluate("body => getComputedStyle(body).backgroundColor") == "rgb(1, 2, 3)"
        with saved(page):
            page.keyboard.press("d")
        expect(page.get_by_role("button", name="Restore")).to_be_visible()
    assert dialogs == [] and not [url for url in requests if "evil" in url or not url.startswith((site.url, "data:"))]
