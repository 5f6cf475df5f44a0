"""What a driver's scripts do in the page's own world is an action if the driver announces it."""

import json

import pytest

from pipeline.turns.folding import fold
from recorder import Recorder, Recording
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
    assert "change select#town value='Oslo'" in map(line, towns)
    assert all(turn["trusted"] is False for turn in (*turns, *towns))
    assert b"gone" not in recording.blob(turns[-1]["state"]["dom"])
    assert b"Ann" not in recording.blob(turns[0]["state"]["dom"])


def test_what_a_driver_evaluates_over_cdp_is_seen_without_announcement(recording_browser, site, tmp_path):
    """As Selenium's lists and clicks by script; what they set without an event is not."""
    site.pages["/"] = PAGE
    seen = [said for said in SCRIPTS if "select" in said or "news" in said or "click" in said]

    async def user_actions(page):
        session = await page.context.new_cdp_session(page)
        for script in SCRIPTS.values():
            await session.send("Runtime.evaluate", {"expression": script})

    session = recording_browser.record(user_actions, url=site.origin)
    turns = [turn for turn in session.turns if turn["element"]]
    assert [line(turn) for turn in turns] == seen
    assert all(turn["trusted"] is False for turn in turns)


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
