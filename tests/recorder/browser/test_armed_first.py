"""The recorder listens before a page's first instruction: in a new page at once, popups, frames of another site, and in
a browser that it connects to. The pages stop every event in a capture listener on window, and change what they show."""

from urllib.parse import urlsplit

import pytest
from playwright.async_api import async_playwright

from pipeline.turns.folding import fold
from recorder import Recorder, Recording
from recorder.devtools.endpoint import connect
from schemas import InputError
from schemas.chromium import ADDRESS_BAR_PAGES, find_chromium

FLIP = ("<!DOCTYPE html><title>Flip</title><script>for (const type of ['pointerdown', 'mousedown', 'keydown', 'click'])"
        " window.addEventListener(type, event => { document.documentElement.className = 'flipped';"
        " event.stopImmediatePropagation(); event.preventDefault() }, true)</script><p id=p>Text</p>")
OPENERS = ("<a id=link href=/flip target=_blank>Link</a><a id=noopener href=/flip target=_blank rel=noopener>Link</a>"
           "<button id=script onclick=\"window.open('/flip')\">Open</button>")
PLACES = ("new page", "link", "noopener", "script", "frame")
TIMES = 2


def test_its_own_connection_finds_each_context(recording_browser):
    """Chromium refuses to tell the cookies of its default context by that one's id: it must keep no other back."""
    async def find():
        found = []
        for _ in range(8):
            context = await recording_browser.browser.new_context()
            connection, context_id = await connect(context)
            found.append(context_id)
            await connection.close()
            await context.close()
        return found

    assert len(set(recording_browser.run(find()))) == 8


async def to_place(context, site, place):
    """A page of the context where what is pressed flips, at once."""
    page = await context.new_page()
    if place == "new page":
        await page.goto(site.origin + "/flip")
    elif place == "frame":
        await page.goto(site.origin + "/frame")
    else:
        await page.goto(site.origin + "/")
        async with context.expect_page() as opened:
            await page.click(f"#{place}")
        page = await opened.value
        await page.locator("#p").wait_for()
    return page


async def flip_in(context, site, place, directory, **options):
    async with Recorder(context, directory, **options):
        page = await to_place(context, site, place)
        await page.mouse.click(60, 60)
        await page.keyboard.press("a")
    return Recording(directory)


def assert_all_from_before(recording):
    tab = max(event["tab"] for event in recording.events)
    heard = [event for event in recording.events if event["tab"] == tab and event["type"] in
             ("pointerdown", "click", "keydown") and (event["target"] or {}).get("tag") != "a"]
    assert [event["type"] for event in heard] == ["pointerdown", "click", "keydown"]
    document = recording.blob(heard[0]["state"]["dom"]).decode()
    assert "flipped" not in document and "Text" in document


@pytest.fixture
def flipping(site):
    site.pages |= {"/": OPENERS, "/flip": FLIP,
                   "/frame": f"<iframe src='{site.other_origin}/flip' width=400 height=300></iframe>"}
    return site


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("isolated", [False, True], ids=["one process", "site isolation"])
def test_what_is_pressed_at_once_is_heard_with_the_state_before(recording_browser, flipping, tmp_path, place, isolated):
    async def run():
        async with async_playwright() as playwright:
            browser = recording_browser.browser
            if isolated:
                browser = await playwright.chromium.launch(
                    executable_path=find_chromium(playwright.chromium.executable_path),
                    args=["--no-sandbox", "--site-per-process", "--remote-debugging-port=0",
                          f"--disable-features={ADDRESS_BAR_PAGES}"])
            for number in range(TIMES):
                context = await browser.new_context()
                assert_all_from_before(await flip_in(context, flipping, place, tmp_path / f"rec-{number}"))
                await context.close()
            if isolated:
                await browser.close()

    recording_browser.run(run())


