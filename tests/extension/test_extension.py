"""The extension in a real Chromium: what it records is whole, from before each effect, and leaves no trace."""

import asyncio
import json
import re
import subprocess
import zipfile

import av
import cv2
import numpy as np
import pytest
from playwright.async_api import async_playwright

from demotape.site import miniwob_folder, serve
from pipeline import process
from pipeline.turns.folding import fold
from pipeline.verify import verify
from tests.recorder.browser.test_navigations import OPENERS, WAYS
from tests.recorder.browser.test_recorder import FLIP, act
from tests.support.checkout import ROOT
from tests.support.chrome import Chrome, Panel, launch
from tests.support.samples.sessions import painted


def pictures(session) -> list[np.ndarray]:
    """Every picture that a recording holds: screenshots and frames of the video."""
    recording = session.recording
    found = [cv2.imdecode(np.frombuffer(recording.blob(event["state"]["screenshot"]), np.uint8), 1)
             for event in recording.events if event["state"] and event["state"]["screenshot"]]
    with av.open(str(recording.layout.video)) as video:
        return found + [frame.to_ndarray(format="bgr24") for frame in video.decode(video=0)]


def package_of(chrome) -> bytes:
    """All that the last package holds, unpacked."""
    with zipfile.ZipFile(chrome.folder / f"{chrome.count}.zip") as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


def test_a_page_that_another_one_opened_was_not_asked_for_by_address(chrome, site):
    site.pages |= {"/": OPENERS, "/next": "<title>Next</title><p>Next"}

    async def user_actions(page):
        for way, options in WAYS.items():
            async with page.context.expect_page() as opened:
                await page.click(f"#{way}" if not options else "#plain", **options)
            await (await opened.value).locator("p").wait_for()
            await (await opened.value).close()

    recording = chrome.record(user_actions, url=site.origin + "/", task="See the other page").recording
    loads = [turn["arguments"]["url"] for turn in fold(recording.events) if turn["intent"] == "load"]
    assert loads == [site.origin + "/"]


def test_a_session_is_whole_and_has_the_right_turns(chrome, site):
    site.pages |= {"/": "<link rel=stylesheet href=/s.css><label>Name <input id=n></label><a id=a href=/two>Two</a>",
                   "/two": "<title>Two</title><h1>Two</h1><img src=/dot.svg>",
                   "/s.css": ("text/css", b"a { display: block; margin-top: 200px }"),
                   "/dot.svg": ("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>")}

    async def user_actions(page):
        await page.locator("#n").click()
        await page.keyboard.type("Ada")
        await chrome.panel.ask("say", speaker="instructor", utterance="Now the other page")
        await page.locator("#a").click()
        await page.wait_for_url("**/two")
        await painted(page)
        await page.locator("h1").click()

    session = chrome.record(user_actions, url=site.origin + "/", task="See the other page")
    root = session.recording.layout.root
    assert session.problems == [] and verify(root) == []
    turns = process(root)["turns"]
    assert [turn.get("intent", "say") for turn in turns] == ["load", "click", "textInput", "say", "click", "click"]
    assert all(turn["state"]["screenshot"] for turn in turns if turn.get("intent") in ("click", "textInput"))
    assert session.recording.task == "See the other page"
    kinds = {resource["url"].rpartition("/")[2]: resource["content_type"] for resource in session.recording.resources()}
    assert kinds == {"s.css": "text/css", "dot.svg": "image/svg+xml"}
    with av.open(str(session.recording.layout.video)) as video:
        times = [float(frame.pts * frame.time_base) for frame in video.decode(video=0)]
    assert times == sorted(times) and len(times) >= 3 and times[-1] < 60


