"""What a state holds: frames, shadow roots, canvas, zoom; boxes that hit; and how the page is left alone meanwhile."""

import asyncio
import json

import cv2
import lxml.html
import numpy as np
import pytest
from playwright.async_api import async_playwright

from pipeline.align.pictures.ssim import ssim
from pipeline.pages.dom import flatten
from pipeline.pages.rendering import render
from pipeline.pages.restoring import PAGE_READY
from pipeline.turns.folding import fold
from recorder import Recorder, Recording
from schemas.chromium import find_chromium
from tests.support.samples.sessions import click_in, painted
from tests.support.samples.traps import closed_root_found

pytestmark = pytest.mark.chromium  # zoom by an extension, native controls


def picture(session, turn) -> np.ndarray:
    return cv2.imdecode(np.frombuffer(session.recording.blob(turn["state"]["screenshot"]), np.uint8), 1)


def holds_target(session, turn) -> bool:
    """Whether the snapshot, frames and shadow roots included, holds the turn's element."""
    page = flatten(session.recording.blob(turn["state"]["dom"]))
    return bool(lxml.html.fromstring(page.html).xpath(f"//*[@*='{turn['element']['uid']}']"))


def row_of(session, turn) -> dict:
    rows = json.loads(session.recording.blob(turn["state"]["elements"]))
    return next(row for row in rows if row["uid"] == turn["element"]["uid"])


def near(box: dict, other: dict, tolerance: float = 1.0) -> bool:
    return all(abs(box[name] - other[name]) <= tolerance for name in ("x", "y", "width", "height"))


@pytest.mark.parametrize("mode", ["open", "closed"])
def test_shadow_content_is_in_the_snapshot(recording_browser, site, mode):
    site.pages["/"] = (f"<div id=h>light</div><script>h.attachShadow({{mode: '{mode}'}}).innerHTML = "
                       "'<style>p{color:red}</style><p id=p>deep <slot></slot></p>'</script>")

    async def user_actions(page):
        await asyncio.sleep(0.6)
        await page.mouse.click(20, 30)

    session = recording_browser.record(user_actions, url=site.origin + "/")
    (turn,) = [turn for turn in session.turns if turn["intent"] == "click"]
    dom = session.recording.blob(turn["state"]["dom"]).decode()
    assert f'<template shadowrootmode="{mode}">' in dom and "deep " in dom and "light" in dom


def test_a_closed_root_of_an_element_that_is_defined_later_is_found(recording_browser, site):
    site.pages["/"] = """<body style='margin:0'><my-part id=c style='display:block;height:40px'></my-part><script>
        setTimeout(() => { customElements.define('my-part', class extends HTMLElement { constructor() { super();
        this.attachShadow({mode: 'closed'}).innerHTML = '<button id=y>Y</button>' } }); document.title = 'T' }, 2000)
        </script>"""

    async def user_actions(page):
        await closed_root_found(page, "#c")
        await page.mouse.click(10, 10)

    session = recording_browser.record(user_actions, url=site.origin + "/")
    (turn,) = [turn for turn in session.turns if turn["intent"] == "click"]
    assert turn["element"]["attributes"]["id"] == "y"


@pytest.mark.parametrize("context", [{"device_scale_factor": 2}, {"device_scale_factor": 1}])
def test_boxes_hit_on_scrolled_transformed_pages(recording_browser, site, context):
    site.pages["/"] = ("<body style='height:3000px;margin:0'><div style='transform:translate(40px, 30px) scale(1.5);"
                       "transform-origin:0 0;position:absolute;top:900px'><button id=b>Big</button></div>")

    async def user_actions(page):
        await page.evaluate("scrollTo(0, 700)")
        await painted(page)
        return await click_in(page, page, "#b")

    session = recording_browser.record(user_actions, url=site.origin + "/", **context)
    (turn,) = [turn for turn in session.turns if turn["intent"] == "click"]
    assert near(turn["element"]["bbox"], session.answer) and near(row_of(session, turn)["bbox"], session.answer)
    assert turn["state"]["scroll"] == {"x": 0, "y": 700}
    assert turn["state"]["device_pixel_ratio"] == context["device_scale_factor"]


def test_a_canvas_is_in_the_picture_and_is_clicked_with_coordinates(recording_browser, site):
    site.pages["/"] = ("<body style='margin:0'><canvas id=c width=200 height=100></canvas><script>const x = "
                       "c.getContext('2d'); x.fillStyle = 'rgb(0, 200, 0)'; x.fillRect(0, 0, 200, 100)</script>")
    session = recording_browser.record(lambda page: page.mouse.click(50, 60), url=site.origin + "/")
    (turn,) = [turn for turn in session.turns if turn["intent"] == "click"]
    assert turn["element"]["tag"] == "canvas" and (turn["arguments"]["x"], turn["arguments"]["y"]) == (50, 60)
    assert picture(session, turn)[60, 50][1] > 180
    assert "background:url(&quot;data:image/png;base64," in render(session.recording, turn["state"])


