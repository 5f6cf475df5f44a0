"""Why a tab shows another page: only what the person asked the browser for is a `load` of theirs."""

import time
from collections.abc import Coroutine

import pytest

from pipeline.turns.folding import fold
from recorder import Recorder, Recording
from recorder.browser.navigation import Navigations
from recorder.browser.traffic import network
from recorder.building.builder import RecordingBuilder
from recorder.building.recording_clock import RecordingClock

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


@pytest.mark.parametrize("late", [False, True], ids=["from the first page", "attached late"])
def test_forward_is_told_from_back_though_addresses_come_twice(recording_browser, site, tmp_path, late):
    site.pages |= {"/": "<a href=/next>Next</a>", "/next": "<a href=/>First</a><a id=part href=#part>Part</a>"}

    async def wander(page):
        for _ in range(2):
            await page.click("a")
            await page.wait_for_load_state()

    async def run():
        context = await recording_browser.browser.new_context()
        page = await context.new_page()
        if late:
            await page.goto(site.origin + "/")
            await wander(page)
        async with Recorder(context, tmp_path / "rec"):
            if not late:
                await page.goto(site.origin + "/")
                await wander(page)

            async def part():
                await page.click("#part")

            for step in (page.go_back, page.go_back, page.go_forward, page.go_forward, page.go_back, part,
                         page.go_back, page.go_forward):
                await step()
        await context.close()

    recording_browser.run(run())
    intents = [turn["intent"] for turn in fold(Recording(tmp_path / "rec").events)]
    told = [intent for intent in intents if intent in ("back", "forward")]
    assert told == ["back", "back", "forward", "forward", "back", "back", "forward"], intents


def _navigations() -> Navigations:
    return Navigations(None, "F", RecordingClock(lambda: 5.0, lambda: 0.0), Coroutine.close, print, opened=False)


@pytest.mark.parametrize("kind, reason, transition", [
    ("differentDocument", "anchorClick", "link"), ("differentDocument", "formSubmissionPost", "form"),
    ("reload", "", "reload"), ("differentDocument", "", "typed")])
def test_an_address_that_a_script_changes_meanwhile_is_not_what_was_begun(kind, reason, transition):
    navigations = _navigations()
    if reason:
        navigations.requested({"frameId": "F", "reason": reason})
    navigations.started({"frameId": "F", "url": "/", "navigationType": kind})
    assert navigations.finish("/users", "/users?q=ada", same_document=True) == ("same_document", 5.0)
    assert navigations.finish("/users?q=ada", "/users/1", same_document=False)[0] == transition


def test_a_step_within_a_document_is_done_when_it_is():
    navigations = _navigations()
    navigations.requested({"frameId": "F", "reason": "anchorClick"})
    navigations.started({"frameId": "F", "url": "/", "navigationType": "sameDocument"})
    assert navigations.finish("/", "/#a", same_document=True)[0] == "same_document"
    assert navigations.finish("/#a", "/two", same_document=False)[0] == "typed"


def test_a_load_comes_before_what_is_pressed_at_once_also_where_this_program_is_late(recording_browser, site, tmp_path,
                                                                                      monkeypatch):
    site.pages["/"] = "<title>First</title><button>Press</button>"
    monkeypatch.setattr(RecordingBuilder, "now", property(lambda self: self._clock.now + 2))

    async def run():
        context = await recording_browser.browser.new_context()
        async with Recorder(context, tmp_path / "rec"):
            page = await context.new_page()
            await page.goto(site.origin + "/")
            await page.click("button")
        await context.close()

    recording_browser.run(run())
    intents = [turn["intent"] for turn in fold(Recording(tmp_path / "rec").events)]
    assert intents.index("load") < intents.index("click"), intents


def test_a_navigation_stays_where_it_was_though_somebody_sets_the_clock():
    wall, steady = [1000.0], [0.0]
    clock = RecordingClock(lambda: wall[0], lambda: steady[0])
    navigations = Navigations(None, "F", clock, Coroutine.close, print, opened=False)
    for set_by in (0.0, -3600.0, 86400.0):
        steady[0] += 10.0
        navigations.started({"frameId": "F", "url": "/", "navigationType": "differentDocument"})
        navigations.on_requested({"frameId": "F", "type": "Document", "wallTime": 1000.0 + steady[0] + set_by})
        at = clock.seconds(navigations.finish("/", "/next", same_document=False)[1])
        assert at == pytest.approx(steady[0], abs=0.01), set_by


def test_a_request_stays_where_it_was_though_somebody_sets_the_clock():
    wall, steady, kept = [1000.0], [0.0], []
    clock = RecordingClock(lambda: wall[0], lambda: steady[0])
    told = network.listeners(None, 1, "F", network.OpenRequests(), kept.append, lambda work: work.close(), clock)
    for set_by in (0.0, -3600.0, 86400.0):
        steady[0] += 10.0
        told["Network.requestWillBeSent"]({
            "requestId": "R", "timestamp": steady[0], "wallTime": 1000.0 + steady[0] + set_by,
            "request": {"method": "GET", "url": "http://a.test/", "headers": {}}})
        told["Network.loadingFailed"]({"requestId": "R", "timestamp": steady[0], "errorText": "gone"})
        assert clock.seconds(kept[-1].start) == pytest.approx(steady[0], abs=0.01), set_by
