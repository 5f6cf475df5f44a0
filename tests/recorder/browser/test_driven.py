"""What a driver does to a control by script, as Playwright chooses from a list or sets a date, is an action with the
state before it; what a page's own scripts dispatch is none."""

import asyncio
import threading

import pytest
from lxml import html
from playwright.async_api import async_playwright

from pipeline.turns.folding import fold
from recorder import Recorder, Recording
from tests.support.samples.traps import line

# The page hears first, stops all and shows that it did.
CONTROLS = """<!DOCTYPE html><title>Controls</title><script>
for (const type of ['input', 'change', 'focus']) addEventListener(type, event => {
  document.documentElement.className = 'after'; event.stopImmediatePropagation() }, true)
</script>
<select id=one><option selected>red<option>green<option>blue</select>
<select id=many multiple><option>ham<option>egg<option>tea</select>
<input id=day type=date value=2024-05-06><input id=colour type=color value=#112233>
<input id=share type=range min=0 max=10 value=3>"""
# What is done, its turn, and what the control shows in the state before.
ACTIONS = {
    "select": (lambda here: here.locator("#one").select_option("blue"), "change select#one value='blue'", ["red"]),
    "several": (lambda here: here.locator("#many").select_option(["ham", "tea"]),
                "change select#many value='ham' chosen_values=['ham', 'tea']", []),
    "date": (lambda here: here.locator("#day").fill("2026-11-27"), "change input#day value='2026-11-27'", "2024-05-06"),
    "colour": (lambda here: here.locator("#colour").fill("#ff0000"), "change input#colour value='#ff0000'", "#112233"),
    "range": (lambda here: here.locator("#share").fill("7"), "change input#share value='7'", "3"),
}
PLACES = ("new page", "popup", "frame", "connected")


def shown(document: bytes, selector: str):
    """What a control shows in a state: the chosen options, or the value."""
    page = html.fromstring(document)
    frame = page.find(".//iframe")
    control = (page if frame is None else html.fromstring(frame.get("srcdoc"))).get_element_by_id(selector)
    if control.tag != "select":
        return control.get("value")
    return [option.text for option in control.iter("option") if option.get("selected") is not None]


async def to_place(context, site, place):
    page = await context.new_page()
    if place == "popup":
        await page.goto(site.origin + "/home")
        async with context.expect_page() as opened:
            await page.click("a")
        return await opened.value
    await page.goto(site.origin + ("/frame" if place == "frame" else "/"))
    return page.frames[1] if place == "frame" else page


@pytest.fixture
def controls(site):
    site.pages |= {"/": CONTROLS, "/home": "<a href=/ target=_blank>Open</a>",
                   "/frame": f"<iframe src='{site.other_origin}/' width=700 height=400></iframe>"}
    return site


@pytest.mark.parametrize("place", PLACES)
def test_what_a_driver_sets_is_an_action(recording_browser, chromium_address, controls, tmp_path, place):
    async def run():
        async with async_playwright() as playwright:
            browser = await playwright.chromium.connect_over_cdp(chromium_address) if place == "connected" else \
                recording_browser.browser
            context = browser.contexts[0] if place == "connected" else await browser.new_context()
            async with Recorder(context, tmp_path / "rec"):
                for act, *_ in ACTIONS.values():
                    await act(await to_place(context, controls, place))

    recording_browser.run(run())
    recording = Recording(tmp_path / "rec")
    turns = [turn for turn in fold(recording.events) if turn["intent"] == "change"]
    assert [line(turn) for turn in turns] == [told for _, told, _ in ACTIONS.values()]
    for turn, (name, (_, _, before)) in zip(turns, ACTIONS.items(), strict=True):
        document = recording.blob(turn["state"]["dom"])
        assert shown(document, turn["element"]["attributes"]["id"]) == before, name
        if name in ("select", "several"):  # the others are given the focus first, which the page hears
            assert b"after" not in document


