"""Recording asks little of a page that rests: it does not have it painted again and again, for which who acts waits."""

import asyncio

from recorder import Recorder
from tests.support.samples.sessions import painted

_MOST = 12  # frames after a press: those of what it changes, and of looking at that
_WATCHED = 0.6  # seconds


async def animation_frames(browser, work):
    """How often scripts of any world were called to paint while `work` was done."""
    session, events, done = await browser.new_browser_cdp_session(), [], asyncio.Event()
    session.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    session.on("Tracing.tracingComplete", lambda _: done.set())
    await session.send("Tracing.start", {"transferMode": "ReportEvents",
                                         "traceConfig": {"includedCategories": ["devtools.timeline"]}})
    await work()
    await session.send("Tracing.end")
    await done.wait()
    await session.detach()
    return sum(event["name"] == "FireAnimationFrame" for event in events)


def test_a_page_that_was_scrolled_and_pressed_is_not_painted_on_and_on(recording_browser, site, tmp_path):
    site.pages["/"] = "<p>Text</p>" * 300

    async def press():
        context = await recording_browser.browser.new_context(viewport={"width": 800, "height": 600})
        async with Recorder(context, tmp_path / "rec"):
            tab = await context.new_page()
            await tab.goto(site.origin + "/")
            await painted(tab)

            async def scroll_and_press():
                await tab.mouse.wheel(0, 300)
                await tab.mouse.click(100, 100)
                await asyncio.sleep(_WATCHED)

            found = await animation_frames(recording_browser.browser, scroll_and_press)
        await context.close()
        return found

    assert recording_browser.run(press()) <= _MOST
