"""Pages that were recorded before, that come back as they were left, and frames in processes of their own."""

import asyncio
import subprocess
from collections import Counter
from urllib.parse import urlsplit

import cv2
import numpy as np
import pytest
from playwright.async_api import async_playwright

from demotape.site import miniwob_folder
from pipeline.turns.folding import fold
from recorder import Recorder, Recording
from recorder.browser import launch
from schemas.chromium import find_chromium
from tests.support.samples.sessions import click_in, painted

pytestmark = pytest.mark.chromium  # process per site, cache of pages

SECRET = "swordfish-4711"
FORM = "<input type=password id=p><button id=b onclick=\"history.pushState({}, '', '?q=' + p.value)\">Go</button>"


def test_a_page_is_recorded_again_without_being_loaded_again(recording_browser, site, tmp_path):
    """What the first recorder was sent, numbers and secrets, the second one is sent anew."""
    site.pages["/"] = FORM

    async def work():
        context = await recording_browser.browser.new_context()
        page = await context.new_page()
        await page.goto(site.origin + "/")
        await page.fill("#p", SECRET)
        for name in ("first", "second"):
            async with Recorder(context, tmp_path / name) as recorder:
                await page.click("#b")
                await painted(page)
                await page.click("#b")
            assert recorder.problems == []
        await context.close()

    recording_browser.run(work())
    for name in ("first", "second"):
        recording = Recording(tmp_path / name)
        assert [event["type"] for event in recording.events if event["type"].startswith("pointer")] == [
            "pointerdown", "pointerup"] * 2
        clicks = [turn for turn in fold(recording.events) if turn["intent"] == "click"]
        assert len(clicks) == 2
        assert all('id="b"' in recording.blob(turn["state"]["dom"]).decode() for turn in clicks)
        assert not any(SECRET.encode() in path.read_bytes() for path in (tmp_path / name).rglob("*.jsonl"))


def test_who_acts_as_soon_as_it_records_finds_the_first_picture_taken(recording_browser, site, tmp_path):
    """What the page shows before the first action is on no later frame, if the action changes it."""
    site.pages["/"] = ("<!DOCTYPE html><body style='height:90vh'><script>let n = 0; document.body.onpointerdown = () =>"
                       "document.body.style.background = `hsl(${n += 70}, 60%, 60%)`</script>")

    async def work():
        context = await recording_browser.browser.new_context()
        page = await context.new_page()
        await page.goto(site.origin + "/")
        for name in range(8):
            async with Recorder(context, tmp_path / str(name)):
                await page.mouse.click(20, 20)
                await painted(page)
        await context.close()

    recording_browser.run(work())
    for name in range(8):
        clicks = [turn for turn in fold(Recording(tmp_path / str(name)).events) if turn["intent"] == "click"]
        assert [turn["state"]["screenshot_status"] for turn in clicks] == ["good"]


def test_a_page_is_left_as_it_was_when_the_recording_ends(recording_browser, site, tmp_path):
    """Nobody hears it any more; what it does costs nothing."""
    site.pages |= {"/": "<button id=b>B</button><iframe src='/in'></iframe>", "/in": "<p>In"}

    async def work() -> tuple[set[str], set[str]]:
        context = await recording_browser.browser.new_context()
        page = await context.new_page()
        await page.goto(site.origin + "/")
        worlds: list[int] = []
        session = await context.new_cdp_session(page)
        session.on("Runtime.executionContextCreated", lambda event: worlds.append(event["context"]["id"]))
        await session.send("Runtime.enable")

        async def listened_to() -> set[str]:
            found = set()
            for world in worlds:
                window = await session.send("Runtime.evaluate", {"expression": "window", "contextId": world})
                answer = await session.send("DOMDebugger.getEventListeners", {"objectId": window["result"]["objectId"]})
                found |= {listener["type"] for listener in answer["listeners"]}
            return found

        async with Recorder(context, tmp_path / "rec"):
            await page.mouse.click(20, 20)
            during = await listened_to()
        after = await listened_to()
        await context.close()
        return during, after

    during, after = recording_browser.run(work())
    assert {"pointerdown", "keydown", "scroll"} <= during
    assert after == {"pagehide"}  # which lets go of what the page holds


