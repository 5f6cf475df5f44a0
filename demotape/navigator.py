"""The demo's scripted navigator: books a flight with a real mouse and keyboard, at a person's pace."""

from dataclasses import dataclass

from playwright.async_api import FrameLocator, Locator, Page, expect

from schemas import DemotapeError

PAGE = "/flight/Alaska/wrapper.html"
TASK = "Book a round trip from New York to Las Vegas, March 2 to March 24"
_KEY_DELAY = 45  # ms between keys
_PAUSE_MS = 400  # ms that a person looks before acting
_AIM = 150  # ms from a movement of the hand to the next: people's quickest reactions take about as long


@dataclass(frozen=True)
class Driver:
    """A mouse and a keyboard."""

    page: Page

    async def click(self, target: Locator) -> None:
        """Look, move the pointer to the middle of the target, press and release."""
        await target.wait_for(state="visible")
        await self.page.wait_for_timeout(_PAUSE_MS)
        box = await target.bounding_box()
        if not box:
            raise DemotapeError("the demo's site does not look as expected; a target has no box")
        await self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=12)
        await self.page.wait_for_timeout(_AIM)
        await self.page.mouse.down()
        await self.page.wait_for_timeout(60)
        await self.page.mouse.up()

    async def type(self, text: str) -> None:
        """Press the keys of a text one by one."""
        await self.page.wait_for_timeout(_AIM)
        await self.page.keyboard.type(text, delay=_KEY_DELAY)


async def book_flight(page: Page, site: str) -> None:
    """Book the flight of TASK at `site` (of `serve_airline`); raises DemotapeError when it does not confirm it."""
    driver = Driver(page)
    await page.goto(site + PAGE)
    await driver.click(page.get_by_text("START"))
    form = page.frame_locator("#wrap")
    await _choose_city(driver, form, "#geo-from", "new yo", "New York, NY (All Airports)")
    await _choose_city(driver, form, "#geo-to", "las ve", "Las Vegas, NV (LAS-McCarran Intl.)")
    await _choose_day(driver, form, "#departure-date", 2)
    await _choose_day(driver, form, "#return-date", 24)
    await driver.click(form.get_by_role("button", name="Find Flights"))
    try:
        await expect(page.locator("#reward-reason")).to_have_text("GOOD", timeout=5000)
    except AssertionError:
        raise DemotapeError("the demo's site did not confirm the booking; "
                            f"it says: {await page.locator('#reward-reason').inner_text()!r}") from None
    await page.wait_for_timeout(_PAUSE_MS)


async def _choose_city(driver: Driver, form: FrameLocator, field: str, typed: str, city: str) -> None:
    await driver.click(form.locator(field))
    await driver.type(typed)
    await driver.click(form.locator(f"#input-selections-{field[1:]} li", has_text=city))


async def _choose_day(driver: Driver, form: FrameLocator, field: str, day: int) -> None:
    await driver.click(form.locator(field))
    await driver.click(form.locator("a.cal-day", has_text=str(day)).and_(form.get_by_text(str(day), exact=True)))
    await driver.click(form.get_by_text("Done", exact=True))
