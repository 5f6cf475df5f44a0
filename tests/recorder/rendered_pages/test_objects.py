"""A document in an `object` or `embed` is shown in the rendered page as in the recorded one, under the same tags."""

from pipeline.pages.rendering import render
from tests.support.rendered import shown_offline
from tests.support.waiting import wait_until_async

PAGE = """<!DOCTYPE html><style>object, embed {{ width: 200px; height: 90px; border: 4px solid teal }}
embed[src] + p {{ margin-left: 33px }}</style>
<object data='/inner'>fallback</object><object data='{other}/inner' type='text/html'></object><br>
<embed src='/inner'><p>behind</p><embed src='{other}/inner' type='text/html'>
<object id=none>shown <i>instead</i></object><button>Press</button>"""
INNER = "<!DOCTYPE html><style>b { display: block; margin-top: 20px }</style><b>Inner</b>"
TEXTS = """() => [document.body.innerText.trim(), ...Array.from(frames, (frame) => [
  frame.document.body.innerText.trim(), frame.document.querySelector('b').getBoundingClientRect().y])]"""
BOXES = """() => Array.from(document.querySelectorAll('object, embed, p, i, button'), (element) => {
  const { x, y, width, height } = element.getBoundingClientRect(); return [element.localName, x, y, width, height] })"""


def test_documents_in_objects_and_embeds(recording_browser, site):
    site.pages |= {"/": PAGE.format(other=site.other_origin), "/inner": INNER}

    async def user_actions(page):
        async def are_loaded():
            return len(page.frames) == 5 and all([await frame.locator("b").count() for frame in page.frames[1:]])
        await wait_until_async(are_loaded, what="the frames")
        boxes = await page.evaluate(BOXES)
        await page.click("button")
        return boxes

    async def show(document):
        async with shown_offline(recording_browser.browser, document) as page:
            return await page.evaluate(BOXES), await page.evaluate(TEXTS)

    session = recording_browser.record(user_actions, url=site.origin + "/")
    assert session.problems == []
    [state] = [turn["state"] for turn in session.turns if turn["intent"] == "click"]
    boxes, [text, *inner] = recording_browser.run(show(render(session.recording, state)))
    assert boxes == session.answer
    assert inner == [["Inner", 20]] * 4 and "shown instead" in text and "fallback" not in text
