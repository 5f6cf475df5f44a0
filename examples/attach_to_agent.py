"""Record an agent that drives Playwright: `python examples/attach_to_agent.py URL FOLDER`.

The agent here only fills in the first text field and presses the first button; put your own in its place. Then
`demotape process FOLDER` makes a demonstration of what it did.
"""

import asyncio
import sys
from pathlib import Path

from playwright.async_api import BrowserContext, async_playwright

from recorder import Recorder
from recorder.browser import launch

TASK = "Search for a table for two"


async def agent(context: BrowserContext, url: str) -> None:
    """What you want to have recorded; it knows nothing of the recorder."""
    page = await context.new_page()
    await page.goto(url)
    field = page.get_by_role("textbox").first
    await field.click()
    await field.press_sequentially("table for two")
    await page.get_by_role("button").first.click()
    await page.wait_for_load_state()


async def main(url: str, directory: Path) -> None:
    """Start a browser, and record what the agent does in it."""
    async with async_playwright() as playwright:
        browser = await launch(playwright, headless=True)  # or your own, with --remote-debugging-port
        context = await browser.new_context()
        async with Recorder(context, directory, task=TASK) as recorder:
            await agent(context, url)
        await browser.close()
    for problem in recorder.problems:
        print(problem, file=sys.stderr)
    print(f"{directory}: recorded")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
