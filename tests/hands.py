"""What a recorded hand leaves behind, whichever way it was recorded."""

from dataclasses import dataclass

from playwright.async_api import Page

from recorder import Recording


@dataclass
class Session:
    """What one recorded hand left behind."""

    recording: Recording
    turns: list[dict]
    problems: list[str]
    console: list[str]
    answer: object = None


async def painted(page: Page) -> None:
    """Wait until what the page shows now is on the screen, as a person would."""
    await page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    await page.wait_for_timeout(60)
