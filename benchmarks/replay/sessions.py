"""Sessions that the benchmark of replay records: a seeded random driver on MiniWoB pages, scripts in applications."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

from playwright.async_api import Browser, Page, ViewportSize
from playwright.async_api import Error as PlaywrightError

from benchmarks.driving.driver import WITNESS, Driver
from recorder import Recorder

VIEWPORT: ViewportSize = {"width": 1280, "height": 720}
PAGES = (
    "ascending-numbers", "book-flight", "buy-ticket", "choose-date", "choose-list", "click-button",
    "click-button-sequence", "click-checkboxes", "click-checkboxes-large", "click-collapsible", "click-collapsible-2",
    "click-color", "click-dialog", "click-dialog-2", "click-link", "click-menu", "click-option", "click-pie",
    "click-scroll-list", "click-shades", "click-shape", "click-tab", "click-tab-2", "click-test-2", "click-widget",
    "copy-paste", "count-shape", "daily-calendar", "email-inbox", "enter-date", "enter-password", "enter-text",
    "enter-text-dynamic", "enter-time", "find-word", "focus-text-2", "form-sequence", "grid-coordinate",
    "identify-shape", "login-user", "multi-layouts", "navigate-tree", "number-checkboxes", "order-food", "phone-book",
    "read-table", "search-engine", "simple-arithmetic", "social-media", "text-transform", "tic-tac-toe",
    "use-autocomplete", "use-spinner",
)
_PACES = (0.15, 0.3, 0.6, 1.0)  # seconds between actions
_LOOK = 400  # ms that a page is looked at before the first action
Script = Callable[[Page, str], Awaitable[None]]


async def record(browser: Browser, directory: Path, act: Callable[[Page], Awaitable[None]], har: Path | None) -> None:
    """Record a session; `har`: where Playwright records the network, too, for its own replay."""
    context = await browser.new_context(viewport=VIEWPORT, record_har_path=har)
    await context.add_init_script(WITNESS)
    page = await context.new_page()
    async with Recorder(context, directory, task="benchmark", replayable=True):
        await act(page)
        await asyncio.sleep(0.5)
    await context.close()


def on_miniwob(site: str, name: str, chance: random.Random, actions: int) -> Callable[[Page], Awaitable[None]]:
    """A seeded random driver on one page."""
    async def act(page: Page) -> None:
        await page.goto(f"{site}/miniwob/{name}.html")
        await page.wait_for_timeout(_LOOK)
        driver = Driver(page, chance)
        await driver.click(80, 105)  # the cover that begins an episode
        for _ in range(actions):
            await asyncio.sleep(chance.choice(_PACES))
            try:
                await driver.act()
            except PlaywrightError:
                await page.wait_for_load_state()
    return act
