"""A recorded page served again: its button `#go` is pressed, and what it writes into `#out` once it is done."""

from playwright.async_api import async_playwright

from recorder import Recording
from replay.archive.reading import read_recording
from replay.running.offline import open_browser
from replay.serving.server import ReplayServer


async def output_when_served_again(recording: Recording, url: str) -> str:
    """The text of `#out` after the title has become `done`."""
    async with ReplayServer(read_recording(recording)) as server, async_playwright() as playwright:
        browser = await open_browser(playwright, server, headless=True)
        page = await browser.new_page()
        await page.goto(url)
        await page.locator("#go").click()
        await page.wait_for_function("document.title === 'done'")
        shown = await page.locator("#out").inner_text()
        await browser.close()
        return shown
