"""Replies, reactions and speech on the review page, in a real Chromium, over HTTP."""

import pytest
from playwright.sync_api import expect

from curator_web.demonstrations.library.library import import_recording
from tests.support.curator.curator_fixtures import HOSTILE, make_recording

from .conftest import open_review, saved


def answering(turns):
    turns[0] |= {"reactions": [{"emoji": "👍", "count": 2, "speakers": ["navigator"]},
                               {"emoji": "party_cat", "count": 1}]}
    turns[4] |= {"reply_to": "t1"}


def imported(site, tmp_path, name, change) -> str:
    return import_recording(site.db, site.store, make_recording(tmp_path, recording_id=name, change=change)).id


def test_a_reply_shows_what_it_answers_and_leads_there(page, site, tmp_path):
    demonstration = imported(site, tmp_path, "answering", answering)
    open_review(page, site, demonstration, "t5")
    row = page.locator('#turns li[data-turn="t5"]')
    expect(row.locator(".answered")).to_have_text("in reply to “Plese book a flight to Seatle”")
    speech = page.locator(".speech")
    expect(speech.locator("blockquote")).to_have_text("Done, which date?")
    speech.get_by_role("link", name="Plese book a flight").click()
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t1")
    expect(page.locator(".speech .flag-reaction")).to_have_text(["👍 2 navigator", "party_cat"])
    expect(page.locator('#turns li[data-turn="t1"] .flag-reaction')).to_have_text(["👍 2", "party_cat"])
    with saved(page):
        page.keyboard.press("d")
    page.goto(page.url.replace("turn=t1", "turn=t5"))
    expect(page.locator(".speech .answered")).to_contain_text("(dropped)")


def test_speech_says_so_and_is_corrected_as_any_chat_turn(page, site, tmp_path):
    demonstration = imported(site, tmp_path, "spoken", lambda turns: turns[4].update(source="speech"))
    open_review(page, site, demonstration, "t5")
    expect(page.locator(".speech figcaption")).to_contain_text(", spoken")
    expect(page.locator('#turns li[data-turn="t5"] .time')).to_contain_text(", spoken")
    expect(page.locator('#turns li[data-turn="t1"] .time')).not_to_contain_text("spoken")
    with saved(page):
        page.locator("textarea[data-first]").fill("Done, which day?")
        page.locator("textarea[data-first]").blur()
    expect(page.locator(".speech blockquote")).to_have_text("Done, which day?")
    expect(page.locator(".speech figcaption")).to_contain_text(", spoken")


@pytest.mark.parametrize("answered", ["t5", "t2", "nobody", ""])
def test_a_reply_to_nothing_that_was_said_is_shown_without(page, site, tmp_path, answered):
    demonstration = imported(site, tmp_path, f"lost-{answered}", lambda turns: turns[4].update(reply_to=answered))
    open_review(page, site, demonstration, "t5")
    expect(page.locator(".speech blockquote")).to_have_text("Done, which date?")
    expect(page.locator(".answered")).to_have_count(0)


def test_what_stands_in_reactions_is_text(page, site, tmp_path):
    hostile = HOSTILE[:60]
    demonstration = imported(site, tmp_path, "hostile-reactions", lambda turns: turns[0].update(
        utterance=HOSTILE[:-1], reactions=[{"emoji": hostile, "count": 2**53}]) or turns[4].update(reply_to="t1"))
    open_review(page, site, demonstration)
    expect(page.locator(".speech .flag-reaction")).to_have_text(f"{hostile} {2**53}")
    expect(page).not_to_have_title("owned")
