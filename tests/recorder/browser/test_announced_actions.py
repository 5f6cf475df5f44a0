"""What a driver's scripts do in the page's own world is an action if the driver announces it."""

import json
from dataclasses import replace

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import async_playwright

from pipeline.turns.folding import fold
from recorder import Recorder, Recording
from recorder.browser import launch
from tests.support.samples.traps import line

PAGE = """<!DOCTYPE html><title>Form</title><input id=name><select id=town><option>Rome<option>Oslo</select>
<input type=checkbox id=news><input type=radio name=r id=slow><button id=go>Go</button><p id=out></p><script>
go.onclick = () => out.textContent = 'gone';
setInterval(() => town.dispatchEvent(new Event('change', { bubbles: true })), 50);
</script>"""
SCRIPTS = {
    "textInput input#name text='Ann'": "document.querySelector('#name').value = 'Ann'",
    "change select#town value='Oslo'": "(() => { const s = document.querySelector('#town'); s.value = 'Oslo';"
                                       "s.dispatchEvent(new Event('change', { bubbles: true })) })()",
    "change input#news checked=True": "document.querySelector('#news').click()",
    "change input#slow checked=True": "document.querySelector('#slow').checked = true",
    "click button#go": "document.querySelector('#go').click()",
}


@pytest.mark.parametrize("place", ["page", "frame"])
def test_announced_scripts_are_turns_with_the_state_before(recording_browser, site, tmp_path, place):
    site.pages |= {"/": PAGE, "/frame": f"<iframe src='{site.other_origin}/' width=700 height=400></iframe>"}

    async def run():
        context = await recording_browser.browser.new_context()
        page = await context.new_page()
        async with Recorder(context, tmp_path / "rec") as recorder:
            await page.goto(site.origin + ("/" if place == "page" else "/frame"))
            frame = page.frames[-1]
            await frame.wait_for_selector("#go")
            for script in SCRIPTS.values():
                async with recorder.action():
                    await frame.evaluate(script)
        await context.close()

    recording_browser.run(run())
    recording = Recording(tmp_path / "rec")
    turns = [turn for turn in fold(recording.events) if turn["element"] and turn["element"]["tag"] != "select"]
    towns = [turn for turn in fold(recording.events) if turn["element"] and turn["element"]["tag"] == "select"]
    assert [line(turn) for turn in turns] == [said for said in SCRIPTS if "select" not in said]
    assert [line(turn) for turn in towns] == ["change select#town value='Oslo'"]
    assert all(turn["trusted"] is False for turn in (*turns, *towns))
    assert b"gone" not in recording.blob(turns[-1]["state"]["dom"])
    assert b"Ann" not in recording.blob(turns[0]["state"]["dom"])


CONTEXTS = ("first tab", "popup", "frame", "frame of another site", "frame in a frame")


@pytest.fixture(params=["one process", "site isolation"])
def browser_of_sites(request, recording_browser, tmp_path):
    """A browser that has frames of other sites in the process of their page, or each in its own."""
    if request.param == "one process":
        yield recording_browser
        return
    playwright = recording_browser.run(async_playwright().start())
    browser = recording_browser.run(launch(playwright, headless=True, arguments=["--site-per-process"]))
    yield replace(recording_browser, browser=browser, folder=tmp_path)
    recording_browser.run(browser.close())
    recording_browser.run(playwright.stop())


@pytest.mark.parametrize("context_name", CONTEXTS)
def test_what_a_driver_evaluates_over_cdp_is_seen_without_announcement(browser_of_sites, site, context_name):
    """As Selenium's lists and clicks by script; what they set without an event is not."""
    def frame_of(url):
        return f"<iframe src='{url}' width=700 height=400></iframe>"

    site.pages |= {"/form": PAGE, "/popup": "<a href=/form target=_blank>Open</a>", "/frame": frame_of("/form"),
                   "/other": frame_of(f"{site.other_origin}/form"), "/outer": frame_of("/form"),
                   "/nested": frame_of(f"{site.other_origin}/outer")}
    start = dict(zip(CONTEXTS, ("/form", "/popup", "/frame", "/other", "/nested"), strict=True))[context_name]
    seen = [said for said in SCRIPTS if "select" in said or "news" in said or "click" in said]

    async def user_actions(page):
        if context_name == "popup":
            async with page.expect_popup() as opened:
                await page.click("a")
            page = await opened.value
        frame = page.frames[-1]
        await frame.wait_for_selector("#go")
        evaluate = await evaluation_over_cdp(frame, "frame" in context_name)
        for script in SCRIPTS.values():
            await evaluate(script)

    session = browser_of_sites.record(user_actions, url=site.origin + start)
    turns = [turn for turn in session.turns if turn["element"] and turn["element"]["tag"] != "a"]
    assert [line(turn) for turn in turns] == seen
    assert all(turn["trusted"] is False for turn in turns)


