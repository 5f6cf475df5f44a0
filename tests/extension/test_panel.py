"""The side panel: start, pause, undo, chat and stop by mouse and keys; the live list; what Chrome withholds."""

import re
from functools import partial

import cv2
import numpy as np
import pytest
from playwright.async_api import async_playwright

from pipeline import process
from pipeline.verify import verify
from tests.recorder.browser.test_recorder import FLIP
from tests.recorder.control.test_control_page import CONTRAST
from tests.support import chrome as browsers
from tests.support.samples.sessions import painted
from tests.support.waiting import wait_until_async

PAGE = """<!DOCTYPE html><title>Shop</title><body style="margin:0"><button id=buy>Buy tea</button>
<label>Name <input id=n></label><label>Password <input id=p type=password></label>"""
STATE = re.compile("^Recording$")


@pytest.fixture
def panel(chrome, site):
    """Runs user actions on (page, panel page); the panel records the page. Gives the recording's id."""
    site.pages["/"] = PAGE

    def play(user_actions, *, keeps=True):
        async def work():
            page, view = await chrome.context.new_page(), chrome.panel.page
            try:
                await page.goto(site.origin + "/")
                await view.set_viewport_size({"width": 380, "height": 760})
                await view.goto(view.url.partition("?")[0] + f"?window={await chrome.panel.window_of(page)}")
                await page.bring_to_front()
                await user_actions(page, view)
            finally:
                await chrome.panel.ask("stop")
                kept = await chrome.panel.ask("kept")
                await page.close()
            return max(kept, key=lambda facts: facts["started_at"])["id"] if keeps else None

        return chrome.runner.run(work())

    return play


def read(chrome, recording: str):
    package = chrome.runner.run(chrome.panel.package(recording, chrome.folder / f"{recording}.zip"))
    return chrome.read(package, chrome.folder / recording)


def test_a_recording_from_start_to_stop_by_mouse(chrome, panel):
    seen = {}

    async def user_actions(page, view):
        await view.locator("#task").fill("Buy some tea")
        await view.locator("#start").click()
        await view.locator("#state", has_text=STATE).wait_for()
        await page.locator("#buy").click()
        await page.locator("#n").click()
        await page.keyboard.type("Ada")
        await page.locator("#p").click()
        await page.keyboard.type("hunter2")
        await view.locator("#count", has_text=re.compile("^5$")).wait_for()
        await wait_until_async(
            lambda: view.evaluate("[...document.querySelectorAll('#lines .small')].every(i => i.src)"))
        seen["list"] = await view.locator("#lines").inner_text()
        seen["html"] = await view.content()
        seen["task"] = await view.locator("#heading").inner_text()
        await view.locator("#undo").click()
        await view.locator("#lines .undone").wait_for()
        await view.locator("#utterance").fill("Thank you")
        await view.locator("#send").click()
        await view.locator("#lines .family-say").wait_for()
        seen["badge"] = await chrome.panel.page.evaluate("chrome.action.getBadgeText({})")
        await view.reload()  # whoever opens the panel later sees the same
        await view.locator("#count", has_text=re.compile("^6$")).wait_for()
        seen["again"] = await view.locator("#lines").inner_text()
        await view.locator("#stop").click()
        await view.locator("#kept li", has_text="Buy some tea").first.wait_for()

    session = read(chrome, panel(user_actions))
    assert re.findall(r"Click|Typing", seen["list"]) == ["Click", "Click", "Typing", "Click", "Typing"]
    assert "Buy tea" in seen["list"] and "hunter2" not in seen["html"] and "Ada" not in seen["html"]
    assert (seen["task"], seen["badge"]) == ("Buy some tea", "REC")
    assert "Thank you" in seen["again"] and "(undone)" in seen["again"]
    turns = process(session.recording.layout.root)["turns"]
    assert [(turn.get("intent", "say"), turn["dropped"]) for turn in turns] == [
        ("click", False), ("click", False), ("textInput", False), ("click", False), ("textInput", True), ("say", False)]
    assert session.recording.task == "Buy some tea"


def test_a_recording_by_keys_alone(chrome, panel):
    async def user_actions(page, view):
        await view.bring_to_front()
        await view.locator("#task").focus()
        await view.keyboard.type("Buy some tea")
        await view.keyboard.press("Tab")
        await view.keyboard.press("Enter")
        await view.locator("#state", has_text=STATE).wait_for()
        await page.bring_to_front()
        await page.locator("#buy").click()
        await view.bring_to_front()
        await view.locator("#lines li").nth(0).wait_for()
        await view.keyboard.press("Alt+p")
        await view.locator("#state", has_text="Paused").wait_for()
        assert await chrome.panel.page.evaluate("chrome.action.getBadgeText({})") == "II"
        assert await view.locator("#utterance").get_attribute("readonly") is not None
        await view.keyboard.press("Alt+p")
        await view.locator("#state", has_text=STATE).wait_for()
        await view.keyboard.press("Alt+z")
        await view.locator("#lines .undone").wait_for()
        await view.locator("#utterance").focus()
        await view.keyboard.type("Done")
        await view.keyboard.press("Enter")
        await view.locator("#lines .family-say", has_text="Done").wait_for()
        await view.keyboard.press("Alt+s")
        await view.locator("#kept li").first.wait_for()
        assert await chrome.panel.page.evaluate("chrome.action.getBadgeText({})") == ""

    session = read(chrome, panel(user_actions))
    assert [turn["intent"] for turn in session.turns if turn["element"]][:1] == ["click"]
    assert verify(session.recording.layout.root) == []