def test_picture_and_dom_are_from_before_the_effect(chrome, site):
    site.pages["/"] = FLIP

    async def user_actions(page):
        for _ in range(20):
            await page.mouse.click(200, 200)
            await painted(page)  # about 0.1 s; longer on a machine that paints late, for then nobody saw it yet

    session = chrome.record(user_actions, url=site.origin + "/")
    clicks = [turn for turn in session.turns if turn["intent"] == "click"]
    assert len(clicks) == 20
    for number, turn in enumerate(clicks):
        state = turn["state"]
        blue, _, red = cv2.imdecode(np.frombuffer(session.recording.blob(state["screenshot"]), np.uint8), 1)[300, 400]
        assert f">{number}</p>" in session.recording.blob(state["dom"]).decode()
        assert state["stale"] or (blue > red) == bool(number % 2), number
        assert state["screenshot_time"] <= turn["timestamp"]
    assert sum(not turn["state"]["stale"] for turn in clicks) >= 15  # frames that a busy machine brings late say so


@pytest.mark.parametrize("name", ["login-user", "choose-list"])
def test_the_page_is_the_same_with_and_without_the_extension(chrome, recording_browser, name):
    with serve(miniwob_folder()) as origin:
        url = f"{origin}/miniwob/{name}.html"

        async def unrecorded():
            context = await recording_browser.browser.new_context(viewport={"width": 800, "height": 600})
            page = await context.new_page()
            await page.goto(url)
            await painted(page)
            seen = await act(page)
            await context.close()
            return seen

        assert chrome.record(act, url=url).answer == recording_browser.run(unrecorded())


SECRET = ("<body style='margin:0;background:#0a0'><input id=p type=password style='position:absolute;"
          "left:50px;top:40px;width:300px;height:40px;font-size:30px;background:#fff'>"
          "<button id=show style='position:absolute;top:120px' onclick=\"p.type = 'text'\">Show</button>"
          "<p id=hello style='position:absolute;top:200px;color:#0a0'></p><script>p.oninput = () => "
          "{ if (p.value.length > 6) hello.textContent = 'Hello ' + p.value }</script>"
          "<a id=away href='/two' onclick=\"location = '/two?q=' + p.value; return false\" "
          "style='position:absolute;top:240px'>Go</a>"
          "<div data-demotape-mask style='position:absolute;top:300px;background:#fff'>Account 998877</div>")


def test_a_secret_never_reaches_the_package(chrome, site):
    site.pages |= {"/": SECRET, "/two": "<h1>Two</h1>"}

    async def user_actions(page):
        await page.locator("#p").click()
        await page.keyboard.type("MMhunter2M")
        await page.locator("#show").click()
        await painted(page)
        await page.mouse.click(600, 500)
        await page.keyboard.press("Control+a")
        await page.locator("#away").click()
        await page.wait_for_url("**/two**")
        await painted(page)
        await page.mouse.click(600, 500)

    session = chrome.record(user_actions, url=site.origin + "/")
    kept = package_of(chrome)
    for secret in (b"hunter2", b"MMhunt", b"unter2", b"998877"):
        assert secret not in kept
    assert b"[REDACTED]" in kept
    shown = [picture for picture in pictures(session) if picture[500, 700, 1] > 120 > picture[500, 700, 2]]
    assert len(shown) > 8
    for picture in shown:
        assert picture[50:70, 60:340].max() < 60
        assert picture[302:312, 4:60].max() < 60


def test_nothing_of_a_pause_is_kept(chrome, site):
    site.pages |= {"/": "<button id=a>A</button><button id=b>B</button><button id=c>C</button>",
                   "/private": "<title>Private</title><button id=p>Privately</button>"}

    async def user_actions(page):
        await page.locator("#a").click()
        await chrome.panel.ask("pause")
        await page.locator("#b").click()
        await page.goto(site.origin + "/private")
        await page.locator("#p").click()
        await page.goto(site.origin + "/")
        await chrome.panel.ask("resume")
        await painted(page)
        await page.locator("#c").click()

    session = chrome.record(user_actions, url=site.origin + "/")
    assert b"rivate" not in package_of(chrome)
    assert [turn["element"]["attributes"]["id"] for turn in session.turns if turn["element"]] == ["a", "c"]
    types = [event["type"] for event in session.recording.events if event["type"] in ("pause", "resume")]
    assert types == ["pause", "resume"]
    assert verify(session.recording.layout.root) == []


