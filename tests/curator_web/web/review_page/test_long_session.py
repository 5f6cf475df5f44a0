"""A session of more turns than the page contains: every key, the filter, folding, dragging and scrolling reach all."""

import pytest
from playwright.sync_api import Route, expect

from curator_web.demonstrations.library.library import import_recording
from curator_web.demonstrations.workflow.editing import add_edit
from tests.support import axe
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.long_sessions import lengthen
from tests.support.waiting import wait_until

from .conftest import open_review, saved, selected

COUNT = 700


@pytest.fixture
def long(site, tmp_path) -> str:
    path = make_recording(tmp_path, recording_id=tmp_path.name, change=lengthen(COUNT))
    return import_recording(site.db, site.store, path).id


def open_long(page, site, name: str, turn: str) -> None:
    open_review(page, site, name, turn)
    wait_until(lambda: page.evaluate("turnList.isReady"))


def expect_selected(page, turn: str) -> None:
    """The turn is shown, and its row is in the page, marked and in view."""
    expect(page.locator("#turn")).to_have_attribute("data-turn", turn)
    row = page.locator("#turns .row[aria-current=true]")
    expect(row).to_have_count(1)
    expect(row.locator("xpath=..")).to_have_attribute("data-turn", turn)
    expect(row).to_be_in_viewport(ratio=0.9)


def in_page(page) -> int:
    return page.locator("#turns [data-turn]").count()


def dropped(site, name: str) -> list[str]:
    return [turn["id"] for turn in site.turns(name) if turn["dropped"]]


def test_keys_reach_every_turn_and_the_page_stays_small(page, site, long):
    open_long(page, site, long, "t350")
    expect_selected(page, "t350")
    assert axe.problems(page) == []
    for keys, turn in ((["j"], "t351"), (["End"], "t700"), (["k"], "t699"), (["Home"], "t1"), (["ArrowUp"], "t1"),
                       (["9", "9", "j"], "t100"), ([".",], "t150"), ([","], "t100"), (["k"] * 30, "t70")):
        for key in keys:
            page.keyboard.press(key)
        expect_selected(page, turn)
        assert in_page(page) <= 120
    page.reload()
    expect_selected(page, "t70")


def test_a_key_after_a_step_to_a_far_turn_acts_on_that_turn(page, site, long):
    open_long(page, site, long, "t5")
    with saved(page):
        page.keyboard.press("End")
        page.keyboard.press("d")
    expect_selected(page, "t700")
    assert dropped(site, long) == ["t700"]
    expect(page.locator("#turns .dropped")).to_have_count(1)
    with saved(page):
        page.keyboard.press("u")
    expect(page.locator("#turns .dropped")).to_have_count(0)
    expect_selected(page, "t700")


def test_ranges_and_counts_go_beyond_what_the_page_contains(page, site, long):
    open_long(page, site, long, "t101")
    with saved(page):
        page.keyboard.type("300d")
    assert dropped(site, long) == [f"t{number}" for number in range(101, 401)]
    page.keyboard.press("Shift+End")
    expect(page.locator("#range-count")).to_have_text("600 turns")
    expect_selected(page, "t700")
    with saved(page):
        page.keyboard.press("d")
    expect(page.locator("#turns .dropped").first).to_be_visible()
    assert len(dropped(site, long)) == 600
    page.keyboard.press("Home")
    expect_selected(page, "t1")
    page.keyboard.press("Shift+End")
    with saved(page):
        page.keyboard.press("d")  # not all are dropped
    page.keyboard.press("Shift+Home")
    expect(page.locator("#range-form")).to_contain_text("Restore")
    with saved(page):
        page.keyboard.press("d")
    assert dropped(site, long) == []


def test_the_filter_finds_turns_that_are_not_in_the_page(page, site, long):
    open_long(page, site, long, "t400")
    page.keyboard.press("/")
    page.keyboard.type("hundred")
    hits = page.locator("#turns [data-turn]:visible")
    expect(hits).to_have_count(page.evaluate("turnList.shownIndexes().length"))
    assert 0 < hits.count() < 8
    ids = hits.evaluate_all("items => items.map((item) => item.dataset.turn)")
    page.keyboard.press("Enter")
    expect_selected(page, ids[0])
    page.keyboard.press("End")
    expect_selected(page, ids[-1])
    with saved(page):
        page.keyboard.press("d")
    expect(page.locator("#turns .dropped:visible")).to_have_count(1)
    expect(hits).to_have_count(len(ids))
    page.locator("#film-search").fill("nothing has these")
    expect(page.locator("#film-none")).to_be_visible()
    page.locator("#film-search").fill("")
    expect_selected(page, ids[-1])


