"""The server hangs, or is gone: what is shown stays with the list, and what was changed meanwhile is sent later."""

import re
from threading import Event

import pytest
from playwright.sync_api import expect

from .conftest import open_review, selected

# Routed before the page is opened: requests of one that is shown already may pass a route by.
OF_THE_REVIEW = re.compile(r"turn=t\d|/edits$")


@pytest.mark.parametrize("answer", (None, 503))
def test_the_list_stays_at_what_is_shown_and_a_change_is_sent_later(page, site, demonstration, answer):
    is_gone, refused = Event(), []

    def answered(route):
        if not is_gone.is_set():
            return route.continue_()
        refused.append(route.request.post_data)
        return route.fulfill(status=answer, body="") if answer and refused[-1] else route.abort()
    page.route(OF_THE_REVIEW, answered)
    open_review(page, site, demonstration, "t2")
    is_gone.set()
    page.keyboard.press("j")
    expect(page.locator("#notice")).to_contain_text("The server does not respond.")
    assert selected(page) == "t2" and page.locator("#turn").get_attribute("data-turn") == "t2"
    page.keyboard.press("d")
    expect(page.locator("#notice")).to_contain_text("Your change is kept in this tab")
    for key in "jd":  # what follows waits for it
        page.keyboard.press(key)
    assert [turn["dropped"] for turn in site.turns(demonstration)[1:3]] == [False, False]
    is_gone.clear()
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t3")
    expect(page.locator("#turn [data-key=d]")).to_contain_text("Restore")
    assert [turn["dropped"] for turn in site.turns(demonstration)[1:3]] == [True, True]
    page.problems.clear()  # the browser notes what failed


def test_that_an_answer_is_waited_for_is_shown(page, site, demonstration):
    held, is_held = [], Event()
    page.route(OF_THE_REVIEW, lambda route: held.append(route) if is_held.is_set() else route.continue_())
    open_review(page, site, demonstration, "t2")
    is_held.set()
    page.keyboard.press("j")
    expect(page.locator("body")).to_have_class(re.compile("is-waiting"))
    expect(page.locator("#turn")).to_have_attribute("aria-busy", "true")
    held[0].continue_()
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t3")
    expect(page.locator("body")).not_to_have_class(re.compile("is-waiting"))
