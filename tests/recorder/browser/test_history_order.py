"""Steps through the history by a driver that acts in the page at once: they have their place among its actions."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

import pytest
from playwright.async_api import CDPSession, Page, async_playwright
from playwright.async_api import Error as PlaywrightError

from pipeline.turns.folding import fold
from recorder import Recorder, Recording
from recorder.building.builder import RecordingBuilder
from recorder.devtools import endpoint
from schemas.chromium import find_chromium, sandbox_arguments
from tests.support.waiting import wait_until_async

pytestmark = [pytest.mark.chromium,  # the headless shell keeps no pages for the way back
              pytest.mark.filterwarnings("ignore:the recorder reaches the browser only through Playwright")]

FROM_CACHE = "<script>onpageshow = event => document.title += ' ' + event.persisted</script><button>Press</button>"
PAGES = {f"/{name}": f"<title>{name}</title>{FROM_CACHE}" for name in ("one", "two", "three")}
LATE_S = 2  # by which the recorder is later than the driver's actions, where it is


@pytest.fixture(scope="module")
def browser_with_cache(recording_browser):
    """A browser as people have it: pages that are left are kept for the way back. Beside it, one without."""
    async def start():
        playwright = await async_playwright().start()
        return playwright, await playwright.chromium.launch(
            executable_path=find_chromium(playwright.chromium.executable_path), headless=True,
            args=["--remote-debugging-port=0", *sandbox_arguments()],
            ignore_default_args=["--disable-back-forward-cache"], chromium_sandbox=not sandbox_arguments())

    async def stop(playwright, browser):
        await browser.close()
        await playwright.stop()

    playwright, browser = recording_browser.run(start())
    yield browser
    recording_browser.run(stop(playwright, browser))


@pytest.fixture
def record(recording_browser, browser_with_cache, tmp_path):
    """Records what is done in the first page of a new context; returns the intents of the turns."""
    def record(actions: Callable[[Page], Awaitable], *, cache: bool = True) -> list[str]:
        async def work():
            browser = browser_with_cache if cache else recording_browser.browser
            context = await browser.new_context()
            page = await context.new_page()
            async with Recorder(context, tmp_path / "rec"):
                await actions(page)
            await context.close()

        recording_browser.run(work())
        return [turn["intent"] for turn in fold(Recording(tmp_path / "rec").events)]

    return record


class Driver:
    """A driver that does the next thing as soon as the browser reports that the page is shown."""

    def __init__(self, page: Page, session: CDPSession, target: str, history: dict):
        self.page = page
        self.session = session
        self._target = target
        self._history = history
        self._shown: asyncio.Future = asyncio.get_running_loop().create_future()
        for event in ("Page.frameNavigated", "Page.navigatedWithinDocument"):
            session.on(event, lambda _: self._shown.done() or self._shown.set_result(None))

    @classmethod
    async def of(cls, page: Page) -> "Driver":
        session = await page.context.new_cdp_session(page)
        await session.send("Page.enable")
        target = (await session.send("Target.getTargetInfo"))["targetInfo"]["targetId"]
        return cls(page, session, target, await session.send("Page.getNavigationHistory"))

    async def begin(self, steps: int) -> None:
        """Ask the browser for another entry of the history, or for the page again."""
        self._history["currentIndex"] += steps
        self._shown = asyncio.get_running_loop().create_future()
        if steps:
            entry = self._history["entries"][self._history["currentIndex"]]
            await self.session.send("Page.navigateToHistoryEntry", {"entryId": entry["id"]})
        else:
            await self.session.send("Page.reload")

    async def go(self, steps: int) -> None:
        """Go to another entry of the history, until its page is shown."""
        await self.begin(steps)
        await self._shown

    async def close(self) -> None:
        """Close the tab. Chromium may ignore that while the tab navigates."""
        browser = await self.page.context.browser.new_browser_cdp_session()

        async def is_closed() -> bool:
            with suppress(PlaywrightError):  # it is closed meanwhile
                await browser.send("Target.closeTarget", {"targetId": self._target})
            targets = (await browser.send("Target.getTargets"))["targetInfos"]
            return self._target not in [info["targetId"] for info in targets]

        await wait_until_async(is_closed)

    async def press(self) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            await self.session.send("Input.dispatchMouseEvent", {
                "type": kind, "x": 30, "y": 20, "button": "left", "clickCount": 1})


@pytest.fixture(params=["own connection", "connection of Playwright"])
def connection(request, monkeypatch):
    """How the recorder reaches the browser."""
    if request.param != "own connection":
        async def no_connection(*_):
            return None
        monkeypatch.setattr(endpoint, "connect", no_connection)
    return request.param


@pytest.fixture(params=[0, LATE_S], ids=["in time", "late"])
def lateness(request, monkeypatch):
    """The recorder hears of everything later than it happened, as on a busy machine."""
    monkeypatch.setattr(RecordingBuilder, "now", property(lambda self: self._clock.now + request.param))


@pytest.mark.parametrize("origin", ["origin", "other_origin"], ids=["one site", "two sites"])
def test_a_step_to_a_page_from_the_cache_comes_before_what_is_pressed_in_it(record, site, lateness, connection, origin):
    site.pages |= PAGES

    async def actions(page):
        await page.goto(site.origin + "/one")
        await page.goto(getattr(site, origin) + "/two")
        driver = await Driver.of(page)
        for steps, title in ((-1, "one false true"), (1, "two false true"), (-1, "one false true true")):
            await driver.go(steps)
            await driver.press()
            assert await page.title() == title, "not from the cache"

    assert record(actions) == ["load", "load", "back", "click", "forward", "click", "back", "click"]


def test_a_step_within_a_document_comes_before_what_is_pressed_after_it(record, site, lateness, connection):
    site.pages |= PAGES

    async def actions(page):
        await page.goto(site.origin + "/one")
        await page.evaluate("history.pushState({}, '', '/one?more'); history.pushState({}, '', '/one')")
        driver = await Driver.of(page)
        for steps in (-1, -1, 1, 1):
            await driver.go(steps)
            await driver.press()

    assert record(actions) == ["load", *["back", "click"] * 2, *["forward", "click"] * 2]


def test_a_step_to_a_page_that_loads_again_comes_before_what_is_pressed_in_it(record, site, lateness):
    site.pages |= PAGES

    async def actions(page):
        await page.goto(site.origin + "/one")
        await page.goto(site.origin + "/two")
        driver = await Driver.of(page)
        for step in (partial(driver.go, -1), partial(driver.go, 1), page.reload):
            await step()
            await page.wait_for_load_state()
            await driver.press()

    assert record(actions, cache=False) == ["load", "load", "back", "click", "forward", "click", "reload", "click"]


@pytest.mark.parametrize("steps, intent", [(-1, "back"), (1, "forward"), (0, "reload")])
@pytest.mark.parametrize("kind", ["cached", "loading", "within a document"])
def test_a_step_right_before_its_tab_is_closed_is_kept(record, site, connection, kind, steps, intent):
    """A page that is loading never comes. Of pages with an opener, none is kept for the way back."""
    site.pages |= PAGES
    released = threading.Event()

    async def open_popup(page) -> Page:
        async with page.context.expect_page() as opened:
            await page.evaluate("([url, features]) => void open(url, '_blank', features)",
                                [site.origin + "/one", "noopener" if kind == "cached" else ""])
        popup = await opened.value
        await popup.wait_for_load_state()
        if kind == "within a document":
            await popup.evaluate("history.pushState({}, '', '/two'); history.pushState({}, '', '/three')")
        else:
            for path in ("/two", "/three"):
                await popup.goto(site.origin + path)
        return popup

    async def actions(page):
        await page.goto(site.origin + "/two")
        popup = await open_popup(page)
        driver = await Driver.of(popup)
        await driver.go(-1)
        await popup.wait_for_url("**/two", wait_until="commit")
        if kind == "cached":
            assert await popup.title() == "two false true"
        if kind == "loading":
            await driver.session.send("Network.enable")
            await driver.session.send("Network.setCacheDisabled", {"cacheDisabled": True})
            site.pages |= dict.fromkeys(PAGES, lambda _: released.wait() and "")
        await driver.begin(steps)
        await driver.close()

    try:
        intents = record(actions, cache=kind != "loading")
    finally:
        released.set()
    assert intents[-2:] == [intent, "tabremove"], intents


@pytest.mark.parametrize("kind", ["cached", "loading", "within a document"])
def test_the_direction_is_right_though_both_ways_lead_to_one_address(record, site, connection, kind):
    site.pages |= PAGES
    way = [1, -1, -1, 1, 1, -1, 1, -1, -1]

    async def actions(page):
        await page.goto(site.origin + "/one")
        if kind == "within a document":
            await page.evaluate("history.pushState({}, '', '/two'); history.pushState({}, '', '/one')")
        else:
            for path in ("/two", "/one"):
                await page.goto(site.origin + path)
        driver = await Driver.of(page)
        for steps in (-1, *way):
            await driver.go(steps)
            if kind == "loading":  # a page that is left before its first instruction reports nothing
                await page.wait_for_load_state("domcontentloaded")

    intents = record(actions, cache=kind != "loading")
    assert [{"back": -1, "forward": 1}[name] for name in intents if name != "load"] == [-1, *way]
