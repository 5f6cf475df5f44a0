"""The focus in a state: which element has it, of each document and shadow root, and that the rendered page shows it."""

import asyncio

import lxml.html
import pytest

from pipeline.pages.rendering import render
from tests.support.rendered import shown_offline

PAGE = """<style>:focus { outline: 4px solid red } :focus:not(:focus-visible) { outline: 4px solid blue }</style>
<form><input name=activeElement id=i><button type=button id=b>One</button></form><p><a href=#x id=a>Link</a></p>
<div id=host><template shadowrootmode=open><button id=s>Inside</button></template></div>
<iframe srcdoc="<button id=f>In the frame</button><button id=g>More</button>"></iframe><p id=p tabindex=-1>End</p>"""
FOCUSED = """() => {
  let scope = document, active;
  while ((active = scope.activeElement) && (active.shadowRoot?.activeElement || active.contentDocument?.activeElement))
    scope = active.shadowRoot ?? active.contentDocument;
  return [active.id, active.matches(':focus-visible')];
}"""


@pytest.mark.parametrize(("target", "key", "expected"), [
    ("#i", None, ["i", True]), ("#b", None, ["b", False]), ("#i", "Tab", ["b", True]), ("#b", "Tab", ["a", True]),
    ("#a", "Tab", ["s", True]), ("#s", "Tab", ["f", True]), ("f", None, ["f", False]), ("f", "Tab", ["g", True])])
def test_the_focus_of_a_state_is_that_of_its_rendered_page(recording_browser, site, target, key, expected):
    site.pages["/"] = PAGE

    async def user_actions(page):
        scope = page.frame_locator("iframe") if target == "f" else page
        await scope.locator("#" + target.strip("#")).click()
        if key:
            await page.keyboard.press(key)
        assert await page.evaluate(FOCUSED) == expected
        await asyncio.sleep(0.3)
        await page.locator("#p").click()
        await page.locator("#p").click()

    async def show(document):
        async with shown_offline(recording_browser.browser, document) as page:
            return await page.evaluate(FOCUSED)

    session = recording_browser.record(user_actions, url=site.origin + "/")
    before, after = [turn["state"] for turn in session.turns if turn["intent"] == "click"][-2:]
    assert recording_browser.run(show(render(session.recording, before))) == expected
    assert recording_browser.run(show(render(session.recording, after))) == ["p", False]
    focused = lxml.html.fromstring(session.recording.blob(after["dom"])).xpath("//*[@data-demotape-focus]")
    assert [element.get("id") for element in focused] == ["p"]
