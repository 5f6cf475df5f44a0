"""Presses in the browser's PDF viewer, which has frames of other origins that no list of frames names."""

import pytest

from pipeline.pages.rendering import render
from tests.support.rendered import shown_offline
from tests.support.samples.sessions import painted
from tests.support.waiting import wait_until_async

pytestmark = pytest.mark.chromium  # the headless shell has no PDF viewer

PDF = (b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
       b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<<>>>>endobj\n"
       b"4 0 obj<</Length 27>>stream\n1 0 0 rg 20 20 99 99 re f\n\nendstream endobj\ntrailer<</Size 5/Root 1 0 R>>\n"
       b"%%EOF")
PLACES = {
    "embed": "<embed id=e src='/a.pdf' style='{}'>", "object": "<object id=e data='/a.pdf' style='{}'></object>",
    "iframe": "<iframe id=e src='/a.pdf' style='{}'></iframe>", "page": "",
}
SHOWN = "() => Boolean(document.querySelector('embed[type=\"application/x-google-chrome-pdf\"]'))"
PLUGIN = "() => { const b = document.querySelector('pdf-viewer').shadowRoot.querySelector('#plugin')" \
         ".getBoundingClientRect(); return [b.x, b.y, b.width, b.height] }"


async def viewer_of(page):
    """The frames of the PDF viewer, once it shows the document: its own, and the one that takes the presses."""
    found = []

    async def is_shown():
        for frame in page.frames:
            if frame.parent_frame and frame.parent_frame.url.startswith("chrome-extension:"):
                found[:] = [frame.parent_frame, frame]
        return bool(found) and await found[1].evaluate(SHOWN)
    await wait_until_async(is_shown, what="the PDF viewer")
    for frame in (*found, page):
        await painted(frame)
    return found


@pytest.mark.parametrize("place", PLACES)
def test_a_press_has_its_place_in_the_page(recording_browser, site, place):
    site.pages["/a.pdf"] = ("application/pdf", PDF)
    style = "width:400px;height:300px;margin:30px;border:5px solid;padding:3px"
    site.pages["/"] = f"<body style='margin:0'>{PLACES[place].format(style)}"

    async def user_actions(page):
        viewer, _ = await viewer_of(page)
        left, top, *size = await viewer.evaluate(PLUGIN)
        outer = (0, 0) if place == "page" else (38, 38)
        box = [left + outer[0], top + outer[1], *size]
        await page.mouse.click(box[0] + 70, box[1] + 60)
        return box

    session = recording_browser.record(user_actions, url=site.origin + ("/a.pdf" if place == "page" else "/"))
    assert session.problems == []
    (turn,) = [turn for turn in session.turns if turn["intent"] == "click"]
    left, top, width, height = session.answer
    assert (turn["arguments"]["x"], turn["arguments"]["y"]) == pytest.approx((left + 70, top + 60), abs=1)
    assert list(turn["element"]["bbox"].values()) == pytest.approx([left, top, width, height], abs=1)
    assert turn["element"]["tag"] == "embed" and len(turn["element"]["frame"]) == (2 if place == "page" else 3)
    if place in ("embed", "object"):
        assert recording_browser.run(painted_background(recording_browser, session, turn)).startswith("url(")


async def painted_background(recording_browser, session, turn) -> str:
    """The background of the element with the PDF in the rendered page: a part of the screenshot."""
    async with shown_offline(recording_browser.browser, render(session.recording, turn["state"])) as page:
        return await page.evaluate("getComputedStyle(document.querySelector('#e')).backgroundImage")
