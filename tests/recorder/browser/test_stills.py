"""With `stills`, nothing is painted for the recording but what is asked for."""

import asyncio

from playwright.async_api import async_playwright

from recorder import Recorder, Recording
from recorder.browser import launch

PAGE = """<!DOCTYPE html><title>Stills</title><style>
@keyframes turn { to { transform: rotate(360deg) } } i { display: block; animation: turn 1s linear infinite }
</style><button onclick="this.textContent = 'After'">Before</button><i>o</i><input type="password">"""


async def record(origin: str, folder) -> tuple[list[bytes | None], int]:
    async with async_playwright() as playwright:
        browser = await launch(playwright, headless=True)
        context = await browser.new_context(viewport={"width": 640, "height": 360})
        frames = []
        async with Recorder(context, folder, stills=True) as recorder:
            page = await context.new_page()
            await page.goto(origin + "/")
            [tab] = recorder.tabs
            take_in, tab._on_frame = tab._on_frame, lambda *given: (frames.append(given), take_in(*given))
            before = await tab.picture()
            await page.click("button")
            after = await tab.picture()
            await asyncio.sleep(0.5)
        await browser.close()
    return [before, after], len(frames)


def test_only_what_is_asked_for_is_painted(site, tmp_path):
    site.pages["/"] = PAGE
    pictures, frames = asyncio.run(record(site.origin, tmp_path / "recording"))
    assert frames == 2 and pictures[0] != pictures[1]
    [press] = [event for event in Recording(tmp_path / "recording").events if event["type"] == "pointerdown"]
    assert press["state"]["screenshot"]
