"""State that scripts hold (rules, flags of sheets, what no attribute tells) is shown as it was seen."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from benchmarks.driving.offline import ssim
from pipeline.pages.rendering import render
from tests.support.rendered import shown_offline
from tests.support.rendered_cases import HEAD, RESOURCES, SHEETS, SIBLINGS, STATES, Case, fonts
from tests.support.samples.sessions import painted

FONT = next(Path("/usr/share/fonts").rglob("*Mono*.ttf"), None)
FONTS = fonts(FONT.read_bytes()) if FONT else {}
CASES = SHEETS | SIBLINGS | STATES | RESOURCES | FONTS
BUTTON = "<div><button id=go style='margin-top:200px'>Go</button></div>"


def page_of(case: Case) -> str:
    """The page of a case; the button is in its first element, so that it is no sibling of what is compared."""
    return f"{HEAD}{BUTTON}<section id=section>{case.body}</section>" if "body>" not in case.body else (
        f"{HEAD}{BUTTON}{case.body}")


@pytest.mark.parametrize("name", CASES)
def test_a_rendered_page_looks_as_the_page_did(recording_browser, site, name, shown_in=None, is_painted=None):
    """`shown_in`: another browser, where the one that records can show no page without the extension; `is_painted`:
    waits until the recorder has a picture."""
    shown_in = shown_in or recording_browser
    case = CASES[name]
    site.pages["/"] = page_of(case)
    site.pages.update({path: content for path, content in case.files.items()})
    live = []

    async def user_actions(page):
        await page.wait_for_load_state()
        await page.wait_for_function("!window.pending")
        live.append(await page.evaluate(case.value))
        if is_painted:
            await is_painted()
        live.append(await page.screenshot())
        await page.click("#go")

    async def show(document):
        async with shown_offline(shown_in.browser, document, **state["viewport"]) as page:
            return await page.evaluate(case.value), await page.screenshot()

    session = recording_browser.record(user_actions, url=site.origin + "/")
    [state] = [turn["state"] for turn in session.turns if turn["intent"] == "click"]
    value, picture = shown_in.run(show(render(session.recording, state)))
    assert value == live[0]
    is_good = state["screenshot_status"] == "good"  # a stream may bring it late
    assert ssim(picture, session.recording.blob(state["screenshot"]) if is_good else live[1]) > 0.98


DRAWING = ("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg' width='300' height='200'><script>0</script>"
           b"<rect id='go' width='100' height='50' fill='teal'/></svg>")


def test_an_svg_document(recording_browser, site):
    site.pages["/"] = DRAWING

    async def show(document):
        async with shown_offline(recording_browser.browser, document) as page:
            return await page.screenshot()

    session = recording_browser.record(lambda page: page.mouse.click(20, 20), url=site.origin + "/")
    [state] = [turn["state"] for turn in session.turns if turn["intent"] == "click"]
    picture = recording_browser.run(show(render(session.recording, state)))
    assert ssim(picture, session.recording.blob(state["screenshot"])) > 0.99


DIALOG = f"""{HEAD}<button id=go onclick="d.showModal(); d.scrollTop = 0">Open</button><dialog id=d
style="height:150px;overflow:auto"><p style="height:400px">Terms</p><input><p style="height:100px"></p></dialog>"""


def test_a_modal_dialog_that_was_scrolled_to_its_top(recording_browser, site):
    site.pages["/"] = DIALOG

    async def user_actions(page):
        await page.click("#go")
        await page.wait_for_function("d.scrollTop === 0 && d.open")
        await page.mouse.click(400, 300)

    async def show(document):
        async with shown_offline(recording_browser.browser, document) as page:
            return await page.evaluate("d.scrollTop")

    session = recording_browser.record(user_actions, url=site.origin + "/")
    state = [turn["state"] for turn in session.turns if turn["intent"] == "click"][-1]
    assert recording_browser.run(show(render(session.recording, state))) == 0


PICTURE = f"""{HEAD}<img id=w src=/p.png width=90 height=90><button id=go>Go</button><script>
next = () => {{ w.onload = () => {{ loaded = true }}; loaded = false; w.src = "/p.png" }}</script>"""


def test_other_content_at_one_address(recording_browser, site):
    """Each state has the content of its own time, also what came back later."""
    colours = [(0, 0, 255), (255, 0, 0), (0, 0, 255)]
    answers = [("image/png", cv2.imencode(".png", np.full((9, 9, 3), colour, np.uint8))[1].tobytes())
               for colour in colours]
    site.pages.update({"/": PICTURE, "/p.png": answers[0]})
    site.headers["Cache-Control"] = "no-store"

    async def user_actions(page):
        for answer in [*answers[1:], None]:
            await page.click("#go")
            if answer:
                site.pages["/p.png"] = answer
                await page.evaluate("w.src = ''")
                await page.evaluate("next()")
                await page.wait_for_function("loaded")

    async def show(document):
        async with shown_offline(recording_browser.browser, document) as page:
            picture = await page.screenshot()
            return tuple(cv2.imdecode(np.frombuffer(picture, np.uint8), cv2.IMREAD_COLOR)[40, 40])

    session = recording_browser.record(user_actions, url=site.origin + "/")
    states = [turn["state"] for turn in session.turns if turn["intent"] == "click"]
    assert [recording_browser.run(show(render(session.recording, state))) for state in states] == colours


IN_FRAME = """<!DOCTYPE html><style id=s>p { background: gold; height: 200px }</style><p>Text</p>"""


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_rule_changed_in_a_frame_in_which_nothing_else_happens(recording_browser, site, host):
    """A frame of another site is not asked at an event: it reports by itself."""
    inner = f"{site.origin.replace('127.0.0.1', host)}/inner"
    site.pages.update({"/": f"{HEAD}{BUTTON}<iframe src={inner} width=400 height=300></iframe>", "/inner": IN_FRAME})

    async def user_actions(page):
        frame = page.frame_locator("iframe")
        await frame.locator("p").wait_for()
        await page.click("#go")
        await page.frames[1].evaluate("s.sheet.cssRules[0].style.background = 'red'")
        for _ in range(12):  # the page goes on being used
            await painted(page)
            await page.click("#go")

    async def show(document):
        async with shown_offline(recording_browser.browser, document) as page:
            return await page.frames[1].evaluate("getComputedStyle(document.querySelector('p')).backgroundColor")

    session = recording_browser.record(user_actions, url=site.origin + "/")
    states = [turn["state"] for turn in session.turns if turn["intent"] == "click"]
    colors = [recording_browser.run(show(render(session.recording, state))) for state in (states[0], states[-1])]
    assert colors == ["rgb(255, 215, 0)", "rgb(255, 0, 0)"]
