"""Presses whose point is outside the box of their target: the target says why."""

import pytest

from tests.support.samples.sessions import painted, reached

STYLE = "<!DOCTYPE html><style>body{margin:20px;font:16px sans-serif}</style>"
CASES = {
    "backdrop": "<dialog id=t closedby=any style='margin:0'>Text</dialog><script>t.showModal()</script>",
    "pseudo-element": "<style>#t{width:100px;height:40px;position:relative}#t::before{content:'x';position:absolute;"
                      "left:300px;top:200px;width:60px;height:60px}</style><div id=t>Text</div>",
    "moved": "<style>#t{position:absolute;left:300px;top:200px;width:120px;height:120px}#t:active{translate:0 300px}"
             "</style><button id=t>Text</button>",
    "page": "<style>html{width:200px;height:100px}</style><p>Text",
    "other": "<div id=t style='width:40px;height:20px;white-space:pre'>" + ("Text that is long " * 6 + "<br>") * 14,
}
POINT = 330, 230
PLACES = ("page", "popup", "frame")


async def shown_in(page, place, site):
    """The page that shows the case in one of the places, and how far its document is from the viewport's corner."""
    if place == "popup":
        async with page.context.expect_page() as opened:
            await page.click("#link")
        page = await opened.value
        await page.wait_for_url("**/case")
    elif place == "frame":
        await page.goto(site.origin + "/frame")
        await reached(page, page.frames[1])
    else:
        await page.goto(site.origin + "/case")
    await painted(page)
    return page, (20 if place == "frame" else 0)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("reason", CASES)
def test_the_target_says_why(recording_browser, site, reason, place):
    site.pages |= {"/": "<a id=link href=/case target=_blank>Open</a>", "/case": STYLE + CASES[reason],
                   "/frame": f"<body style='margin:20px'><iframe src='{site.other_origin}/case' width=700 height=500 "
                             "style='border:0'></iframe>"}

    async def user_actions(page):
        page, offset = await shown_in(page, place, site)
        await page.mouse.click(POINT[0] + offset, POINT[1] + offset)
        return offset

    session = recording_browser.record(user_actions, url=site.origin + "/")
    assert session.problems == []
    turn = [turn for turn in session.turns if turn["intent"] == "click"][-1]
    x, y, box = turn["arguments"]["x"], turn["arguments"]["y"], turn["element"]["bbox"]
    assert (x, y) == (POINT[0] + session.answer, POINT[1] + session.answer)
    assert turn["element"]["point_outside"] == reason
    assert not (box["x"] <= x <= box["x"] + box["width"] and box["y"] <= y <= box["y"] + box["height"])


def test_a_point_inside_needs_no_reason(recording_browser, site):
    """Also in one of several boxes of an inline element, and on a label, whose field gets a click of its own."""
    site.pages["/"] = STYLE + """<p style='width:200px'>Read <a id=a href='#x'>a link that is broken into several
        lines by the width of its paragraph</a></p><label id=l>Label <input type=checkbox></label>"""

    async def user_actions(page):
        x, y = await page.evaluate("() => { const r = [...a.getClientRects()].at(-1); return [r.x + 5, r.y + 5] }")
        await page.mouse.click(x, y)
        await page.click("#l", position={"x": 5, "y": 5})

    session = recording_browser.record(user_actions, url=site.origin + "/")
    turns = [turn for turn in session.turns if turn["intent"] in ("click", "change")]
    assert [turn["element"]["tag"] for turn in turns] == ["a", "input"]
    assert not any("point_outside" in turn["element"] for turn in turns)