@pytest.mark.parametrize("told", ["found", "ws", "http"])
def test_in_a_browser_that_was_connected_to(recording_browser, flipping, tmp_path, chromium_address, told):
    http = f"http://{urlsplit(chromium_address).netloc}"
    options = {"found": {}, "ws": {"cdp": chromium_address}, "http": {"cdp": http}}[told]

    async def run():
        async with async_playwright() as playwright:
            context = (await playwright.chromium.connect_over_cdp(chromium_address)).contexts[0]
            for place in PLACES:
                recording = await flip_in(context, flipping, place, tmp_path / place, **options)
                assert_all_from_before(recording)
                assert "armed_late" not in recording.manifest
            assert await context.cookies() == [], "what the recorder set to find the context is gone"

    recording_browser.run(run())


def test_pages_of_another_context_are_left_alone(recording_browser, flipping, tmp_path):
    async def run():
        mine, theirs = [await recording_browser.browser.new_context() for _ in range(2)]
        async with Recorder(mine, tmp_path / "rec"):
            for context in (theirs, mine):
                page = await to_place(context, flipping, "link")
                await page.mouse.click(60, 60)
        await mine.close()
        await theirs.close()
        return Recording(tmp_path / "rec")

    recording = recording_browser.run(run())
    assert {event["tab"] for event in recording.events} == {1, 2}
    assert sum(event["type"] == "pointerdown" for event in recording.events) == 2


def test_a_session_of_a_moment_is_whole(recording_browser, flipping, tmp_path):
    async def run():
        context = await recording_browser.browser.new_context()
        async with Recorder(context, tmp_path / "rec"):
            page = await context.new_page()
            await page.goto(flipping.origin + "/flip")
            await page.mouse.click(60, 60)
        await context.close()
        return Recording(tmp_path / "rec")

    recording = recording_browser.run(run())
    assert [turn.get("intent") for turn in fold(recording.events)] == ["load", "click"]
    assert [event["type"] for event in recording.events if event["type"] != "screenshot"] == [
        "navigate", "pointerdown", "pointerup", "click"]


def test_a_browser_without_an_address_is_recorded_as_early_as_it_can_be(recording_browser, site, tmp_path):
    site.pages["/"] = "<button>One</button>"

    async def run():
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=find_chromium(playwright.chromium.executable_path), args=["--no-sandbox"])
            context = await browser.new_context()
            page = await context.new_page()
            with pytest.warns(UserWarning, match="--remote-debugging-port"):
                async with Recorder(context, tmp_path / "rec", provenance={"actor": "script", "agent": "a test"}):
                    await page.goto(site.origin + "/")
                    await page.get_by_role("button").click()
            await browser.close()
        return Recording(tmp_path / "rec")

    recording = recording_browser.run(run())
    assert recording.manifest["armed_late"] is True
    assert recording.manifest["provenance"] == {"actor": "script", "agent": "a test"}
    assert [turn.get("intent") for turn in fold(recording.events)] == ["load", "click"]


@pytest.mark.parametrize(("address", "told"), [
    ("http://127.0.0.1:9/key", "http://127.0.0.1:9: no Chromium responds"),
    ("ws://127.0.0.1:9/devtools?token=key", "ws://127.0.0.1:9: no Chromium responds"),
    ("nonsense", "no Chromium responds"),
])
def test_an_address_where_nobody_answers(recording_browser, tmp_path, address, told):
    async def run():
        context = await recording_browser.browser.new_context()
        try:
            async with Recorder(context, tmp_path / "rec", cdp=address):
                pass
        finally:
            await context.close()

    with pytest.raises(InputError, match=told) as refused:
        recording_browser.run(run())
    assert "key" not in str(refused.value) and not (tmp_path / "rec").exists()


def test_the_address_of_another_browser(recording_browser, tmp_path, chromium_address):
    async def run():
        context = await recording_browser.browser.new_context()
        try:
            async with Recorder(context, tmp_path / "rec", cdp=chromium_address):
                pass
        finally:
            await context.close()

    with pytest.raises(InputError, match="this is not the browser of the context"):
        recording_browser.run(run())
    assert not (tmp_path / "rec").exists()
