"""Why a tab shows another page: only what the person asked the browser for is a `load` of theirs."""

import time

import pytest

from pipeline.turns.folding import fold
from recorder import Recorder, Recording

OPENERS = ("<a id=link href=/next target=_blank>Link</a><a id=noopener href=/next target=_blank rel=noopener>Link</a>"
           "<a id=plain href=/next>Plain</a><button id=script onclick=\"window.open('/next')\">Open</button>"
           "<button id=alone onclick=\"window.open('/next', '_blank', 'noopener')\">Open</button>"
           "<form action=/next target=_blank><button id=get>Send</button></form>"
           "<form action=/next target=_blank rel=noopener method=post><button id=post>Send</button></form>")
# How a tab is opened from a page: what is pressed, and how.
WAYS = {"link": {}, "noopener": {}, "script": {}, "alone": {}, "get": {}, "post": {},
        "control": {"modifiers": ["Control"]}, "shift": {"modifiers": ["Shift"]}, "middle": {"button": "middle"}}


@pytest.mark.parametrize("late", [0, 0.3], ids=["at once", "late answer"])
def test_a_page_that_another_one_opened_was_not_asked_for_by_address(recording_browser, site, tmp_path, late):
    site.pages |= {"/": OPENERS, "/next": lambda _: time.sleep(late) or "<title>Next</title><p>Next"}

    async def run():
        context = await recording_browser.browser.new_context()
        async with Recorder(context, tmp_path / "rec"):
            page = await context.new_page()
            await page.goto(site.origin + "/")
            for way, options in WAYS.items():
                async with context.expect_page() as opened:
                    await page.click(f"#{way}" if not options else "#plain", **options)
                other = await opened.value
                await other.locator("p").wait_for()
                await other.close()
        await context.close()

    recording_browser.run(run())
    recording = Recording(tmp_path / "rec")
    turns = fold(recording.events)
    assert [turn["intent"] for turn in turns].count("tabcreate") == len(WAYS)
    loads = [turn["arguments"]["url"] for turn in turns if turn["intent"] == "load"]
    assert loads == [site.origin + "/"], "only the first page was asked for by its address"
    transitions = {event["data"]["transition"] for event in recording.events
                   if event["type"] == "navigate" and event["data"]["url"].startswith(site.origin + "/next")}
    assert "typed" not in transitions


def test_a_new_tab_that_a_person_goes_on_from_is_a_load(recording_browser, site, tmp_path):
    site.pages |= {"/": OPENERS, "/next": lambda _: time.sleep(0.2) or "<title>Next</title><p>Next"}

    async def run():
        context = await recording_browser.browser.new_context()
        async with Recorder(context, tmp_path / "rec"):
            page = await context.new_page()
            await page.goto(site.origin + "/next")
            async with context.expect_page() as opened:
                await page.evaluate("open('about:blank', '_blank', 'noopener')")
            await (await opened.value).goto(site.origin + "/")
        await context.close()

    recording_browser.run(run())
    loads = [turn["arguments"]["url"] for turn in fold(Recording(tmp_path / "rec").events) if turn["intent"] == "load"]
    assert loads == [site.origin + "/next", site.origin + "/"]