def test_consent_and_licence_are_asked_once_and_told_with_every_recording(chrome, panel):
    seen = []

    async def record(page, view):
        await view.locator("#start").click()
        await view.locator("#state", has_text=STATE).wait_for()
        await page.locator("#buy").click()
        await view.locator("#lines li").first.wait_for()
        await view.locator("#stop").click()
        await view.locator("#begin").wait_for()

    async def first(page, view):
        seen.append(await view.locator("#publishing").get_attribute("open"))
        await record(page, view)

    async def answers(page, view):
        await view.locator("#provenance label", has_text="Yes").click()
        await view.locator("#license").fill("<b>CC</b>")
        seen.append(await view.locator("#publishing-told").inner_text())
        await view.locator("#license").fill("CC-BY-4.0")
        seen.append(await view.locator("#publishing-told").inner_text())
        await record(page, view)

    async def later(page, view):
        seen.append(await view.locator("#publishing").get_attribute("open"))
        seen.append(await view.locator("#license").input_value())
        await record(page, view)
        await view.evaluate("localStorage.removeItem('provenance')")

    told = [read(chrome, panel(work)).recording.manifest["provenance"] for work in (first, answers, later)]
    assert told == [{"actor": "person"}, *2 * [{"actor": "person", "consent": True, "license": "CC-BY-4.0"}]]
    assert seen == ["", "agreed", "agreed, CC-BY-4.0", None, "CC-BY-4.0"]


def test_keys_of_the_browser_steer_wherever_the_person_is(chrome, panel):
    async def user_actions(page, view):
        worker = await browsers.service_worker(chrome.context)
        commands = await worker.evaluate("chrome.commands.getAll()")
        assert {each["name"]: each["shortcut"] for each in commands if each["description"]} == {
            "pause": "Alt+P", "undo": "Alt+Z", "stop": "Alt+S"}

        async def press(command):  # a test cannot press keys of the browser's own, only those of a page
            await worker.evaluate("command => chrome.commands.onCommand.dispatch(command)", command)

        await view.bring_to_front()
        await view.locator("#task").fill("Buy some tea")
        await view.locator("#start").click()
        await view.locator("#state", has_text=STATE).wait_for()
        await page.bring_to_front()
        await page.locator("#buy").click()
        await view.locator("#lines li").nth(0).wait_for()
        await press("pause")
        await view.locator("#state", has_text="Paused").wait_for()
        assert await chrome.panel.page.evaluate("chrome.action.getBadgeText({})") == "II"
        await page.locator("#buy").click()
        await press("pause")
        await view.locator("#state", has_text=STATE).wait_for()
        await press("undo")
        await view.locator("#lines .undone").first.wait_for()
        await press("stop")
        await view.locator("#kept li").first.wait_for()

    session = read(chrome, panel(user_actions))
    clicks = [turn for turn in session.turns if turn["intent"] == "click" and turn["element"]["name"] == "Buy tea"]
    assert len(clicks) == 1 and [event["type"] for event in session.recording.events].count("undo") == 1
    assert verify(session.recording.layout.root) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(panel, scheme):
    async def user_actions(page, view):
        await view.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        await view.evaluate("document.querySelectorAll('details').forEach(at => at.open = true)")
        assert await view.evaluate(CONTRAST) == []
        assert await view.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await view.locator("#task").fill("Buy some tea")
        await view.locator("#start").click()
        await view.locator("#state", has_text=STATE).wait_for()
        await page.locator("#buy").click()
        await view.locator("#lines li").first.wait_for()
        assert await view.evaluate(CONTRAST) == []
        await view.locator("#pause").click()
        await view.locator("#state", has_text="Paused").wait_for()
        assert await view.evaluate(CONTRAST) == []
        await view.locator("#stop").click()
        await view.locator("#kept li").first.wait_for()
        assert await view.evaluate(CONTRAST) == []

    panel(user_actions)


def test_what_goes_wrong_is_told_and_a_recording_is_discarded_in_two_steps(chrome, panel):
    async def user_actions(page, view):
        await view.locator("#start").click()
        await view.locator("#state", has_text=STATE).wait_for()
        await view.locator("#stop").click()
        await view.locator("#server").fill("http://review.example.org")
        await view.locator("#token").fill("x")
        await view.locator("#sign-in button").click()
        await view.locator("#sign-in-notice", has_text="must begin with https").wait_for()
        await view.locator("#server").fill("http://127.0.0.1:9")
        await view.locator("#sign-in button").click()
        await view.locator("#sign-in-notice", has_text="does not respond").wait_for()
        assert await view.locator("#token").input_value() == "x" and await view.locator("#send-needs").is_visible()
        before = len(await chrome.panel.ask("kept"))
        button = view.locator("#kept li").first.locator(".danger")
        await button.click()
        assert await button.inner_text() == "Discard permanently"
        await button.click()
        await wait_until_async(lambda: fewer(before), what="the recording to go")

    async def fewer(before):
        return len(await chrome.panel.ask("kept")) == before - 1

    assert panel(user_actions, keeps=False) is None


