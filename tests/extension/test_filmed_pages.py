"""Only pages that the extension may read are filmed: no picture and no frame of the video shows any other page."""

import asyncio
from functools import partial

import av
import cv2
import numpy as np
import pytest
from playwright.async_api import async_playwright

from pipeline.verify import verify
from tests.support import chrome as browsers
from tests.support.samples.sessions import painted
from tests.support.waiting import wait_until_async

from .test_panel import COUNT_STILLS

GREEN, BLUE = (0, 170, 0), (0, 0, 200)
MIN_OTHER_PIXELS = 0.5  # share of a picture that is neither page's colour, from which it shows another page
PDF = (b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
       b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF")
UNREADABLE = {
    "chrome": "chrome://version", "settings": "chrome://settings/autofill", "source": "view-source:{site}/two",
    "extension": "chrome-extension://{id}/panel/panel.html", "pdf": "{site}/file.pdf", "blank": "about:blank",
    "data": "data:text/html,<body>secret",
}


def page_of(colour: tuple[int, int, int], name: str) -> str:
    return (f"<!DOCTYPE html><title>{name}</title><body style='margin:0;background:rgb{colour};height:100vh'>"
            f"<button id=b style='position:absolute;top:20px;left:20px;background:rgb{colour};border:0;width:90px;"
            f"height:30px'></button>")


def pictures_of(recording) -> list[np.ndarray]:
    """Every screenshot, and every frame of the video, if there is any."""
    found = [cv2.imdecode(np.frombuffer(recording.blob(event["state"]["screenshot"]), np.uint8), 1)
             for event in recording.events if event["state"] and event["state"]["screenshot"]]
    if recording.layout.video.exists():
        with av.open(str(recording.layout.video)) as video:
            found += [frame.to_ndarray(format="bgr24") for frame in video.decode(video=0)]
    return found


def shows_other(picture: np.ndarray) -> bool:
    """Whether most of a picture is of another page than the green and the blue one."""
    distances = [np.abs(picture[:, :, ::-1].astype(int) - colour).max(axis=2) for colour in (GREEN, BLUE)]
    return bool((np.minimum(*distances) > 60).mean() > MIN_OTHER_PIXELS)


def has_colour(picture: np.ndarray, colour: tuple[int, int, int]) -> bool:
    return bool((np.abs(picture[:, :, ::-1].astype(int) - colour).max(axis=2) <= 60).mean() > MIN_OTHER_PIXELS)


@pytest.mark.parametrize("kind", UNREADABLE)
@pytest.mark.parametrize("streams", [True, False], ids=["stream", "stills"])
def test_no_picture_shows_a_page_that_the_extension_may_not_read(recording_browser, site, tmp_path, kind, streams):
    site.pages |= {"/": page_of(GREEN, "One"), "/two": page_of(BLUE, "Two"), "/file.pdf": ("application/pdf", PDF)}
    url = UNREADABLE[kind].format(site=site.origin, id=browsers.extension_id())

    async def work():
        async with async_playwright() as playwright:
            context = await browsers.launch(playwright, tmp_path / "profile", streams=streams)
            async with browsers.Panel(context) as panel:
                page = await context.new_page()
                worker = await browsers.service_worker(context)
                await worker.evaluate(COUNT_STILLS)
                await page.goto(site.origin + "/")
                started = await panel.ask("start", task="", window=await panel.window_of(page))

                async def has_picture():
                    return (await panel.ask("acknowledged"))["seen"]

                await wait_until_async(has_picture, what="a picture of the first page")
                await page.locator("#b").click()
                await page.goto(url)
                for _ in range(6):
                    await page.mouse.click(300, 300)
                    await asyncio.sleep(0.25)  # in which frames and stills of it may be taken
                await page.goto(site.origin + "/two")
                await page.bring_to_front()  # the settings open another tab where they are pressed
                await painted(page)
                await asyncio.sleep(0.4)  # in which a frame comes
                for _ in range(4):
                    enough = 0 if streams else await worker.evaluate("stills") + 2  # one may be on its way
                    await wait_until_async(partial(worker.evaluate, f"stills >= {enough}"), what="stills")
                    await page.locator("#b").click()
                    await asyncio.sleep(0.4)  # in which a frame comes
                await panel.ask("stop")
                await panel.package(started["id"], tmp_path / "p.zip")
            await context.close()

    recording_browser.run(work())
    session = browsers.Chrome(recording_browser.runner, None, None, tmp_path).read(tmp_path / "p.zip", tmp_path / "rec")
    pictures = pictures_of(session.recording)
    assert [number for number, picture in enumerate(pictures) if shows_other(picture)] == []
    assert any(has_colour(picture, GREEN) for picture in pictures)
    assert any(has_colour(picture, BLUE) for picture in pictures)
    clicks = [turn for turn in session.turns if turn["intent"] == "click"
              and turn["element"]["attributes"].get("id") == "b"]  # a viewer reports clicks, too
    assert len(clicks) == 5 and all(turn["state"]["screenshot"] for turn in clicks)
    assert verify(tmp_path / "rec") == []
