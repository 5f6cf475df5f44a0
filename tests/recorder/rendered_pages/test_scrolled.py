"""What was scrolled before anybody listened: in shadow roots as they are made, and in pages that were there before."""

import pytest

from pipeline.pages.rendering import render
from tests.support.rendered import shown_offline
from tests.support.samples.traps import closed_root_found

INNER = """<!DOCTYPE html><style>div { height: 60px; overflow: auto } i { display: block; height: 900px }</style>
<button>Press</button><div id=own><i></i></div><section></section><article></article><script>
  const inner = `<style>${document.querySelector('style').textContent}</style><div><i></i></div>`;
  for (const [name, mode, top] of [['section', 'open', 20], ['article', 'closed', 30]]) {
    const root = document.querySelector(name)?.attachShadow({ mode });
    if (!root) continue;
    root.innerHTML = inner;
    root.lastChild.scrollTop = top;
  }
  own.scrollTop = 10;
</script>"""
OFFSETS = """() => [own.scrollTop, scrollY, ...Array.from(document.querySelectorAll('section, article'),
  (host) => host.shadowRoot.lastChild.scrollTop)]"""


def shown_offsets(recording_browser, session) -> list:
    async def show(document):
        async with shown_offline(recording_browser.browser, document) as page:
            return [await frame.evaluate(OFFSETS) for frame in page.frames]

    [state] = [turn["state"] for turn in session.turns if turn["intent"] == "click"]
    return recording_browser.run(show(render(session.recording, state)))


def test_what_scripts_scroll_in_a_shadow_root_is_scrolled(recording_browser, site, shown_in=None):
    """`shown_in`: another browser, where the one that records can show no page without the extension."""
    site.pages["/"] = INNER

    async def user_actions(page):
        await closed_root_found(page, "article")
        await page.click("button")

    session = recording_browser.record(user_actions, url=site.origin + "/")
    assert shown_offsets(shown_in or recording_browser, session) == [[10, 0, 20, 30]]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_what_was_scrolled_before_the_recording_is_scrolled(recording_browser, site, host):
    """In a page and in a frame of it, of the same site and of another."""
    frame = f"<iframe src={site.origin.replace('127.0.0.1', host)}/inner></iframe>"
    long = f"{INNER.replace('<article></article>', '')}<p style='height: 2000px'></p>"
    site.pages.update({"/": long.replace("<p ", f"{frame}<p "), "/inner": long})

    async def prepare(context):
        [page] = context.pages
        await page.goto(site.origin + "/")
        for frame, top in zip(page.frames, (40, 50), strict=True):
            await frame.evaluate(f"scrollTo(0, {top})")
            await frame.wait_for_function(f"scrollY === {top}")

    session = recording_browser.record(lambda page: page.locator("iframe").click(), prepare=prepare)
    assert shown_offsets(recording_browser, session) == [[10, 40, 20], [10, 50, 20]]
