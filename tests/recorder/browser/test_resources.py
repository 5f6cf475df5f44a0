"""Style sheets, images and fonts that pages share: asked for once, and anew when they may have changed."""

from collections import Counter

import pytest

from recorder.devtools.connection import TargetSession
from tests.conftest import painted

SHARED = "<link rel=stylesheet href=/shared.css><p>{}</p><a href=/next>Next</a>"


@pytest.fixture
def cached_site(site):
    site.headers["Cache-Control"] = "max-age=1000"
    site.pages |= {"/": SHARED.format(1), "/next": SHARED.format(2), "/last": SHARED.format(3),
                   "/shared.css": ("text/css", b"p { color: red }")}
    return site


def kept(session) -> list[bytes]:
    """Contents of the style sheet, in the order in which they were met."""
    assert not session.problems
    return [session.recording.blob(each["blob"]) for each in session.recording.resources()
            if each["url"].endswith("/shared.css")]


def test_what_the_browser_has_in_its_cache_is_not_asked_for_again(recording_browser, cached_site, monkeypatch):
    asked = Counter()
    send = TargetSession.send

    def counted(self, method, params=None):
        asked[method] += 1
        return send(self, method, params)

    monkeypatch.setattr(TargetSession, "send", counted)

    async def user_actions(page):
        for path in ("/next", "/last", "/", "/next"):
            await page.goto(cached_site.origin + path)
            await painted(page)

    session = recording_browser.record(user_actions, url=cached_site.origin + "/")
    assert kept(session) == [b"p { color: red }"]
    assert asked["Network.getResponseBody"] == 1


@pytest.mark.parametrize("way", ["reload", "fetch", "fetch in another tab"])
def test_what_came_anew_is_kept_though_the_page_takes_it_from_the_cache(recording_browser, cached_site, way):
    async def reload(page):
        session = await page.context.new_cdp_session(page)
        async with page.expect_event("load"):
            await session.send("Page.reload", {"ignoreCache": True})

    async def fetch(page):
        await page.evaluate("() => fetch('/shared.css', { cache: 'reload' }).then((answer) => answer.text())")

    async def another_tab(page):
        tab = await page.context.new_page()
        await tab.goto(cached_site.origin + "/last")
        await painted(tab)
        return tab

    async def user_actions(page):
        tab = await another_tab(page) if way == "fetch in another tab" else page
        cached_site.pages["/shared.css"] = ("text/css", b"p { color: blue }")
        await (reload if way == "reload" else fetch)(tab)
        if tab is not page:  # whose renderer remembers what it was
            page = await another_tab(page)
        await page.goto(cached_site.origin + "/next")
        await painted(page)
        assert await page.evaluate("getComputedStyle(document.querySelector('p')).color") == "rgb(0, 0, 255)"

    session = recording_browser.record(user_actions, url=cached_site.origin + "/")
    assert kept(session) == [b"p { color: red }", b"p { color: blue }"]