def test_visits_are_folded_whether_they_are_in_the_page_or_not(page, site, long):
    open_long(page, site, long, "t350")
    page.keyboard.press("Shift+A")
    expect(page.locator("#turns details[open]")).to_have_count(0)
    expect(page.locator("#turns .row:visible")).to_have_count(0)
    page.locator(".film").evaluate("film => { film.scrollTop = film.scrollHeight; }")
    expect(page.locator('#turns [data-turn="t700"], #turns [data-turn="t696"]').first).to_be_attached()
    expect(page.locator("#turns details[open]")).to_have_count(0)
    page.keyboard.press("j")
    expect_selected(page, "t351")
    expect(page.locator("#turns details[open]")).to_have_count(1)
    page.keyboard.press("Shift+A")
    expect(page.locator("#turns details:not([open])")).not_to_have_count(0)
    page.keyboard.press("Shift+A")
    expect(page.locator("#turns details:not([open])")).to_have_count(0)


def test_scrolling_shows_rows_where_they_belong_and_an_edit_leads_back(page, site, long):
    open_long(page, site, long, "t1")
    film = page.locator(".film")
    for share in (0.5, 0.97, 0.2):
        film.evaluate("(film, share) => { film.scrollTop = film.scrollHeight * share; }", share)
        row = page.locator(f'#turns [data-turn="t{round(share * COUNT)}"]')
        expect(row).to_be_in_viewport()
    heights = page.locator("#turns .row").evaluate_all("rows => [...new Set(rows.map((row) => row.offsetHeight))]")
    assert len(heights) == 1
    with saved(page):
        page.keyboard.press("d")
    expect_selected(page, "t1")


def test_turns_that_are_added_moved_split_off_and_joined_are_followed(page, site, long):
    open_long(page, site, long, "t300")
    page.keyboard.press("o")
    page.get_by_role("dialog").get_by_label("Utterance").fill("Well done")
    with saved(page):
        page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#turns .row[aria-current=true]")).to_contain_text("Well done")
    assert page.evaluate("turnList.length") == COUNT + 1
    assert page.evaluate("turnList.at(300).id") == selected(page)
    with saved(page):
        page.keyboard.press("Alt+ArrowUp")
    wait_until(lambda: page.evaluate("turnList.at(299).id === document.querySelector('#turn').dataset.turn"))
    with saved(page):
        page.keyboard.press("u")
    with saved(page):
        page.keyboard.press("u")
    wait_until(lambda: page.evaluate(f"turnList.length === {COUNT}"))
    page.keyboard.press("End")
    expect_selected(page, "t700")
    for _ in range(3):
        page.keyboard.press("k")
    expect_selected(page, "t697")
    page.keyboard.press("Shift+X")
    with saved(page):
        page.get_by_role("button", name="Split", exact=True).click()
    wait_until(lambda: page.evaluate("turnList.length === 696"))
    expect_selected(page, "t696")
    assert page.evaluate("turnList.shownIndexes().map((index) => turnList.at(index).id)") == site.ids(long)


def test_a_row_is_dragged(page, site, long):
    open_long(page, site, long, "t350")
    source, target = (page.locator(f'#turns [data-turn="{turn}"]') for turn in ("t350", "t352"))
    target.scroll_into_view_if_needed()
    begin, end = source.bounding_box(), target.bounding_box()
    page.mouse.move(begin["x"] + 100, begin["y"] + 20)
    page.mouse.down()
    page.mouse.move(begin["x"] + 100, begin["y"] + 60, steps=4)
    page.mouse.move(end["x"] + 100, end["y"] + end["height"] - 4, steps=12)
    with saved(page):
        page.mouse.up()
    ids = site.ids(long)
    assert ids.index("t350") in (350, 351)
    wait_until(lambda: page.evaluate("turnList.indexOf('t350') === " + str(ids.index("t350"))))


def test_another_persons_edit_is_noticed(page, site, long):
    open_long(page, site, long, "t350")
    add_edit(site.db, long, {"op": "drop", "turn": "t1"}, 1)
    page.keyboard.press("End")
    expect_selected(page, "t700")
    wait_until(lambda: page.evaluate("turnList.at(0).isDropped"))


def test_keys_pressed_before_the_list_has_come_are_not_lost(page, site, long):
    requests: list[Route] = []
    page.route("**/turn-index", lambda route: requests.append(route))
    with page.expect_request("**/turn-index"):
        open_review(page, site, long, "t350")
        for key in ("j", "j", "j"):
            page.keyboard.press(key)
    page.evaluate("null")  # what was routed until now has come
    assert len(requests) == 1
    for request in requests:
        request.continue_()
    expect_selected(page, "t353")
