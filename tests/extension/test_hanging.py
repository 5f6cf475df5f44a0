"""A page that hangs, as in an endless loop, answers nothing any more: the recording begins and ends all the same."""

import pytest
from playwright.async_api import Error as PlaywrightError

from tests.recorder.browser.test_hanging import PAGE
from tests.support.samples.sessions import painted


def test_a_recording_of_a_page_that_hangs_ends(chrome, site):
    site.pages["/"] = PAGE

    async def press(page):
        await page.click("#one")
        await painted(page)
        with pytest.raises(PlaywrightError):
            await page.click("#two", timeout=1500)

    session = chrome.record(press, url=site.origin)
    assert [turn["intent"] for turn in session.turns] == ["load", "click", "click"]


def test_a_recording_begins_where_a_page_hangs(chrome, site, tmp_path):
    site.pages |= {"/": PAGE, "/other": "<button id=three onclick=\"textContent = 'done'\">three</button>"}

    async def work():
        page = await chrome.context.new_page()
        await page.goto(site.origin)
        with pytest.raises(PlaywrightError):
            await page.click("#two", timeout=1500)
        started = await chrome.panel.ask("start", task="test", window=await chrome.panel.window_of(page))
        other = await chrome.context.new_page()
        await other.goto(site.origin + "/other")
        await painted(other)
        await other.click("#three")
        await chrome.panel.ask("stop")
        await chrome.panel.package(started["id"], tmp_path / "package.zip")
        for each in (page, other):
            await each.close()

    chrome.runner.run(work())
    session = chrome.read(tmp_path / "package.zip", tmp_path / "recording")
    assert [turn["intent"] for turn in session.turns][-1] == "click"
