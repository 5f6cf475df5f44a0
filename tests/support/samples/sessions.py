"""The recorded data of user actions, independent of the recorder."""

from dataclasses import dataclass

from playwright.async_api import Frame, Page

from recorder import Recording
from tests.support.waiting import wait_until_async


@dataclass
class Session:
    """What one recorded session left behind."""

    recording: Recording
    turns: list[dict]
    problems: list[str]
    console: list[str]
    answer: object = None


async def painted(page: Page) -> None:
    """Wait until what the page shows now is on the screen, as a person would."""
    await page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    await page.wait_for_timeout(60)


async def reached(page: Page, frame: Frame) -> None:
    """Wait until the browser hands what is done there to the frame: before it is drawn, the page above gets it."""
    for each in (frame, page, frame):  # the third time that one paints, what it painted first is on the screen
        await each.evaluate("() => new Promise(done => { let left = 3; const paint = () => left-- ?"
                            "requestAnimationFrame(paint) : done(); paint() })")
    await frame.evaluate("focus()")
    await frame.wait_for_function("document.hasFocus()")


async def line_shown(lines: list[dict], word: str, name: str) -> None:
    """Wait until the last of a recorder's lines tells of an action, as a person who undoes it would."""
    await wait_until_async(lambda: (lines[-1].get("word"), lines[-1].get("name")) == (word, name))


_BOX = "e => { const {x, y, width, height} = e.getBoundingClientRect(); return {x, y, width, height} }"
_CONTENT = """e => { const b = e.getBoundingClientRect(), s = getComputedStyle(e);
  return [b.x + e.clientLeft + parseFloat(s.paddingLeft), b.y + e.clientTop + parseFloat(s.paddingTop)] }"""


async def box_in(frame: Page | Frame, selector: str) -> dict:
    """Box of an element in the page's coordinates.

    Playwright's own leaves out the border and padding of frames that have a process of their own.
    """
    box = await frame.locator(selector).evaluate(_BOX)
    while parent := getattr(frame, "parent_frame", None):
        left, top = await (await frame.frame_element()).evaluate(_CONTENT)
        box |= {"x": box["x"] + left, "y": box["y"] + top}
        frame = parent
    return box


async def click_in(page: Page, frame: Page | Frame, selector: str) -> dict:
    """Click the middle of an element in a frame; returns its box."""
    box = await box_in(frame, selector)
    await page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    return box