def test_a_rendered_page_stands_as_it_stood(recording_browser, site):
    """Scrolled, in itself, in its parts and frames, with the target of its address: HTML alone says none of it."""
    stripes = "".join(f"<p style='height:90px;margin:0;background:hsl({n * 40} 80% 60%)'>{n}</p>" for n in range(30))
    frame = "width:300px;height:150px"
    site.pages |= {
        "/": "<style>:target{border:9px solid} #s{width:200px;height:200px;overflow:auto}"
             f"</style><h1 id=top>Top</h1><div id=s>{stripes}</div><iframe src='/in' style='{frame}'></iframe>"
             f"<iframe sandbox src='/in' style='{frame}'></iframe><div id=o></div><button id=b>B</button>"
             "<script>o.attachShadow({mode: 'open'}).innerHTML = "
             f"`<div style='height:200px;overflow:auto'>{stripes}</div>`</script><h2 id=two>Two</h2>{stripes}",
        "/in": f"<body>{stripes}"}

    async def user_actions(page):
        await page.evaluate("""() => { s.scrollTop = 333; o.shadowRoot.firstChild.scrollTop = 777;
            scrollTo(0, 130);
            document.documentElement.style.scrollBehavior = 'smooth'; }""")
        for number, frame in enumerate(page.frames[1:]):
            await frame.evaluate("top => scrollTo(0, top)", 400 + 55 * number)
        await asyncio.sleep(0.9)
        await page.locator("#b").click()

    session = recording_browser.record(user_actions, url=site.origin + "/#two")
    (turn,) = [turn for turn in session.turns if turn["intent"] == "click"]

    async def rendered() -> bytes:
        context = await recording_browser.browser.new_context(offline=True, viewport={"width": 800, "height": 600})
        page = await context.new_page()
        await page.set_content(render(session.recording, turn["state"]))
        await page.evaluate(PAGE_READY)
        content = await page.screenshot()
        await context.close()
        return content

    shown = cv2.imdecode(np.frombuffer(recording_browser.run(rendered()), np.uint8), 1)
    assert ssim(*(cv2.cvtColor(each, cv2.COLOR_BGR2GRAY) for each in (shown, picture(session, turn)))) > 0.98


def test_pictures_are_whole_however_many_tabs_are_opened(recording_browser, site):
    """Playwright makes the window smaller at each tab that a link opens."""
    site.pages |= {"/": "<a id=a href='/two'>Two</a><p>One", "/two": "<button id=b>B</button>"}

    async def user_actions(page):
        for _ in range(3):
            async with page.context.expect_page() as opening:
                await page.locator("#a").click(modifiers=["Control"])
            other = await opening.value
            await other.bring_to_front()
            await asyncio.sleep(0.9)
            await other.mouse.click(20, 20)
            await other.close()
            await page.bring_to_front()
            await asyncio.sleep(0.9)
            await page.mouse.click(300, 300)

    session = recording_browser.record(user_actions, url=site.origin + "/")
    clicks = [turn for turn in session.turns if turn["intent"] == "click"]
    assert len(clicks) == 9
    assert [picture(session, turn).shape[:2] for turn in clicks] == [(600, 800)] * 9


def test_a_strict_policy_is_no_hindrance(recording_browser, site):
    site.headers["Content-Security-Policy"] = ("default-src 'none'; require-trusted-types-for 'script'; "
                                               "trusted-types 'none'; style-src 'none'")
    site.pages["/"] = "<button id=b>B</button><input id=i>"

    async def user_actions(page):
        await page.locator("#b").click()
        await page.locator("#i").click()
        await page.keyboard.type("x")

    session = recording_browser.record(user_actions, url=site.origin + "/")
    assert [turn["intent"] for turn in session.turns] == ["load", "click", "click", "textInput"]
    assert session.console == [] and session.problems == []


def test_acting_in_one_tab_while_another_paints(recording_browser, site):
    site.pages["/"] = ("<body style='background:red'><script>let n = 0; setInterval(() => document.title = n++, 10);"
                       "requestAnimationFrame(function f() { document.body.style.paddingTop = n % 9 + 'px';"
                       "requestAnimationFrame(f) })</script>")
    site.pages["/two"] = "<body style='background:blue'><button id=b>B</button>"

    async def user_actions(page):
        second = await page.context.new_page()
        await second.goto(site.origin + "/two")
        await painted(second)
        await recording_browser.seen(2)
        await second.locator("#b").click()

    session = recording_browser.record(user_actions, url=site.origin + "/")
    (turn,) = [turn for turn in session.turns if turn["intent"] == "click"]
    assert turn["state"]["tab"] == 2 and turn["state"]["url"].endswith("/two")
    blue, _, red = picture(session, turn)[500, 500]
    assert blue > 200 and red < 50