def test_a_frame_without_scripts_in_a_running_browser_is_seen(site, tmp_path):
    """In a browser as people start it, where such a frame has a process of its own; timers stand still in it."""
    site.pages |= {"/": "<button id=b>B</button><iframe sandbox src='/in'></iframe>", "/in": "<p id=p>Inside</p>"}
    browser = subprocess.Popen([find_chromium(), "--headless", "--no-sandbox", "--remote-debugging-port=0",
                                f"--user-data-dir={tmp_path / 'profile'}"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    async def work(address: str):
        async with async_playwright() as playwright:
            context = (await playwright.chromium.connect_over_cdp(address)).contexts[0]
            page = context.pages[0]
            async with Recorder(context, tmp_path / "rec") as recorder:
                await page.goto(site.origin + "/")
                await asyncio.sleep(0.9)  # a person does not act before the page has come to rest
                await click_in(page, page, "#b")
                await click_in(page, page.frames[1], "#p")
            assert recorder.problems == []

    try:
        asyncio.run(work(next(line.split()[-1] for line in browser.stderr if "DevTools listening on" in line)))
    finally:
        browser.terminate()
        browser.wait()
    recording = Recording(tmp_path / "rec")
    outside, inside = [turn for turn in fold(recording.events) if turn["intent"] == "click"]
    assert b"Inside" in recording.blob(outside["state"]["dom"])
    assert (inside["element"]["tag"], len(inside["element"]["frame"])) == ("p", 1)


def test_a_page_that_comes_back_from_the_cache_of_pages_is_sent_whole(site, tmp_path):
    """
    As browsers do that are not started for tests: `record --connect` meets them. The first page leaves garbage, which
    is collected while it is away: that runs nothing in it, for which it would be thrown out.
    """
    site.pages |= {"/": "<button id=b>First</button><script>onpageshow = event => { b.textContent = event.persisted };"
                        "onclick = () => document.body.setAttribute('class', 'clicked')</script>",
                   "/two": "<button id=b>Second</button>"}

    async def work():
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=find_chromium(playwright.chromium.executable_path), headless=True,
                args=["--no-sandbox"], ignore_default_args=["--disable-back-forward-cache"])
            page = await browser.new_page()
            session = await page.context.new_cdp_session(page)
            async with Recorder(page.context, tmp_path / "rec") as recorder:
                for path in ("/", "/two", None):
                    if path:
                        await page.goto(site.origin + path)
                    else:
                        await session.send("HeapProfiler.collectGarbage")
                        await page.evaluate("history.go(-1)")
                        await page.wait_for_function("b.textContent === 'true'")
                    await painted(page)
                    await page.mouse.click(20, 20)
                    await painted(page)
            assert recorder.problems == []
            await browser.close()

    asyncio.run(work())
    recording = Recording(tmp_path / "rec")
    turns = fold(recording.events)
    assert [turn["intent"] for turn in turns] == ["load", "click", "load", "click", "back", "click"]
    assert [f">{text}</button>" in recording.blob(turn["state"]["dom"]).decode() for text, turn in zip(
        ("false", "Second", "true"), turns[1::2], strict=True)] == [True] * 3


def test_a_frame_in_a_process_of_its_own_is_heard_once_however_often_it_navigates(site, tmp_path):
    site.pages |= {"/": f"<iframe src='{site.other_origin}/in0' width=300 height=200></iframe>"}
    site.pages |= {f"/in{number}": f"<button id=b>button {number}</button>" for number in range(4)}

    async def work():
        async with async_playwright() as playwright:
            browser = await launch(playwright, headless=True, arguments=["--site-per-process"])
            context = await browser.new_context()
            page = await context.new_page()
            async with Recorder(context, tmp_path / "rec") as recorder:
                await page.goto(site.origin + "/")
                for number in range(4):
                    frame = page.frames[1]
                    await frame.goto(f"{site.other_origin}/in{number}")
                    await painted(page)
                    await asyncio.sleep(0.9)  # a person does not act before the page has come to rest
                    await click_in(page, frame, "#b")
            assert recorder.problems == []
            await browser.close()

    asyncio.run(work())
    recording = Recording(tmp_path / "rec")
    assert [event["type"] for event in recording.events if event["type"] == "click"] == ["click"] * 4
    clicks = [turn for turn in fold(recording.events) if turn["intent"] == "click"]
    assert [turn["element"]["text"] for turn in clicks] == [f"button {number}" for number in range(4)]
    for number, turn in enumerate(clicks):
        assert f"button {number}" in recording.blob(turn["state"]["dom"]).decode()

PICTURE = cv2.imencode(".png", np.full((20, 20, 3), 90, np.uint8))[1].tobytes()
FONT = ("font/woff", min(miniwob_folder().rglob("*.woff")).read_bytes())
LOADED = {
    "/": "<link rel=stylesheet href=/a.css><style>@import '/b.css'</style><img src=/i.png><div id=d>x</div>"
         "<script>const s = new CSSStyleSheet(); s.replaceSync('p { color: rgb(1, 2, 3) }');"
         "document.adoptedStyleSheets = [s]</script><p>Text</p><iframe src=/inner></iframe>"
         "<iframe src=OTHER/other></iframe>",
    "/inner": "<link rel=stylesheet href=/c.css><img src=/j.png><b>Inside</b>",
    "/other": "<link rel=stylesheet href=/d.css><b>Elsewhere</b><script>addEventListener('click', () => 1)</script>",
    "/a.css": ("text/css", b"@font-face { font-family: F; src: url(/f.woff) }"
                           b"@font-face { font-family: G; src: url(OTHER/g.woff) }"
                           b"#d { font-family: F; background: url(/k.png) }"),
    "/b.css": ("text/css", b"body { margin: 7px }"), "/c.css": ("text/css", b"b { color: red }"),
    "/d.css": ("text/css", b"b { color: blue }"),
    "/f.woff": FONT, "/g.woff": FONT, "/i.png": ("image/png", PICTURE),
    "/j.png": ("image/png", PICTURE),
    "/k.png": ("image/png", PICTURE),
}


@pytest.mark.parametrize("varying", ["Accept-Encoding", "Origin, Cookie"])
@pytest.mark.parametrize("caching", ["no-cache", "no-store", "max-age=1000"])
def test_what_a_page_had_loaded_before_is_kept_and_asked_for_once(recording_browser, site, tmp_path, caching, varying):
    site.headers |= {"Cache-Control": caching, "Access-Control-Allow-Origin": "*", "Vary": varying,
                     "Content-Security-Policy": "default-src 'self' 'unsafe-inline' localhost:*; connect-src 'SELF'"}
    asked = Counter()

    def serve(path, page):
        def answer(request):
            asked[path] += 1
            kind, content = page if isinstance(page, tuple) else ("text/html", page.encode())
            return kind, content.replace(b"OTHER", site.other_origin.encode())
        return answer

    site.pages |= {path: serve(path, page) for path, page in LOADED.items()}

    async def work():
        context = await recording_browser.browser.new_context()
        page = await context.new_page()
        await page.goto(site.origin + "/")
        await page.evaluate("Promise.all([...document.fonts].map((font) => font.load()))")
        async with Recorder(context, tmp_path / "rec", har=True) as recorder:
            await page.click("p")
        assert recorder.problems == []
        seen = await page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")
        await context.close()
        return seen

    seen = recording_browser.run(work())
    assert len(seen) == len(set(seen)) and "demotape" not in "".join(seen) and set(asked.values()) == {1}
    recording = Recording(tmp_path / "rec")
    kept = {urlsplit(each["url"]).path: recording.blob(each["blob"]) for each in recording.resources()}
    fonts = {"/f.woff", "/g.woff"} if caching != "no-store" else set()  # the browser has no font any more as it came
    assert kept.keys() == {path for path in LOADED if path[-4:] in (".css", ".png")} | fonts
    assert kept["/i.png"] == PICTURE and b"margin: 7px" in kept["/b.css"]
    assert b"demotape-font" not in recording.layout.har.read_bytes()
    [click] = [turn for turn in fold(recording.events) if turn["intent"] == "click"]
    document = recording.blob(click["state"]["dom"]).decode()
    assert "rgb(1, 2, 3)" in document and "Inside" in document and "Elsewhere" in document


def test_a_page_whose_policy_forbids_it_is_not_asked_for_its_fonts(recording_browser, site, tmp_path):
    site.pages["/"] = ("<style>@font-face { font-family: F; src: url(/f.woff) } p { font-family: F }</style><p>Text</p>"
                       "<script>addEventListener('securitypolicyviolation', () => window.told = true)</script>")
    site.pages["/f.woff"] = FONT
    site.headers |= {"Content-Security-Policy": "connect-src 'none'", "Cache-Control": "max-age=1000"}

    async def work():
        context = await recording_browser.browser.new_context()
        page = await context.new_page()
        await page.goto(site.origin + "/")
        await page.evaluate("Promise.all([...document.fonts].map((font) => font.load()))")
        async with Recorder(context, tmp_path / "rec"):
            await page.click("p")
        told = await page.evaluate("window.told")
        await context.close()
        return told

    assert recording_browser.run(work()) is None
    assert [each["url"] for each in Recording(tmp_path / "rec").resources() if each["url"].endswith("woff")] == []
