"""Real sessions to be aligned: a seeded random driver on third-party pages, recorded in a real Chromium."""

import asyncio
import random
from pathlib import Path

from playwright.async_api import Browser, async_playwright

from benchmarks.fidelity import docs_folder
from demotape.site import miniwob_folder, serve
from recorder import Recorder
from recorder.browser import launch

from .driver import WITNESS, Driver

_VIEWPORTS = ((1280, 720), (1280, 640), (1024, 640), (1440, 800))
_FORMS = ("flight/Alaska/wrapper.html", "flight/AA/wrapper.html", "miniwob/email-inbox.html",
          "miniwob/social-media-all.html", "miniwob/search-engine.html", "miniwob/book-flight.html",
          "miniwob/order-food.html", "miniwob/click-checkboxes-large.html", "miniwob/login-user-popup.html")
_DOCS = ("library/functions.html", "tutorial/index.html", "library/json.html", "library/stdtypes.html", "index.html")
_PER_PAGE = 8  # actions on one page before the driver goes to the next


async def record_sessions(folder: Path, count: int, actions: int, seed: int) -> list[Path]:
    """Record `count` sessions of about `actions` actions each, two at a time; returns their folders."""
    async with async_playwright() as playwright:
        browser = await launch(playwright, headless=True)
        gate = asyncio.Semaphore(2)

        async def one(number: int) -> Path:
            chance = random.Random(seed * 1000 + number)
            async with gate:
                return await _record(browser, folder / f"session-{number}", actions, chance)

        try:
            return await asyncio.gather(*(one(number) for number in range(count)))
        finally:
            await browser.close()


async def _record(browser: Browser, directory: Path, actions: int, chance: random.Random) -> Path:
    width, height = chance.choice(_VIEWPORTS)
    context = await browser.new_context(viewport={"width": width, "height": height})
    await context.add_init_script(WITNESS)
    page = await context.new_page()
    docs = docs_folder()
    with serve(miniwob_folder()) as site, serve(docs or miniwob_folder()) as manual:
        pages = [f"{site}/{name}" for name in _FORMS] + [f"{manual}/{name}" for name in _DOCS if docs]
        chance.shuffle(pages)
        async with Recorder(context, directory, task="benchmark"):
            driver, done = Driver(page, chance), 0
            while done < actions:
                await page.goto(pages[done // _PER_PAGE % len(pages)])
                if "/miniwob/" in page.url:  # made for a screen of 160 x 210
                    await page.evaluate("document.documentElement.style.zoom = 2.5")
                await page.wait_for_timeout(400)
                cover = page.get_by_text("START", exact=True)
                if await cover.count() and await cover.first.is_visible():
                    await cover.first.click()
                for _ in range(_PER_PAGE):
                    done += 1
                    if chance.random() < 0.2:
                        await driver.wheel(chance.choice((-300, 250, 400, 700)))
                    elif not await driver.act():
                        break
                    await asyncio.sleep(chance.choice((0.15, 0.3, 0.6, 1.2, 2.0)) * chance.uniform(0.8, 1.2))
            await asyncio.sleep(0.5)
    await context.close()
    return directory