def test_a_click_while_a_script_blocks_the_load(recording_browser, site):
    def slow(request):
        import time
        time.sleep(1.5)
        return "text/javascript", b""

    site.pages |= {"/": "<button id=b onclick='window.hit = 1'>B</button>", "/slow.js": slow,
                   "/two": "<button id=b>Early</button><script src='/slow.js'></script><p>Late</p>"}

    async def user_actions(page):
        await page.goto(site.origin + "/two", wait_until="commit")
        await page.locator("#b").wait_for()
        await asyncio.sleep(0.3)
        await page.mouse.click(20, 20)
        await page.wait_for_load_state()

    session = recording_browser.record(user_actions, url=site.origin + "/")
    (turn,) = [turn for turn in session.turns if turn["intent"] == "click"]
    dom = session.recording.blob(turn["state"]["dom"]).decode()
    assert turn["element"]["tag"] == "button" and "Early" in dom and "Late" not in dom


def test_a_page_that_asks_before_it_is_left(recording_browser, site):
    site.pages |= {"/": "<button id=b>B</button><script>onbeforeunload = e => e.preventDefault()</script>",
                   "/two": "<p>Two</p>"}

    async def user_actions(page):
        page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.accept()))
        await page.locator("#b").click()
        await page.goto(site.origin + "/two")

    session = recording_browser.record(user_actions, url=site.origin + "/")
    dialogs = [turn["arguments"] for turn in session.turns if turn["intent"] == "dialog"]
    assert [(dialog["kind"], dialog["accepted"]) for dialog in dialogs] == [("beforeunload", True)]


def test_fifty_thousand_elements_stay_usable(recording_browser, site):
    site.pages["/"] = "<ul>" + "".join(f"<li>Item <b>{number}</b></li>" for number in range(25000)) + "</ul>"

    async def user_actions(page):
        for _ in range(20):
            await page.mouse.click(60, 300)
            await asyncio.sleep(0.1)

    session = recording_browser.record(user_actions, url=site.origin + "/")
    clicks = [turn for turn in session.turns if turn["intent"] == "click"]
    assert len(clicks) == 20
    assert session.recording.blob(clicks[-1]["state"]["dom"]).count(b"<li") == 25000


def test_values_and_scroll_offsets_set_by_script_are_in_the_snapshot(recording_browser, site):
    site.pages["/"] = ("<input id=i><select id=s><option>a<option id=o>b</select><textarea id=t></textarea>"
                       "<input type=checkbox id=c><div id=d style='height:40px;overflow:auto'><p style='height:900px'>"
                       "</div><button id=b>B</button>")

    async def user_actions(page):
        await asyncio.sleep(0.5)
        await page.evaluate("() => { i.value = 'set'; s.selectedIndex = 1; t.value = '<x>'; c.checked = true;"
                            "d.scrollTop = 33; document.adoptedStyleSheets = [Object.assign(new CSSStyleSheet())];"
                            "document.adoptedStyleSheets[0].insertRule('p { color: rgb(1, 2, 3) }') }")
        await painted(page)
        await page.locator("#b").click()

    session = recording_browser.record(user_actions, url=site.origin + "/")
    (turn,) = [turn for turn in session.turns if turn["intent"] == "click"]
    page = lxml.html.fromstring(session.recording.blob(turn["state"]["dom"]))
    assert page.get_element_by_id("i").get("value") == "set"
    assert page.get_element_by_id("o").get("selected") is not None
    assert page.get_element_by_id("t").text.strip() == "<x>"
    assert page.get_element_by_id("c").get("checked") is not None
    assert page.get_element_by_id("d").get("data-demotape-scroll") == "0,33"
    assert "rgb(1, 2, 3)" in page.xpath("//style[@data-demotape-adopted]/text()")[0]


ZOOMER = {"manifest.json": json.dumps({"manifest_version": 3, "name": "zoomer", "version": "1",
                                       "background": {"service_worker": "worker.js"}}), "worker.js": ""}


