"""The turns by page: folded and unfolded by click and key, and unfolded by what leads to them."""

import pytest
from playwright.sync_api import expect

from curator_web.demonstrations.library.library import import_recording, review
from curator_web.web.review.presentation import ReviewView
from tests.support.curator.curator_fixtures import make_recording

from .conftest import open_review, saved, selected


def on_three_pages(turns) -> None:
    """Chat and a load on one page, a click on another that has no title, then typing, chat and sending on the first."""
    for place, turn in enumerate(turns):
        if turn["type"] == "browser" and turn["state"]:
            turn["state"]["url"] = "https://air.example/list" if place == 2 else f"https://air.example/book#{place}"
            turn["state"]["title"] = "" if place == 2 else "Book a flight"
    turns[3]["checks"].append({"kind": "long-gap", "reason": "Long."})


@pytest.fixture
def visited(site, tmp_path) -> str:
    path = make_recording(tmp_path, recording_id=tmp_path.name, change=on_three_pages)
    return import_recording(site.db, site.store, path).id


def folded(page) -> list[bool]:
    return page.locator("#turns details").evaluate_all("all => all.map((each) => !each.open)")


def test_turns_are_folded_by_page_and_unfolded_by_what_leads_to_them(page, site, visited):
    visits = ReviewView(review(site.db, visited)).visits
    assert [[turn.id for turn in visit.turns] for visit in visits] == [["t1", "t2"], ["t3"], ["t4", "t5", "t6"]]
    assert [(visit.title, visit.checks) for visit in visits] == [
        ("Book a flight", 0), ("https://air.example/list", 1), ("Book a flight", 1)]
    open_review(page, site, visited, "t4")
    headings = page.locator("#turns summary")
    expect(headings.nth(2)).to_contain_text("3 turns")
    headings.nth(0).click()
    assert folded(page) == [True, False, False]
    with saved(page):
        page.keyboard.press("d")  # what is folded stays so
    expect(page.locator("#turns .dropped")).to_have_count(1)
    assert folded(page) == [True, False, False]
    page.keyboard.press("Shift+A")
    assert folded(page) == [True] * 3
    page.keyboard.press("k")
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t3")
    assert folded(page) == [True, False, True]
    page.keyboard.press("Shift+F")
    assert folded(page) == [True] * 3
    page.keyboard.press("j")
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t4")
    assert folded(page) == [True, True, False]
    page.keyboard.press("Shift+A")
    page.keyboard.press("/")
    page.keyboard.type("load")
    assert not folded(page)[0]  # its hit is seen
    expect(headings.nth(1)).to_be_hidden()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.press("Delete")
    assert folded(page) == [True, True, False]  # where the turn is that is shown
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+F")
    page.get_by_role("button", name="Collapse all").click()
    assert folded(page) == [False] * 3 and selected(page) == "t4"