async def evaluation_over_cdp(frame, is_inner):
    """A function that evaluates a script in a frame's world of the page over CDP, as Selenium and MCP servers do."""
    session, holder = None, frame
    while session is None:
        try:
            session = await frame.page.context.new_cdp_session(holder)
        except PlaywrightError:  # it has no target of its own
            holder = holder.parent_frame
    worlds = []
    session.on("Runtime.executionContextCreated", lambda event: worlds.append(event["context"]))
    await session.send("Runtime.enable")
    frames = [world for world in worlds if world["auxData"].get("isDefault")]
    shown = [world for world in frames if await has_form(session, world["id"])]
    assert len(shown) == 1 or not is_inner

    async def evaluate(script):
        await session.send("Runtime.evaluate", {"expression": script, "contextId": shown[0]["id"]})
    return evaluate


async def has_form(session, world):
    answer = await session.send("Runtime.evaluate", {"expression": "Boolean(document.querySelector('#go'))",
                                                     "contextId": world})
    return answer["result"]["value"]


def test_a_field_that_a_driver_empties_is_a_turn(recording_browser, site):
    """As Selenium's `clear`: by script, with a `change`."""
    site.pages["/"] = PAGE
    clear = "(() => { const n = document.querySelector('#name'); n.focus(); n.value = '';" \
            "n.dispatchEvent(new Event('change', { bubbles: true })); n.blur() })()"

    async def user_actions(page):
        session = await page.context.new_cdp_session(page)
        await page.type("#name", "Ann")
        await page.click("#go")
        await session.send("Runtime.evaluate", {"expression": clear})
        await page.click("#go")
        await page.type("#name", "Bo")
        await page.click("#go")

    turns = [turn for turn in recording_browser.record(user_actions, url=site.origin).turns if turn["element"]]
    said = [line(turn) for turn in turns if turn["element"]["tag"] == "input"]
    assert said == ["textInput input#name text='Ann'", "textInput input#name text=''", "textInput input#name text='Bo'"]
    assert [turn.get("trusted", True) for turn in turns if turn["intent"] == "textInput"] == [True, False, True]


def test_scripts_that_a_page_inserts_are_no_turns(recording_browser, site, tmp_path):
    """Their functions have no address, as those of a driver."""
    runs = "".join(f"() => {script}," for script in SCRIPTS.values())
    inserted = f"let scripts = [{runs}]; setInterval(() => {{ if (window.wanted) scripts.shift()?.() }}, 20)"
    site.pages["/"] = PAGE.replace("</script>", f"window.add = () => {{ const s = document.createElement('script');"
                                   f"s.textContent = {json.dumps(inserted)}; document.head.append(s) }};"
                                   "addEventListener('load', () => setTimeout(add))</script>")

    async def user_actions(page):
        await page.wait_for_function("document.querySelector('head script')")
        await page.evaluate("window.wanted = true")
        await page.wait_for_function("document.querySelector('#out').textContent === 'gone'")

    session = recording_browser.record(user_actions, url=site.origin)
    assert [line(turn) for turn in session.turns if turn["element"]] == []


def test_scripts_of_the_page_are_no_turns(recording_browser, site, tmp_path):
    runs = "".join(f"() => {script}," for script in SCRIPTS.values())
    site.pages["/"] = PAGE.replace("</script>", f"let scripts = [{runs}];"
                                   "setInterval(() => { if (window.wanted) scripts.shift()?.() }, 20)</script>")

    async def user_actions(page):
        await page.evaluate("window.wanted = true")
        await page.wait_for_function("document.querySelector('#out').textContent === 'gone'")

    session = recording_browser.record(user_actions, url=site.origin)
    assert [line(turn) for turn in session.turns if turn["element"]] == []