def test_zoom_and_device_pixel_ratio(recording_browser, site, tmp_path):
    """As a person zooms with Ctrl +: only an extension can do that to a browser without a window."""
    site.pages["/"] = "<button id=b style='position:absolute;left:100px;top:80px;width:90px;height:40px'>B</button>"
    extension = tmp_path / "zoomer"
    extension.mkdir()
    for name, text in ZOOMER.items():
        (extension / name).write_text(text)

    async def record():
        playwright = await async_playwright().start()
        context = await playwright.chromium.launch_persistent_context(
            tmp_path / "profile", executable_path=find_chromium(playwright.chromium.executable_path), headless=True,
            viewport={"width": 800, "height": 600}, device_scale_factor=1, ignore_default_args=["--disable-extensions"],
            args=["--no-sandbox", f"--disable-extensions-except={extension}", f"--load-extension={extension}"])
        try:
            worker = context.service_workers[0] if context.service_workers else (
                await context.wait_for_event("serviceworker"))
            page = context.pages[0]
            async with Recorder(context, tmp_path / "rec"):
                await page.goto(site.origin + "/")
                for zoom in (1, 1.5, 1):
                    await worker.evaluate("""async (zoom) => {
                        for (const { id } of await chrome.tabs.query({})) chrome.tabs.setZoom(id, zoom); }""", zoom)
                    await page.wait_for_function("(zoom) => devicePixelRatio === zoom", arg=zoom)
                    await painted(page)
                    await page.mouse.click(145, 100)
        finally:
            await context.close()
            await playwright.stop()

    recording_browser.run(record())
    recording = Recording(tmp_path / "rec")
    clicks = [turn for turn in fold(recording.events) if turn["intent"] == "click"]
    assert [turn["state"]["zoom"] for turn in clicks] == [1, 1.5, 1]
    assert [turn["state"]["device_pixel_ratio"] for turn in clicks] == [1, 1.5, 1]
    for turn in clicks:
        assert turn["element"]["bbox"] == {"x": 100, "y": 80, "width": 90, "height": 40}
        assert (turn["arguments"]["x"], turn["arguments"]["y"]) == pytest.approx((145, 100), abs=1)


def test_the_table_follows_what_changes_before_a_text_is_put_together_again(recording_browser, site):
    site.pages["/"] = """<!DOCTYPE html><body><div id=a><div id=b><button id=c>One</button></div></div><script>
      let count = 0;
      setInterval(() => { b.title = count++; c.focus(); c.blur() }, 1);
      addEventListener('pointerdown', () => { a.setAttribute('aria-label', `name ${count}`); a.role = 'button' })
    </script>"""

    async def user_actions(page):
        for _ in range(8):
            await page.mouse.click(30, 15)
            await page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 20)))")

    recording = recording_browser.record(user_actions, url=site.origin + "/").recording
    states = [event["state"] for event in recording.events if event["type"] == "pointerdown"]
    for state in states:
        outer = lxml.html.fromstring(recording.blob(state["dom"])).get_element_by_id("a")
        rows = {row["uid"]: row for row in json.loads(recording.blob(state["elements"]))}
        assert rows[outer.get("data-demotape-uid")]["name"] == outer.get("aria-label", "")


@pytest.mark.parametrize("size", [(800, 600), (640, 480)])
def test_another_screen_is_no_zoom(recording_browser, site, tmp_path, size):
    """A driver sets the screen that it emulates when the recording has looked at the page before."""
    site.pages["/"] = "<button id=b style='position:absolute;left:100px;top:80px;width:90px;height:40px'>B</button>"

    async def record():
        context = await recording_browser.browser.new_context(viewport={"width": 800, "height": 600})
        async with Recorder(context, tmp_path / "rec"):
            page = await context.new_page()
            await page.goto(site.origin + "/")
            await painted(page)
            await page.mouse.click(145, 100)
            session = await context.new_cdp_session(page)
            await session.send("Emulation.setDeviceMetricsOverride", {
                "width": size[0], "height": size[1], "deviceScaleFactor": 2, "mobile": False})
            await page.wait_for_function("devicePixelRatio === 2")
            for _ in range(2):
                await page.mouse.click(145, 100)
                await asyncio.sleep(0.5)
        await context.close()

    recording_browser.run(record())
    clicks = [turn["state"] for turn in fold(Recording(tmp_path / "rec").events) if turn["intent"] == "click"]
    assert [(state["zoom"], state["device_pixel_ratio"]) for state in clicks] == [(1, 1), (1, 2), (1, 2)]
    assert not clicks[-1]["stale"]


def test_a_name_by_elements_that_a_script_has_set(recording_browser, site):
    site.pages["/"] = ("<p id=l>First</p><p id=m>name</p><button id=b>B</button>"
                       "<script>b.ariaLabelledByElements = [l, m]</script>")
    session = recording_browser.record(lambda page: page.click("#b"), url=site.origin + "/")
    (turn,) = [turn for turn in session.turns if turn["intent"] == "click"]
    assert turn["element"]["name"] == row_of(session, turn)["name"] == "First name"
