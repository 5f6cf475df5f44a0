"""A page that hangs, as in an endless loop, answers nothing any more: the recording ends all the same, and is whole."""

import asyncio
import warnings

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import async_playwright

from pipeline.turns.folding import fold
from recorder import Recorder, Recording
from recorder.browser import launch, session, tab
from schemas.chromium import find_chromium, sandbox_arguments

PAGE = """<!DOCTYPE html><title>Hangs</title><button id=one onclick="textContent = 'done'">one</button>
<button id=two onclick="for (;;) {}">two</button>"""
LONG = 90  # seconds; it takes a tenth of that


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """A page is soon taken to hang."""
    monkeypatch.setattr(tab, "_HANG_TIMEOUT_S", 3.0)
    monkeypatch.setattr(session, "_ANSWERED", 3.0)


async def press(page, site):
    await page.goto(site.origin)
    await page.click("#one")
    with pytest.raises(PlaywrightError):
        await page.click("#two", timeout=1500)


@pytest.mark.parametrize("connection", ["own", "Playwright's"])
@pytest.mark.parametrize("options", [{}, {"replayable": True, "mhtml": True}], ids=["plain", "with all"])
def test_a_recording_of_a_page_that_hangs_ends(site, tmp_path, connection, options):
    site.pages["/"] = PAGE

    async def work():
        async with async_playwright() as playwright:
            if connection == "own":
                browser = await launch(playwright, headless=True)
            else:
                browser = await playwright.chromium.launch(
                    executable_path=find_chromium(playwright.chromium.executable_path), args=[*sandbox_arguments()])
            context = await browser.new_context()
            recorder = Recorder(context, tmp_path / "recording", **options)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                await recorder.__aenter__()
            await press(await context.new_page(), site)
            async with asyncio.timeout(LONG):
                await recorder.__aexit__(None, None, None)
            await browser.close()
    asyncio.run(work())
    turns = fold(Recording(tmp_path / "recording").events)
    if connection == "own":  # else it is armed after it was loaded, which the recorder warns of
        assert turns.pop(0)["intent"] == "load"
    assert [(turn["intent"], turn["element"]["attributes"]["id"]) for turn in turns] == [
        ("click", "one"), ("click", "two")]
    assert all(turn["state"]["dom"] for turn in turns)


def test_a_tab_that_hangs_already_keeps_none_from_being_recorded(site, tmp_path):
    site.pages |= {"/": PAGE, "/other": "<button id=three onclick=\"textContent = 'done'\">three</button>"}

    async def work():
        async with async_playwright() as playwright:
            browser = await launch(playwright, headless=True)
            context = await browser.new_context()
            await press(await context.new_page(), site)
            async with asyncio.timeout(LONG):
                async with Recorder(context, tmp_path / "recording"):
                    page = await context.new_page()
                    await page.goto(site.origin + "/other")
                    await page.click("#three")
            await browser.close()
    asyncio.run(work())
    turns = fold(Recording(tmp_path / "recording").events)
    assert [turn["intent"] for turn in turns] == ["tabcreate", "load", "tabswitch", "click"]


@pytest.mark.parametrize("arguments", [[], ["--site-per-process"]], ids=["with its page", "in a process of its own"])
def test_a_frame_of_another_site_that_hangs_keeps_nothing_from_being_kept(site, tmp_path, arguments):
    site.pages |= {"/": f"<button id=three>three</button><iframe src='{site.other_origin}/in'></iframe>", "/in": PAGE}

    async def work():
        async with async_playwright() as playwright:
            browser = await launch(playwright, headless=True, arguments=arguments)
            page = await (await browser.new_context()).new_page()
            recorder = Recorder(page.context, tmp_path / "recording")
            await recorder.__aenter__()
            await page.goto(site.origin)
            await page.click("#three")
            with pytest.raises(PlaywrightError):
                await page.frames[1].click("#two", timeout=1500)
            async with asyncio.timeout(LONG):
                await recorder.__aexit__(None, None, None)
            await browser.close()
    asyncio.run(work())
    turns = fold(Recording(tmp_path / "recording").events)
    assert [(turn["intent"], (turn["element"] or {}).get("attributes", {}).get("id")) for turn in turns] == [
        ("load", None), ("click", "three"), ("click", "two")]