def test_a_document_can_be_recorded_twice(chrome, site):
    """Also what a page has sent already is sent again, with the frames in it."""
    site.pages["/"] = "<button id=a>A</button><iframe srcdoc='<button id=b>B</button>'></iframe>"

    async def user_actions(page):
        await page.locator("#a").click()
        await chrome.panel.ask("stop")
        await page.locator("#a").click()  # of no recording
        started = await chrome.panel.ask("start", task="again", window=await chrome.panel.window_of(page))
        await page.frames[1].locator("#b").click()
        await page.locator("#a").click()
        await chrome.panel.ask("stop")
        return await chrome.panel.package(started["id"], chrome.folder / "again.zip")

    again = chrome.read(chrome.record(user_actions, url=site.origin + "/").answer, chrome.folder / "again")
    assert [turn["element"]["attributes"]["id"] for turn in again.turns] == ["b", "a"]
    for turn in again.turns:
        document = again.recording.blob(turn["state"]["dom"]).decode()
        assert ">A</button>" in document and "&gt;B&lt;/button&gt;" in document
    assert verify(again.recording.layout.root) == []


def test_what_is_outside_of_the_window_is_not_recorded(chrome, site):
    site.pages |= {"/": "<button id=a>A</button>", "/other": "<button id=o>Other</button>"}

    async def user_actions(page):
        async with chrome.context.expect_page() as opened:
            await chrome.panel.page.evaluate("url => chrome.windows.create({url})", site.origin + "/other")
        other = await opened.value
        await other.locator("#o").click()
        await page.locator("#a").click()
        registered = "chrome.scripting.getRegisteredContentScripts().then(scripts => scripts.length)"
        during = await chrome.panel.page.evaluate(registered)
        await chrome.panel.ask("stop")
        return during, await chrome.panel.page.evaluate(registered)

    session = chrome.record(user_actions, url=site.origin + "/")
    assert b"/other" not in package_of(chrome) and b"Other" not in package_of(chrome)
    assert [turn["intent"] for turn in session.turns] == ["load", "click"]
    assert session.answer == (1, 0)  # without a recording nothing of ours runs in any page


def test_a_page_that_comes_back_from_the_cache_is_heard_once(recording_browser, site, tmp_path):
    """Trap 26 as Chrome really does it: the page was kept as it was, and its line to the offscreen document was cut."""
    site.pages |= {"/": "<a id=a href='/two'>Two</a><button id=b>B</button><script>onpageshow = event => "
                        "{ document.title = event.persisted }</script>", "/two": "<title>Two</title><h1>Two</h1>"}

    async def work():
        async with async_playwright() as playwright:
            context = await launch(playwright, tmp_path / "profile", without=["--disable-back-forward-cache"])
            async with Panel(context) as panel:
                page = context.pages[0]
                started = await panel.ask("start", task="", window=await panel.window_of(page))
                await page.goto(site.origin + "/")
                await painted(page)
                await page.locator("#a").click()
                await page.wait_for_url("**/two")
                await painted(page)
                await page.evaluate("history.back()")
                await page.wait_for_function("document.title === 'true'")
                await painted(page)
                await page.mouse.click(*await page.evaluate(
                    "(() => { const {x, y} = b.getBoundingClientRect(); return [x + 5, y + 5] })()"))
                await panel.ask("stop")
                await panel.package(started["id"], tmp_path / "p.zip")
            await context.close()

    recording_browser.run(work())
    session = Chrome(recording_browser.runner, None, None, tmp_path).read(tmp_path / "p.zip", tmp_path / "rec")
    assert session.problems == [] and verify(tmp_path / "rec") == []
    assert [turn["intent"] for turn in session.turns] == ["load", "click", "back", "click"]
    assert ">B</button>" in session.recording.blob(session.turns[-1]["state"]["dom"]).decode()
    with zipfile.ZipFile(tmp_path / "p.zip") as archive:
        lines = [json.loads(line) for line in archive.read("journal.jsonl").splitlines()]
    told = [(line["document"], line["sent"], json.dumps(line["message"])) for line in lines if line["kind"] == "page"]
    assert len(set(told)) == len(told)  # what was not acknowledged yet is told again, and kept once


