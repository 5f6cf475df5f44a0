"""A run of a demonstration in which a page hangs, as in an endless loop, ends and says so."""

import asyncio

import pytest
from playwright.async_api import Error as PlaywrightError

from recorder.browser import tab
from replay import acting, running
from tests.recorder.browser.test_hanging import PAGE


def test_a_run_in_which_a_page_hangs_ends(recording_browser, site, tmp_path, monkeypatch):
    site.pages["/"] = PAGE + "<button id=three>three</button>"

    async def press(page):
        await page.click("#one")
        with pytest.raises(PlaywrightError):
            await page.click("#two", timeout=1500)

    session = recording_browser.record(press, url=site.origin, keep={"replayable": True})
    monkeypatch.setattr(acting, "_STUCK", 8.0)
    monkeypatch.setattr(tab, "_SILENT", 3.0)
    turns = [*session.turns, {**session.turns[-1], "id": "turn-9"}]
    demonstration = {"task": "Press", "turns": turns}
    result = asyncio.run(asyncio.wait_for(running.run(session.recording, demonstration, tmp_path / "run"), 60))
    assert [(each.intent, each.verdict) for each in result.outcomes] == [
        ("load", "same"), ("click", "same"), ("click", "failed"), ("click", "failed")]
    assert result.outcomes[2].reason == "the page does not answer any more"
