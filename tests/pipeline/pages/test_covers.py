"""What stands above a canvas is in the part of the screenshot that shows the canvas: it is drawn once, not twice."""

import json

import cv2
import numpy as np

from pipeline.pages.rendering import render
from tests.support.rendered import shown_offline
from tests.support.samples.sessions import painted
from tests.support.waiting import wait_until_async

PAGE = """<!DOCTYPE html><body style="margin:0;height:2000px;font:20px serif">
<canvas id=c width=300 height=200></canvas>
<div id=d style="position:absolute;left:100px;top:50px;width:400px;height:100px;background:rgba(0,0,0,.5)">Above</div>
<button id=b style="position:absolute;left:20px;top:20px">Button</button>
<iframe srcdoc="<body style='margin:0'><canvas width=100 height=90></canvas><b style='position:absolute;
left:9px;top:9px;opacity:.5'>Inside</b>" style="position:absolute;left:20px;top:300px"></iframe><script>
for (const canvas of [c]) { const x = canvas.getContext('2d'); x.fillStyle = 'orange'; x.fillRect(0, 0, 300, 200) }
document.querySelector('iframe').onload = ({ target }) => { const x = target.contentDocument.querySelector('canvas')
  .getContext('2d'); x.fillStyle = 'teal'; x.fillRect(0, 0, 100, 90) }</script>"""


def test_what_is_above_a_canvas_is_drawn_once(recording_browser, site):
    site.pages["/"] = PAGE

    async def user_actions(page):
        await page.mouse.click(600, 400)
        await painted(page)
        await page.mouse.click(600, 400)

    async def show(document):
        async with shown_offline(recording_browser.browser, document) as page:
            hit = await page.evaluate("document.elementFromPoint(30, 30).id")
            picture = cv2.imdecode(np.frombuffer(await page.screenshot(), np.uint8), cv2.IMREAD_COLOR).astype(int)
            await page.mouse.wheel(0, 100)
            # wait_for_function evaluates in the page, whose policy forbids that
            await wait_until_async(
                lambda: page.evaluate("scrollY === 100 && !document.querySelector('demotape-cover')"))
            return hit, picture

    session = recording_browser.record(user_actions, url=site.origin + "/")
    state = [turn["state"] for turn in session.turns if turn["intent"] == "click"][-1]
    seen = cv2.imdecode(np.frombuffer(session.recording.blob(state["screenshot"]), np.uint8), cv2.IMREAD_COLOR)
    hit, picture = recording_browser.run(show(render(session.recording, state)))
    assert hit == "b", "the cover lets the pointer through"
    assert np.abs(picture - seen).max() <= 8
    button = next(row["uid"] for row in json.loads(session.recording.blob(state["elements"]))
                            if row["tag"] == "button")
    _, outlined = recording_browser.run(show(render(session.recording, state, outline=button)))
    assert (np.abs(outlined - (0x6C, 0x33, 0xD6)).max(2) <= 8).sum() > 200, "the outline is not covered"
