"""The size that a session's pages have is told by the recording, also where its first page comes after it began."""

import pytest
from playwright.async_api import async_playwright

from recorder import Recorder, Recording
from recorder.browser import launch
from replay.running.offline import context_options

SIZE = {"width": 1180, "height": 640}


async def session(site, folder, first: str) -> None:
    async with async_playwright() as playwright:
        browser = await launch(playwright, headless=True)
        context = await browser.new_context(viewport=SIZE)
        page = await context.new_page() if first == "before" else None
        async with Recorder(context, folder, "Measure", replayable=True):
            page = page or await context.new_page()
            await page.goto(site.origin + "/")
            await page.locator("button").click()
            async with context.expect_page() as popup:
                await page.evaluate("open('/', '', 'width=300,height=200')")
            await (await popup.value).wait_for_load_state()
            if first == "gone":
                await page.close()
        await browser.close()


@pytest.mark.parametrize("first", ["before", "at once", "gone"])
def test_it_is_that_of_the_first_page(recording_browser, site, tmp_path, first):
    site.pages["/"] = "<!DOCTYPE html><title>x</title><p>Text</p><button>Go</button>"
    recording_browser.run(session(site, tmp_path / "r", first))
    recording = Recording(tmp_path / "r")
    assert recording.manifest["viewport"] == SIZE
    assert context_options(recording, None)["viewport"] == SIZE
