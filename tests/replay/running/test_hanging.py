"""A run of a demonstration in which a page hangs, as in an endless loop, ends and says so."""

import asyncio

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import async_playwright

from recorder.browser import launch, session, tab
from replay.running import acting, running
from tests.conftest import RecordingBrowser
from tests.recorder.browser.test_hanging import PAGE

LONG = 180  # seconds; it takes a sixth of that


@pytest.fixture
def own_browser(recording_browser, tmp_path):
    """A browser for this test alone, as a page that hangs stays in it."""
    playwright = recording_browser.run(async_playwright().start())
    browser = recording_browser.run(launch(playwright, headless=True))
    yield RecordingBrowser(recording_browser.runner, browser, tmp_path)
    recording_browser.run(browser.close())
    recording_browser.run(playwright.stop())


def test_a_run_in_which_a_page_hangs_ends(own_browser, site, tmp_path, monkeypatch):
    site.pages["/"] = PAGE + "<button id=three>three</button>"
    for room, name, seconds in ((tab, "_HANG_TIMEOUT_S", 3.0), (session, "_ANSWERED", 3.0), (acting, "_STUCK", 8.0)):
        monkeypatch.setattr(room, name, seconds)

    async def press(page):
        await page.click("#one")
        with pytest.raises(PlaywrightError):
            await page.click("#two", timeout=1500)

    recorded = own_browser.record(press, url=site.origin, keep={"replayable": True})
    turns = [*recorded.turns, {**recorded.turns[-1], "id": "turn-9"}]
    demonstration = {"task": "Press", "turns": turns}
    result = asyncio.run(asyncio.wait_for(running.run(recorded.recording, demonstration, tmp_path / "run"), LONG))
    assert [(each.intent, each.verdict) for each in result.outcomes] == [
        ("load", "same"), ("click", "same"), ("click", "failed"), ("click", "failed")]
    assert result.outcomes[2].reason == "the page does not answer any more"
