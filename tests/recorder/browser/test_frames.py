"""Elements in frames of every kind: their boxes, points and paths of frames, and their documents in the snapshot."""

import asyncio

import pytest

from tests.support.samples.sessions import click_in
from tests.support.waiting import wait_until_async

from .test_state import holds_target, near, row_of

pytestmark = pytest.mark.chromium  # the extension runs the same tests


FRAMES = {
    "same origin": "<iframe src='/inner' style='{style}'></iframe>",
    "cross origin": "<iframe src='{other}/inner' style='{style}'></iframe>",
    "sandboxed": "<iframe sandbox='allow-scripts' src='/inner' style='{style}'></iframe>",
    "sandboxed without scripts": "<iframe sandbox src='/inner' style='{style}'></iframe>",
    "srcdoc": "<iframe srcdoc=\"<div style='height:700px'></div><button id=b>B</button><p style='height:700px'>\" "
              "style='{style}'></iframe>",
    "nested": "<iframe src='/middle' style='{style}'></iframe>",
    "nested cross origin": "<iframe src='{other}/back' style='{style}'></iframe>",
    "nested, only the inner one cross origin": "<iframe src='/away' style='{style}'></iframe>",
    "nested, only the inner one cross origin, the second": "<iframe src='/away'></iframe>"
                                                           "<iframe src='/away' style='{style}'></iframe>",
    "object": "<object data='/inner' style='{style}'>fallback</object>",
    "object cross origin": "<object data='{other}/inner' style='{style}'><b>fallback</b></object>",
    "object nested in an object": "<object data='{other}/back-in-an-object' style='{style}'></object>",
    "embed": "<embed src='/inner' style='{style}'><p>behind</p>",
    "embed cross origin": "<embed src='{other}/inner' style='{style}'>",
    "embed cross origin, the second": "<embed src='{other}/plain'><object data='/plain'></object><iframe src='/plain'>"
                                      "</iframe><embed src='{other}/inner' style='{style}'>",
    "embed cross origin in a shadow root": "<div id=h><template shadowrootmode=open><embed src='{other}/inner' "
                                           "style='{style}'></template></div>",
}
INNER = "<body style='margin:3px'><div style='height:700px'></div><button id=b>B</button><p style='height:700px'></p>"


async def last_frame_with(page, selector):
    """The last frame of a page with such an element, once all frames have loaded."""
    await page.wait_for_load_state("load")
    found = []

    async def is_found():
        found[:] = [frame for frame in page.frames if await frame.locator(selector).count()]
        return bool(found)
    await wait_until_async(is_found, what="the frame")
    return found[-1]


@pytest.mark.parametrize("kind", FRAMES)
def test_frames(recording_browser, site, kind):
    style = "border:7px solid;padding:11px;width:300px;height:200px;margin:20px"
    small = "border:2px solid;width:200px;height:150px"
    site.pages |= {
        "/": f"<div style='height:50px'></div>{FRAMES[kind].format(style=style, other=site.other_origin)}",
        "/inner": INNER, "/middle": f"<p>m</p><iframe src='/inner' style='{small}'></iframe>",
        "/back": f"<p>m</p><iframe src='{site.origin}/inner' style='{small}'></iframe>",
        "/back-in-an-object": f"<p>m</p><object data='{site.origin}/inner' style='{small}'></object>",
        "/plain": "<p>p</p>", "/away": f"<p>m</p><iframe src='{site.other_origin}/inner' style='{small}'></iframe>"}

    async def user_actions(page):
        frame = await last_frame_with(page, "#b")
        await frame.locator("#b").scroll_into_view_if_needed()
        await asyncio.sleep(0.9)  # a person does not act before the page has come to rest
        return await click_in(page, frame, "#b")

    session = recording_browser.record(user_actions, url=site.origin + "/")
    assert session.problems == []
    (turn,) = [turn for turn in session.turns if turn["intent"] == "click"]
    element = turn["element"]
    assert (element["tag"], element["attributes"]["id"]) == ("button", "b")
    assert len(element["frame"]) == (2 if "nested" in kind else 1)
    assert near(element["bbox"], session.answer)
    assert near(row_of(session, turn)["bbox"], session.answer)
    assert holds_target(session, turn)
    x, y = turn["arguments"]["x"], turn["arguments"]["y"]
    assert abs(x - session.answer["x"] - session.answer["width"] / 2) < 1
    assert abs(y - session.answer["y"] - session.answer["height"] / 2) < 1