def test_in_a_page_that_was_loaded_before(recording_browser, controls, tmp_path):
    async def run():
        context = await recording_browser.browser.new_context()
        page = await context.new_page()
        await page.goto(controls.origin)
        async with Recorder(context, tmp_path / "rec"):
            for act, *_ in ACTIONS.values():
                await act(page)
        await context.close()

    controls.pages["/"] = CONTROLS.partition("</script>")[2]  # one that stops what it hears has heard it first here
    recording_browser.run(run())
    recording = Recording(tmp_path / "rec")
    turns = [turn for turn in fold(recording.events) if turn["intent"] == "change"]
    assert [(line(turn), shown(recording.blob(turn["state"]["dom"]), turn["element"]["attributes"]["id"]))
            for turn in turns] == [(told, before) for _, told, before in ACTIONS.values()]


def test_in_a_frame_whose_page_comes_late(recording_browser, controls, tmp_path):
    """What was copied meanwhile is the empty document in which the frame begins."""
    asked, answer = threading.Event(), threading.Event()

    def late(_):
        asked.set()
        answer.wait(60)
        return CONTROLS

    async def run():
        context = await recording_browser.browser.new_context()
        page = await context.new_page()
        async with Recorder(context, tmp_path / "rec"):
            await page.goto(controls.origin + "/home", wait_until="commit")
            await asyncio.to_thread(asked.wait, 60)
            await page.click("button")  # has the page copied
            answer.set()
            await page.wait_for_load_state()
            for act, *_ in ACTIONS.values():
                await act(page.frames[1])
        await context.close()

    controls.pages |= {"/home": f"<button>Copy</button><iframe src='{controls.other_origin}/late'></iframe>",
                       "/late": late}
    recording_browser.run(run())
    turns = [turn for turn in fold(Recording(tmp_path / "rec").events) if turn["intent"] == "change"]
    assert [line(turn) for turn in turns] == [expected for _, expected, _ in ACTIONS.values()]


SCRIPTED = """<!DOCTYPE html><title>Scripted</title>
<select id=country><option>A<option>B</select><select id=town><option>1<option>2</select>
<div id=host></div><button id=fancy>Pick</button><input id=day type=date><input id=picture type=file>
<script>
const choose = (control, value, init) => {
  control.value = value;
  for (const type of ['input', 'change']) control.dispatchEvent(new Event(type, { bubbles: true, ...init }));
};
country.addEventListener('change', () => { choose(town, '2'); setTimeout(choose, 0, town, '1') });
fancy.addEventListener('click', () => { choose(country, 'B'); Promise.resolve().then(() => choose(town, '1')) });
day.addEventListener('change', async () => { await fetch('/'); choose(town, '2'); document.title = 'Fetched' });
for (const type of ['focus', 'focusin']) day.addEventListener(type, () => choose(town, '1'));
const root = host.attachShadow({ mode: 'open' });
root.innerHTML = '<select id=inner><option>x<option>y</select>';
setTimeout(choose, 30, town, '2');
</script>"""


def test_what_a_page_dispatches_is_none(recording_browser, site, tmp_path):
    site.pages["/"] = SCRIPTED

    async def run():
        context = await recording_browser.browser.new_context()
        page = await context.new_page()
        async with Recorder(context, tmp_path / "rec"):
            await page.goto(site.origin)
            await page.wait_for_function("town.value === '2'")
            await page.click("#fancy")
            await page.locator("#country").select_option("A")
            await page.locator("#inner").select_option("y")
            await page.locator("#day").fill("2026-11-27")
            await page.wait_for_function("document.title === 'Fetched'")
            await page.locator("#picture").set_input_files({"name": "a.png", "mimeType": "image/png", "buffer": b"a"})
        await context.close()

    recording_browser.run(run())
    turns = [line(turn) for turn in fold(Recording(tmp_path / "rec").events)]
    assert turns[-6:] == [
        "load url='/'", "click button#fancy", "change select#country value='A'", "change select#inner value='y'",
        "change input#day value='2026-11-27'", "upload input#picture files=['a.png']"]