COUNT_STILLS = """() => { const take = chrome.tabs.captureVisibleTab.bind(chrome.tabs); globalThis.stills = 0;
  chrome.tabs.captureVisibleTab = async (...given) => { const it = await take(...given); stills += 1; return it } }"""


def test_where_chrome_withholds_the_stream_pictures_are_marked(recording_browser, site, tmp_path):
    """Without the click on the toolbar: stills with their times, good where the page did not change; the panel asks for
    the click."""
    site.pages["/"] = FLIP

    async def work():
        async with async_playwright() as playwright:
            context = await browsers.launch(playwright, tmp_path / "profile", streams=False)
            async with browsers.Panel(context) as panel:
                page = await context.new_page()
                worker = await browsers.service_worker(context)
                await worker.evaluate(COUNT_STILLS)
                started = await panel.ask("start", task="", window=await panel.window_of(page))
                await page.goto(site.origin + "/")
                await panel.page.locator("#click-me").wait_for()
                for _ in range(4):  # a person takes their time; a still comes every 600 ms
                    await painted(page)
                    enough = await worker.evaluate("stills") + 3  # one may be on its way, one is being stored
                    await wait_until_async(partial(worker.evaluate, f"stills >= {enough}"), what="stills")
                    await page.mouse.click(200, 200)
                await panel.ask("stop")
                await panel.package(started["id"], tmp_path / "p.zip")
            await context.close()

    recording_browser.run(work())
    session = browsers.Chrome(recording_browser.runner, None, None, tmp_path).read(tmp_path / "p.zip", tmp_path / "rec")
    clicks = [turn for turn in session.turns if turn["intent"] == "click"]
    assert len(clicks) == 4
    before = 0.0
    for number, turn in enumerate(clicks):
        state = turn["state"]
        assert state.get("stale_because") in ("still", None) and before < state["screenshot_time"] <= turn["timestamp"]
        before = turn["timestamp"]
        blue, _, red = cv2.imdecode(np.frombuffer(session.recording.blob(state["screenshot"]), np.uint8), 1)[300, 400]
        assert (blue > red) == bool(number % 2)
    # The page was unchanged from before the still until the click, which a person takes their time for.
    assert sum(turn["state"]["screenshot_status"] == "good" for turn in clicks) >= 3
    assert verify(tmp_path / "rec") == []


COUNT_STREAMS = """() => { globalThis.requests = 0;
  const get = chrome.tabCapture.getMediaStreamId.bind(chrome.tabCapture);
  chrome.tabCapture.getMediaStreamId = async (...given) => { requests += 1; return get(...given) } }"""


def test_a_key_of_the_browser_requests_the_stream_that_it_permits(recording_browser, site, tmp_path):
    site.pages["/"] = FLIP

    async def work():
        async with async_playwright() as playwright:
            context = await browsers.launch(playwright, tmp_path / "profile", streams=False)
            async with browsers.Panel(context) as panel:
                page = await context.new_page()
                await page.goto(site.origin + "/")
                worker = await browsers.service_worker(context)
                await panel.ask("start", task="", window=await panel.window_of(page))
                await panel.page.locator("#click-me").wait_for()
                await worker.evaluate(COUNT_STREAMS)
                for count, command in enumerate(("undo", "pause", "pause"), 1):
                    await worker.evaluate(
                        "async ([command, url]) => { const [tab] = await chrome.tabs.query({url});"
                        " chrome.commands.onCommand.dispatch(command, tab) }", [command, site.origin + "/"])
                    await wait_until_async(partial(worker.evaluate, f"requests >= {count}"), what="a request")
                await panel.ask("stop")
            await context.close()

    recording_browser.run(work())


def test_the_first_recording_needs_the_agreement_to_what_is_collected(chrome, panel):
    async def user_actions(page, view):
        await view.evaluate("localStorage.removeItem('agreed')")
        await view.reload()
        await view.locator("#start").click()
        await view.locator("#agree:invalid").wait_for()
        assert await view.evaluate("chrome.action.getBadgeText({})") == ""
        async with chrome.context.expect_page() as opened:
            await view.locator("#agreement a").click()
        policy = await opened.value
        await policy.locator("h2", has_text="How long, and how to delete it").wait_for()
        await policy.close()
        await view.locator("#agree").check()
        await view.locator("#start").click()
        await view.locator("#state", has_text=STATE).wait_for()
        await view.locator("#stop").click()
        await view.locator("#begin").wait_for()
        assert await view.locator("#agreement").is_hidden()
        await view.reload()
        await view.locator("#version", has_text=re.compile(r"^\d+\.\d+")).wait_for(state="attached")
        assert await view.locator("#agreement").is_hidden()

    panel(user_actions)
