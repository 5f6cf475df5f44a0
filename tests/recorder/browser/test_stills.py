"""With `stills`, nothing is painted for the recording but what is asked for."""

import asyncio

import cv2
import numpy as np
import pytest
from playwright.async_api import async_playwright

from recorder import Recorder, Recording
from recorder.browser import launch, session, tab

PAGE = """<!DOCTYPE html><title>Stills</title><style>
@keyframes turn { to { transform: rotate(360deg) } } i { display: block; animation: turn 1s linear infinite }
</style><button onclick="this.textContent = 'After'">Before</button><i>o</i><input type="password">"""
SECRET = """<input type=password value=letters id=field style="background: #f00; position: absolute; top: 200px">
<script>
const moved = (button) => { document.getElementById("field").style.top = "280px"; return button };
</script><button"""
RED = (0, 0, 255)


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
            painted = asyncio.Event()
            before = asyncio.ensure_future(tab.picture(painted))
            await painted.wait()
            await page.click("button")
            after = await tab.picture(asyncio.Event())
            await asyncio.sleep(0.5)
        await browser.close()
    return [await before, after], len(frames)


def test_only_what_is_asked_for_is_painted(site, tmp_path):
    site.pages["/"] = PAGE
    pictures, frames = asyncio.run(record(site.origin, tmp_path / "recording"))
    assert frames <= 2 and all(pictures) and pictures[0] != pictures[1]  # the first may be the one of the load
    [press] = [event for event in Recording(tmp_path / "recording").events if event["type"] == "pointerdown"]
    assert press["state"]["screenshot"]


def test_a_page_may_change_as_soon_as_it_is_painted_and_no_secret_is_seen(site, tmp_path):
    """What is pressed moves the secret field: neither where it was nor where it went is seen, of both pictures."""
    site.pages["/"] = PAGE.replace("<button", SECRET).replace("this.textContent", "moved(this).textContent")
    pictures, _ = asyncio.run(record(site.origin, tmp_path / "recording"))
    shown = [cv2.imdecode(np.frombuffer(picture, np.uint8), cv2.IMREAD_COLOR) for picture in pictures]
    assert not any((picture == RED).all(axis=2).any() for picture in shown)
    assert (shown[0] != shown[1]).any()


@pytest.mark.parametrize(("seconds", "there"), [(2, True), ("Infinity", False)], ids=["busy", "hangs"])
def test_a_picture_of_a_busy_page_is_waited_for_and_of_one_that_hangs_there_is_none(
        site, tmp_path, monkeypatch, seconds, there):
    if not there:
        for room, name in ((tab, "_HANG_TIMEOUT_S"), (session, "_ANSWERED"), (tab, "_PAINT_TIMEOUT_S")):
            monkeypatch.setattr(room, name, 3.0)
    site.pages["/"] = "<!DOCTYPE html><title>Busy</title><p>Busy"
    busy = f"setTimeout(() => {{ const end = Date.now() + 1000 * {seconds}; while (Date.now() < end); }})"

    async def work():
        async with async_playwright() as playwright:
            browser = await launch(playwright, headless=True)
            context = await browser.new_context()
            async with Recorder(context, tmp_path / "recording", stills=True) as recorder:
                page = await context.new_page()
                await page.goto(site.origin + "/")
                await page.evaluate(busy)
                painted = asyncio.Event()
                picture = await asyncio.wait_for(recorder.tabs[0].picture(painted), 60)
            await browser.close()
        return picture, painted.is_set()
    picture, may_change = asyncio.run(work())
    assert (picture is not None, may_change) == (there, True)