def test_a_step_within_a_document_has_its_own_time_after_a_navigation_that_led_nowhere(chrome, site):
    site.pages |= {"/": "<a id=file href=/file>File</a><button id=b>Press</button>",
                   "/file": ("application/octet-stream", b"file")}

    async def user_actions(page):
        await page.evaluate("history.pushState({}, '', '/part')")
        async with page.expect_download():
            await page.click("#file")
        await page.click("#b")
        await page.evaluate("history.back()")
        await page.wait_for_url(site.origin + "/")
        await page.click("#b")

    session = chrome.record(user_actions, url=site.origin + "/")
    assert [turn["intent"] for turn in session.turns] == ["load", "click", "click", "back", "click"]


def test_the_journal_has_no_gap(chrome, site):
    site.pages["/"] = FLIP

    async def user_actions(page):
        for _ in range(10):
            await page.mouse.click(200, 200)

    chrome.record(user_actions, url=site.origin + "/")
    with zipfile.ZipFile(chrome.folder / f"{chrome.count}.zip") as archive:
        numbers = [json.loads(line)["n"] for line in archive.read("journal.jsonl").splitlines()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_its_types_agree():
    done = subprocess.run([ROOT / "node_modules" / ".bin" / "tsc", "--project", ROOT], capture_output=True, text=True)
    assert done.stdout == "" and done.returncode == 0


def test_a_good_picture_shows_the_target_in_its_box_also_when_it_was_just_scrolled_to(chrome, site):
    colours = [(40 + n * 53 % 200, 40 + n * 97 % 200, 40 + n * 31 % 200) for n in range(30)]
    site.pages["/"] = "<!DOCTYPE html><body style='margin:0'>" + "".join(
        f"<p style='margin:40px'><button id=b{number} style='background:rgb{colour};width:120px;height:60px;border:0;"
        "outline:0'></button></p>" for number, colour in enumerate(colours))

    async def user_actions(page):
        for number in (25, 2, 14, 29, 0, 19, 5, 27, 11, 22, 3, 17):
            await page.locator(f"#b{number}").click()
            await asyncio.sleep(0.5)  # in which a picture may come that shows the state before

    session = chrome.record(user_actions, url=site.origin + "/")
    clicks = [turn for turn in session.turns if turn["intent"] == "click"]
    good = [turn for turn in clicks if turn["state"]["screenshot_status"] == "good"]
    assert len(clicks) == 12 and len(good) >= 4
    assert all(turn["state"]["stale_because"] in ("moved", "late") for turn in clicks if turn not in good)
    for turn in good:
        picture = cv2.imdecode(np.frombuffer(session.recording.blob(turn["state"]["screenshot"]), np.uint8), 1)
        box, expected = turn["element"]["bbox"], colours[int(turn["element"]["attributes"]["id"][1:])]
        seen = picture[int(box["y"]) + 10, int(box["x"] + box["width"] / 2)][::-1]
        # The stream's colours are rounded, and under load more so: it is the target's if it is no other's.
        apart = {colour: np.abs(seen.astype(int) - colour).max() for colour in (*colours, (255, 255, 255))}
        assert min(apart, key=apart.get) == expected and apart[expected] < 30, (turn["id"], apart[expected])


def test_every_language_of_the_app_has_every_text_of_the_manifest():
    texts = {path.parent.name: json.loads(path.read_text(encoding="utf-8"))
             for path in (ROOT / "extension" / "_locales").glob("*/messages.json")}
    languages = {path.name for path in (ROOT / "curator_web" / "translations").iterdir() if path.is_dir()}
    assert {name.replace("zh_CN", "zh_Hans") for name in texts} == languages | {"en"}
    named = set(re.findall(r"__MSG_(\w+)__", (ROOT / "extension" / "manifest.json").read_text(encoding="utf-8")))
    assert all(set(messages) == named and all(entry["message"] for entry in messages.values())
               for messages in texts.values())
