"""No exported picture shows personal data: looked up by the pixels of the address, as the browser paints it."""

import asyncio

import cv2
import numpy as np
import pytest

from pipeline import process
from pipeline.export import Source, export
from recorder import Recorder, Recording
from tests.support.samples.sessions import painted

SIZE = {"width": 800, "height": 600}
ADDRESS = "ann.lee@shop.example"
LIKE = 0.75  # correlation from which on an address is readable; blurred it has no letters
MAIL = f"<b id=mail style='font:20px monospace;background:white;color:black'>{ADDRESS}</b>"
BUTTON = "<button id=go style='width:140px;height:40px'>Go</button>"
TO_TOP, IN = "window.scrollTo({ top: 0, behavior: 'instant' })", "document.querySelector('#in')"
FAR = "<div style='height:1600px'></div>"


def page(body, style=""):
    return f"<!DOCTYPE html><title>Account</title><style>body {{ margin: 20px }} {style}</style><body>{body}"


PAGES = {
    "far": page(f"<p>{MAIL}</p>{FAR}{BUTTON}<div style='height:400px'></div>"),
    "smooth": page(f"<p>{MAIL}</p>{FAR}{BUTTON}<div style='height:400px'></div>", "html { scroll-behavior: smooth }"),
    "inner": page(f"<div id=in style='height:400px;overflow:auto'><p>{MAIL}</p>{FAR}{BUTTON}</div>"),
    "smooth inner": page("<div id=in style='height:400px;overflow:auto;scroll-behavior:smooth'>"
                         f"<p>{MAIL}</p>{FAR}{BUTTON}</div>"),
    "pushed": page(f"{BUTTON}<p id=push></p><p>{MAIL}</p>{FAR}<script>addEventListener('mousemove', () => {{"
                   "push.style.height = (parseInt(push.style.height || 0) + 90) % 360 + 'px' })</script>"),
    "slides": page(f"{BUTTON}<p id=slides style='transition:transform 1s'>{MAIL}</p>{FAR}<script>"
                   "addEventListener('mousemove', () => { slides.style.transform = 'translateY(300px)' })</script>"),
    "zoomed": page(f"<p>{MAIL}</p>{FAR}{BUTTON}<div style='height:400px'></div>", "body { zoom: 1.5 }"),
    "dense": page(f"<p>{MAIL}</p>{FAR}{BUTTON}<div style='height:400px'></div>"),
}


async def _act(tab):
    """Scroll and press at once; then by the wheel; then calmly."""
    for pause in (0, 0.05, 0.3):
        await tab.evaluate(f"{TO_TOP}; {IN}?.scrollTo(0, 0)")
        await asyncio.sleep(pause)
        await tab.click("#go")
    await tab.evaluate(TO_TOP)
    await tab.mouse.move(300, 300)
    for distance in (200, 400, -300):
        await tab.mouse.wheel(0, distance)
        await tab.mouse.click(300, 300)
    await tab.evaluate(f"{TO_TOP}; {TO_TOP.replace('window', IN + '?')}")
    for rest in (0.6, 0.6, 1.5):  # on a busy machine the first pictures may be late
        await asyncio.sleep(rest)
        await painted(tab)
        await tab.mouse.click(500, 350)


def _record(recording_browser, site, directory, name):
    """Record what `_act` does; returns the address as the browser paints it, for a picture of one pixel a CSS pixel."""
    site.pages["/"] = PAGES[name]
    density = 2 if name == "dense" else 1

    async def work():
        context = await recording_browser.browser.new_context(viewport=SIZE, device_scale_factor=density)
        async with Recorder(context, directory) as recorder:
            tab = await context.new_page()
            await tab.goto(site.origin + "/")
            await painted(tab)
            mail = await tab.locator("#mail").screenshot(scale="device")
            await _act(tab)
        await context.close()
        assert not recorder.problems
        return _scaled(cv2.imdecode(np.frombuffer(mail, np.uint8), cv2.IMREAD_GRAYSCALE), 1 / density)

    return recording_browser.run(work())


def _scaled(pixels, by):
    return pixels if by == 1 else cv2.resize(pixels, None, fx=by, fy=by, interpolation=cv2.INTER_AREA)


def likeness(picture, mail) -> float:
    """How like the address the likest part of a picture is, 1 at most."""
    pixels = cv2.imdecode(np.frombuffer(picture, np.uint8), cv2.IMREAD_GRAYSCALE)
    scale = pixels.shape[1] / SIZE["width"]
    return float(cv2.matchTemplate(pixels, _scaled(mail, scale)[:, 4:-4], cv2.TM_CCOEFF_NORMED).max())


@pytest.mark.parametrize("name", PAGES)
def test_no_picture_shows_an_address(recording_browser, site, tmp_path, name):
    mail = _record(recording_browser, site, tmp_path / "rec", name)
    recording = Recording(tmp_path / "rec")
    demonstration = process(tmp_path / "rec")
    states = [turn["state"] for turn in demonstration["turns"] if turn["type"] == "browser" and turn["state"]]
    recorded = {state["screenshot"] for state in states if state["screenshot"]}
    assert any(likeness(recording.blob(blob), mail) > LIKE for blob in recorded)  # it would be seen
    export([Source(demonstration, recording)], tmp_path / "out", "weblinx", set_of_marks=True)
    pictures = list((tmp_path / "out").rglob("*.png"))
    seen = {path.name: round(likeness(path.read_bytes(), mail), 2) for path in pictures}
    assert not {name: like for name, like in seen.items() if like > LIKE}
    agreeing = {state["screenshot"] for state in states if state.get("screenshot_agrees")}
    assert agreeing and pictures  # what is known to agree goes out
    for state in states:
        state.pop("screenshot_agrees", None)
    without = export([Source(demonstration, recording)], tmp_path / "without", "weblinx")
    assert without.pictures_left_out and not list((tmp_path / "without").rglob("*.png"))
