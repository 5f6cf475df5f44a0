"""Tabs that are moved between windows: each picture is of its own tab, and what is not recorded is said."""

import asyncio

import cv2
import numpy as np
import pytest
from playwright.async_api import async_playwright

from pipeline.verify import verify
from tests.support import chrome as browsers
from tests.support.samples.sessions import painted
from tests.support.waiting import wait_until_async

from .test_filmed_pages import BLUE, GREEN, has_colour, page_of, pictures_of

RED = (255, 0, 0)
MASKED = ("<div data-demotape-mask style='position:absolute;top:100px;left:100px;width:300px;height:200px;"
          f"background:rgb{RED}'>998877</div>")


def picture_of(session, turn) -> np.ndarray | None:
    name = turn["state"]["screenshot"]
    return None if name is None else cv2.imdecode(np.frombuffer(session.recording.blob(name), np.uint8), 1)


@pytest.mark.parametrize("streams", [True, False], ids=["stream", "stills"])
def test_pictures_of_a_tab_that_was_torn_off_are_its_own(recording_browser, site, tmp_path, streams):
    site.pages |= {"/": page_of(GREEN, "One") + MASKED, "/two": page_of(BLUE, "Two"), "/three": page_of(BLUE, "Three")}

    async def work():
        async with async_playwright() as playwright:
            context = await browsers.launch(playwright, tmp_path / "profile", streams=streams)
            async with browsers.Panel(context) as panel:
                first = await context.new_page()
                await first.goto(site.origin + "/")
                window = await panel.window_of(first)
                started = await panel.ask("start", task="", window=window)

                async def shows(number):
                    return (await panel.ask("acknowledged"))["seen"] == number

                async with context.expect_page() as opened:
                    await panel.page.evaluate("([windowId, url]) => chrome.tabs.create({windowId, url})",
                                              [window, site.origin + "/two"])
                second = await opened.value
                await second.wait_for_load_state()
                await painted(second)
                await wait_until_async(lambda: shows(2), what="a picture of the second tab")
                await second.locator("#b").click()
                torn = await panel.page.evaluate(
                    "async url => { const [tab] = await chrome.tabs.query({url}); "
                    "return (await chrome.windows.create({tabId: tab.id})).id }", site.origin + "/two")
                for page, number in ((second, 2), (first, 1), (second, 2)):
                    for _ in range(2):
                        await page.locator("#b").click()
                        await wait_until_async(lambda: shows(number), what="a picture")  # noqa: B023
                        await asyncio.sleep(0.7)  # in which a still is taken
                async with context.expect_page() as opened:
                    await panel.page.evaluate("([windowId, url]) => chrome.tabs.create({windowId, url})",
                                              [torn, site.origin + "/three"])
                third = await opened.value
                await third.wait_for_load_state()
                await painted(third)
                await third.locator("#b").click()
                await panel.ask("stop")
                await panel.package(started["id"], tmp_path / "p.zip")
            await context.close()

    recording_browser.run(work())
    session = browsers.Chrome(recording_browser.runner, None, None, tmp_path).read(tmp_path / "p.zip", tmp_path / "rec")
    clicks = [turn for turn in session.turns if turn["intent"] == "click"]
    assert [turn["state"]["tab"] for turn in clicks] == [2, 2, 2, 1, 1, 2, 2, 3]
    for turn in clicks:
        picture = picture_of(session, turn)
        if picture is not None:
            assert has_colour(picture, GREEN if turn["state"]["tab"] == 1 else BLUE), turn["id"]
    assert sum(picture_of(session, turn) is not None for turn in clicks) >= 5
    for picture in pictures_of(session.recording):
        assert (np.abs(picture[:, :, ::-1].astype(int) - RED).max(axis=2) < 60).mean() < 0.01
    assert verify(tmp_path / "rec") == []


def test_of_a_window_with_other_tabs_only_the_moved_tab_is_recorded(recording_browser, site, tmp_path):
    site.pages |= {"/": page_of(GREEN, "One"), "/two": page_of(BLUE, "Two"), "/private": page_of(RED, "Private")}

    async def work():
        async with async_playwright() as playwright:
            context = await browsers.launch(playwright, tmp_path / "profile")
            async with browsers.Panel(context) as panel:
                page = await context.new_page()
                await page.goto(site.origin + "/")
                started = await panel.ask("start", task="", window=await panel.window_of(page))
                async with context.expect_page() as opened:
                    await panel.page.evaluate("url => chrome.windows.create({url})", site.origin + "/private")
                private = await opened.value
                await private.wait_for_load_state()
                await panel.page.evaluate(
                    "async ([url, other]) => { const [tab] = await chrome.tabs.query({url}), "
                    "[to] = await chrome.tabs.query({url: other}); "
                    "await chrome.tabs.move(tab.id, {windowId: to.windowId, index: -1}) }",
                    [site.origin + "/", site.origin + "/private"])
                await private.bring_to_front()
                await private.locator("#b").click()
                await page.bring_to_front()
                await page.locator("#b").click()
                await panel.ask("stop")
                await panel.package(started["id"], tmp_path / "p.zip")
            await context.close()

    recording_browser.run(work())
    session = browsers.Chrome(recording_browser.runner, None, None, tmp_path).read(tmp_path / "p.zip", tmp_path / "rec")
    assert [turn["state"]["tab"] for turn in session.turns if turn["intent"] == "click"] == [1]
    assert "/private" not in (tmp_path / "rec" / "events.jsonl").read_text(encoding="utf-8")
    assert not any(has_colour(picture, RED) for picture in pictures_of(session.recording))
