"""Common work in few keys: opening, several turns at once, what is to check, the task's text, going on."""

from playwright.sync_api import expect

from curator_web.demonstrations.library.labels import define
from curator_web.demonstrations.library.library import current, import_recording, listed
from curator_web.demonstrations.listing.listing import Filter, listing
from curator_web.users import Account
from tests.support.curator.curator_fixtures import make_recording

from .conftest import open_review, saved, selected

ALL = ["t1", "t2", "t3", "t4", "t5", "t6"]


def dropped(site, demonstration) -> list[str]:
    return [turn["id"] for turn in site.turns(demonstration) if turn["dropped"]]


def press(page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_a_row_is_opened_by_two_keys_and_approving_opens_the_next(page, site, demonstration, tmp_path):
    import_recording(site.db, site.store, make_recording(tmp_path, recording_id="another"))
    page.goto(site.url)
    press(page, "j", "j", "k", "Enter")
    page.wait_for_url("**/demonstrations/*")
    first = page.url.rpartition("/")[2].partition("?")[0]
    assert first == listing(site.db).rows[0].id
    page.wait_for_load_state()
    press(page, "a")
    page.wait_for_url(f"**/demonstrations/*?done={first}")
    assert listed(site.db, first).status == "approved"
    expect(page.get_by_role("link", name="Go back to the one before")).to_be_visible()
    following = page.url.rpartition("/")[2].partition("?")[0]
    assert listed(site.db, following).lease_who is None  # who is alone keeps it from nobody


def test_ranges_are_chosen_dropped_restored_and_undone_at_once(page, site, demonstration):
    open_review(page, site, demonstration, "t4")
    with saved(page):
        press(page, "Shift+End", "d")  # the end is trimmed by two keys
    expect(page.locator("#turns .dropped")).to_have_count(3)
    assert dropped(site, demonstration) == ["t4", "t5", "t6"] and selected(page) == "t6"
    press(page, "Shift+K", "Shift+ArrowUp")
    expect(page.locator("#range-form")).to_contain_text("3 turns")
    expect(page.locator("#range-form")).to_contain_text("Restore")
    with saved(page):
        press(page, "d")
    expect(page.locator("#turns .dropped")).to_have_count(0)
    with saved(page):
        press(page, "u")
    assert dropped(site, demonstration) == ["t4", "t5", "t6"]
    with saved(page):
        press(page, "u")
    assert dropped(site, demonstration) == []
    press(page, "Home")
    with saved(page):
        press(page, "4", "d")
    expect(page.locator("#turns .dropped")).to_have_count(4)
    assert dropped(site, demonstration) == ALL[:4]
    press(page, "3", "j")
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t4")
    press(page, "Shift+J", "Escape")
    expect(page.locator(".in-range")).to_have_count(0)
    with saved(page):
        press(page, "d")  # the one turn
    assert dropped(site, demonstration) == ALL[:5]
    page.goto(f"{site.url}demonstrations/{demonstration}/changes")
    expect(page.locator(".log tbody tr").nth(1)).to_contain_text("4 turns")


def test_by_the_mouse_and_while_only_some_are_shown(page, site, demonstration):
    open_review(page, site, demonstration, "t1")
    rows = page.locator("#turns .row")
    rows.nth(1).click()
    rows.nth(3).click(modifiers=["Shift"])
    expect(page.locator(".in-range")).to_have_count(3)
    with saved(page):
        page.get_by_role("button", name="Drop", exact=False).and_(page.locator("#range-form button")).click()
    expect(page.locator("#turns .dropped")).to_have_count(3)
    assert dropped(site, demonstration) == ["t2", "t3", "t4"]
    press(page, "/")
    page.keyboard.type("click")
    shown = page.locator("#turns [data-turn]:not([hidden])")
    expect(page.locator("#turns [data-turn][hidden]")).not_to_have_count(0)
    ids = shown.evaluate_all("items => items.map((item) => item.dataset.turn)")
    assert 0 < len(ids) < 6
    press(page, "Enter")
    expect(page.locator("#turn")).to_have_attribute("data-turn", ids[0])
    press(page, "End")
    expect(page.locator("#turn")).to_have_attribute("data-turn", ids[-1])
    assert page.get_by_label("Filter the turns by words").input_value() == "click"


def test_the_next_to_check_and_the_task_by_keys(page, site, tmp_path):
    name = import_recording(site.db, site.store, make_recording(
        tmp_path, recording_id="to-check", change=lambda turns: [turns[place]["checks"].append(
            {"kind": "long-gap", "reason": "Long."}) for place in (2, 5)])).id
    open_review(page, site, name, "t1")
    for key, turn in ((".", "t3"), (".", "t6"), (".", "t3"), (",", "t6")):
        press(page, key)
        expect(page.locator("#turn")).to_have_attribute("data-turn", turn)
    press(page, "Shift+E")
    expect(page.get_by_label("Task", exact=True)).to_be_focused()
    press(page, "ControlOrMeta+a")
    page.keyboard.type("Fly to Z\u00fcrich")
    with saved(page):
        press(page, "Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Fly to Z\u00fcrich")
    assert current(site.db, name)["task"] == listed(site.db, name).task == "Fly to Z\u00fcrich"
    assert [row.id for row in listing(site.db, Filter(search="z\u00fcrich")).rows] == [name]
    press(page, "u")
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Fly to Z\u00fcrich")
    assert listing(site.db, Filter(search="z\u00fcrich")).rows == []


def test_a_label_is_given_as_it_is_changed(page, site, demonstration):
    define(site.db, [{"name": "kinds", "scope": "turn", "kind": "multiple", "options": ["search", "form"]},
                     {"name": "difficulty", "scope": "demonstration", "kind": "single", "options": ["easy", "hard"]},
                     {"name": "seconds", "scope": "demonstration", "kind": "number"}], Account("lea", "lead"))
    open_review(page, site, demonstration, "t3")
    for option in ("form", "search"):
        with saved(page):
            page.get_by_label(option).check()
    with saved(page):
        page.get_by_label("difficulty").select_option("hard")
    with saved(page):
        page.get_by_label("seconds").fill("12")
        press(page, "Enter")
    assert site.turns(demonstration)[2]["labels"] == {"kinds": ["search", "form"]}
    assert current(site.db, demonstration)["labels"] == {"difficulty": ["hard"], "seconds": ["12"]}
    expect(page.get_by_label("difficulty")).to_have_value("hard")
    press(page, "u", "j")
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t4")
    expect(page.get_by_label("seconds")).to_have_value("")
    expect(page.get_by_label("form")).not_to_be_checked()
    define(site.db, [], Account("lea", "lead"))


def test_the_picture_large_and_larger_by_one_key(page, site, demonstration):
    open_review(page, site, demonstration, "t3")
    screen = page.locator("#screen-picture")
    for key, least in (("q", 1200), ("q", 2400), ("j", 2400)):
        press(page, key)
        expect(page.locator("#turn")).to_have_attribute("data-turn", "t4" if key == "j" else "t3")
        assert screen.bounding_box()["width"] >= least
        box = page.locator("#overlay .box").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 1280 and 0 <= box["y"] <= 800
    assert page.evaluate("document.documentElement.scrollWidth") == 1280
    press(page, "e")
    expect(page.get_by_label("Text", exact=True)).to_be_focused()
    press(page, "Escape", "q", "Escape")
    assert screen.bounding_box()["width"] < 700
