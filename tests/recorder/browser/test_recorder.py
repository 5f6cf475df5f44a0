"""The recorder leaves the page alone, shows the state before each effect, keeps secrets out, survives a kill."""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap

import av
import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from demotape.cli import main
from demotape.site import miniwob_folder, serve
from pipeline.turns.folding import fold
from pipeline.verify import verify
from recorder import Recorder, Recording
from schemas import InputError
from tests.conftest import painted
from tests.support.samples.endless_recording import RECORD_FOREVER
from tests.support.waiting import wait_until_async

# What a page can see of itself: its whole DOM as text, and every name on its window.
SERIALISE = """() => [new XMLSerializer().serializeToString(document),
    [...document.querySelectorAll('*')].map(e => Object.keys(e).join()).join('|'),
    Object.getOwnPropertyNames(window).sort().join()]"""


async def act(page):
    """Book-keeping on a miniwob page: clicks, typing, keys, wheel."""
    await page.evaluate("() => { Math.seedrandom('1'); core.EPISODE_MAX_TIME = 1e9 }")
    await page.mouse.click(80, 100)
    await painted(page)
    await page.mouse.click(60, 90)
    await page.keyboard.type("abc")
    await page.keyboard.press("Tab")
    await page.mouse.move(20, 30, steps=4)
    await page.mouse.wheel(0, 30)
    await painted(page)
    await page.evaluate("clearInterval(core.CD_TIMER)")
    timer = await page.evaluate("document.querySelector('#timer-countdown').textContent")
    seen = await page.evaluate(SERIALISE)
    # what is random in the page itself: its clock, jQuery's key
    return [re.sub(r"jQuery\d+", "jQuery", text.replace(timer, "")) for text in seen]


@pytest.mark.parametrize("name", ["login-user", "choose-list", "book-flight", "email-inbox"])
def test_the_page_is_the_same_with_and_without_the_recorder(recording_browser, name):
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

        assert recording_browser.record(act, url=url).answer == recording_browser.run(unrecorded())


FLIP = """<!DOCTYPE html><body style="margin:0;background:rgb(255,0,0)"><p id=n>0</p><script>
addEventListener('mousedown', () => { n.textContent++;
  document.body.style.background = n.textContent % 2 ? 'rgb(0,0,255)' : 'rgb(255,0,0)'; });</script>"""


def test_picture_and_dom_are_from_before_the_effect(recording_browser, site):
    site.pages["/"] = FLIP

    async def user_actions(page):
        for _ in range(20):
            await page.mouse.click(200, 200)
            await painted(page)  # about 0.1 s; longer on a machine that paints late, for then nobody saw it yet

    session = recording_browser.record(user_actions, url=site.origin + "/")
    begun = {event["seq"] for event in session.recording.events if event["gesture"] is None}
    assert all(event["gesture"] in begun for event in session.recording.events if event["gesture"] is not None)
    clicks = [turn for turn in session.turns if turn["intent"] == "click"]
    assert len(clicks) == 20
    for number, turn in enumerate(clicks):
        dom = session.recording.blob(turn["state"]["dom"]).decode()
        picture = cv2.imdecode(np.frombuffer(session.recording.blob(turn["state"]["screenshot"]), np.uint8), 1)
        blue, _, red = picture[300, 400]
        assert f">{number}</p>" in dom
        assert (blue > red) == bool(number % 2), number


def test_threads_take_quick_turns_only_while_something_is_recorded(recording_browser, site):
    site.pages["/"] = "<button>One</button>"
    usual = sys.getswitchinterval()

    async def user_actions(page):
        return sys.getswitchinterval()

    async def refused(context, folder):
        with pytest.raises(InputError):
            async with Recorder(context, folder):
                raise AssertionError("a folder that holds a recording was taken")

    session = recording_browser.record(user_actions, url=site.origin + "/")
    assert session.answer < usual
    assert sys.getswitchinterval() == usual
    context = recording_browser.run(recording_browser.browser.new_context())
    unused = Recorder(context, session.recording.layout.root.parent / "unused")
    recording_browser.run(refused(context, session.recording.layout.root))
    recording_browser.run(context.close())
    assert sys.getswitchinterval() == usual
    assert not unused.directory.exists()


def test_a_secret_never_reaches_the_disk(recording_browser, site):
    site.pages["/"] = ("<input id=p type=password><button id=show onclick=\"p.type = 'text'\">Show</button>"
                       "<input id=o autocomplete=one-time-code><div data-demotape-mask>Account 998877</div>")

    async def user_actions(page):
        await page.locator("#p").click()
        await page.keyboard.type("hunter2!")
        await page.locator("#show").click()
        await page.locator("#p").click()
        await page.keyboard.type("X9")
        await page.keyboard.press("Control+a")
        await page.keyboard.press("Control+c")
        await page.locator("#o").click()
        await page.keyboard.type("314159")

    session = recording_browser.record(user_actions, url=site.origin + "/")
    layout = session.recording.layout
    blobs = [session.recording.blob(path.name) for path in layout.blobs.rglob("*") if path.is_file()]
    # What is compressed may have any two bytes somewhere.
    kept = layout.events.read_bytes() + b"".join(blob for blob in blobs if not blob.startswith(b"\x89PNG"))
    for secret in (b"hunter2", b"unter2", b"hunter", b"X9", b"314159", b"31415", b"998877"):
        assert secret not in kept
    assert [turn["arguments"]["text"] for turn in session.turns if turn["intent"] == "textInput"] == ["[REDACTED]"] * 3


def test_a_secret_is_not_readable_in_pixels(recording_browser, site):
    site.pages["/"] = ("<body style='margin:0;background:#0a0'><input id=p type=password style='position:absolute;"
                       "left:50px;top:40px;width:300px;height:40px;font-size:30px;background:#fff'>"
                       "<button id=show style='position:absolute;top:120px' onclick=\"p.type = 'text'\">Show</button>"
                       "<div data-demotape-mask style='position:absolute;top:300px;background:#fff'>Account 1</div>")

    async def user_actions(page):
        await page.mouse.click(100, 60)
        await page.keyboard.type("MMMM")
        await page.mouse.click(20, 130)
        await painted(page)
        await page.mouse.click(600, 500)

    session = recording_browser.record(user_actions, url=site.origin + "/")
    pictures = [cv2.imdecode(np.frombuffer(session.recording.blob(event["state"]["screenshot"]), np.uint8), 1)
                for event in session.recording.events if event["state"] and "127" in event["state"]["url"]]
    with av.open(str(session.recording.layout.video)) as video:
        pictures += [frame.to_ndarray(format="bgr24") for frame in video.decode(video=0)]
    assert len(pictures) > 8
    for picture in pictures:
        if picture[500, 700].max() > 240:
            continue  # the empty page before
        assert picture[50:70, 60:340].max() < 60
        assert picture[302:312, 4:60].max() < 60


def test_a_killed_recorder_leaves_a_recording_that_opens(tmp_path, site):
    site.pages["/"] = FLIP
    directory = tmp_path / "rec"
    process = subprocess.Popen([sys.executable, "-c", RECORD_FOREVER, site.origin + "/", str(directory), "0.05"],
                               stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        written = 0
        while written < 13:  # on a busy machine the writer is some clicks behind
            assert process.stdout.readline()
            written = (directory / "events.jsonl").read_bytes().count(b'"type":"pointerdown"')
        assert Recording(directory).manifest["status"] == "recording"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    recording = Recording(directory)
    assert recording.manifest["status"] == "recovered"
    shown = CliRunner().invoke(main, ["check", str(directory)]).output
    assert f"recovered: its recorder was killed; events after number {recording.events[-1]['seq']} at" in shown
    clicks = [event for event in recording.events if event["type"] == "pointerdown"]
    assert len(clicks) >= 13
    for event in clicks:
        assert json.loads(recording.blob(event["state"]["elements"]))


FILL_THE_DISK = textwrap.dedent("""
    import asyncio, sys
    from playwright.async_api import async_playwright
    from recorder import Recorder
    from recorder.browser import launch
    from schemas import DemotapeError

    async def main(url, directory):
        async with async_playwright() as playwright:
            browser = await launch(playwright, headless=True)
            context = await browser.new_context()
            page = await context.new_page()
            try:
                async with Recorder(context, directory) as recorder:
                    await page.goto(url)
                    while not recorder.stopped.is_set():
                        await page.mouse.click(100, 100)
            except DemotapeError as error:
                print(error)

    asyncio.run(main(*sys.argv[1:]))
""")


def test_a_full_disk_ends_the_recording_and_keeps_what_is_there(tmp_path, site):
    site.pages["/"] = ("<canvas id=c width=900 height=600></canvas><script>addEventListener('mousedown', () => {"
                       "const g = c.getContext('2d'), d = g.createImageData(900, 600); d.data.forEach((_, i) => "
                       "d.data[i] = Math.random() * 256); g.putImageData(d, 0, 0) })</script>")
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(disk)], capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here (needs root)")
    try:
        process = subprocess.run([sys.executable, "-c", FILL_THE_DISK, site.origin + "/", str(disk / "rec")],
                                 capture_output=True, text=True, timeout=60)
        assert "the disk is full; recording stopped, the recorded part is kept" in process.stdout, process.stderr
        recording = Recording(disk / "rec")
        assert sum(event["type"] == "pointerdown" for event in recording.events) >= 1
        assert verify(disk / "rec") == []
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_provenance_that_is_none_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(InputError, match="provenance: field actor"):
        Recorder(None, tmp_path / "rec", provenance={"actor": "robot"})
    assert not (tmp_path / "rec").exists()


def test_a_folder_that_holds_a_recording_is_refused(recording_browser, tmp_path):
    async def record():
        context = await recording_browser.browser.new_context()
        try:
            async with Recorder(context, tmp_path / "rec"):
                pass
        finally:
            await context.close()

    recording_browser.run(record())
    with pytest.raises(InputError, match="already contains a recording"):
        recording_browser.run(record())


@pytest.mark.parametrize("left", [0, 1])
def test_to_close_the_last_window_is_no_action(recording_browser, site, tmp_path, left):
    site.pages |= {"/": "<h1>One</h1>", "/two": "<h1>Two</h1>"}

    async def run():
        context = await recording_browser.browser.new_context()
        async with Recorder(context, tmp_path / "rec"):
            pages = [await context.new_page() for _ in range(3)]
            for page in pages:
                await page.goto(site.origin + "/")
            await pages[0].close()
            await pages[1].mouse.click(50, 50)
            for page in pages[1:3 - left]:
                await page.close()
        await context.close()

    recording_browser.run(run())
    closed = [event["tab"] for event in Recording(tmp_path / "rec").events if event["type"] == "tabremove"]
    assert closed == ([1] if not left else [1, 2])


def test_keys_steer_where_the_person_is_and_no_page_gets_them(recording_browser, site, tmp_path):
    site.pages |= {"/": """<input id=i><button id=b>B</button><script>const heard = [];
      for (const type of ['keydown', 'keyup', 'keypress', 'input']) addEventListener(type, event => heard.push(
        event.key ?? 'input'), true)</script>"""}

    async def run():
        context = await recording_browser.browser.new_context()
        async with Recorder(context, tmp_path / "rec", keys=True) as recorder:
            async def press(key, done):
                await page.keyboard.press(key)
                await wait_until_async(done)

            page = await context.new_page()
            await page.goto(site.origin + "/")
            await page.locator("#i").click()
            await press("Alt+p", lambda: recorder.paused)
            await page.keyboard.type("secret")
            await press("Alt+p", lambda: not recorder.paused)
            await page.locator("#b").click()
            lines = []
            recorder.listeners.append(lines.append)
            await press("Alt+z", lambda: any(line.get("undone") for line in lines))
            await page.keyboard.press("Control+Alt+p")  # is another one
            await press("Alt+s", recorder.stopped.is_set)
            heard = await page.evaluate("heard")
        await context.close()
        return heard

    heard = recording_browser.run(run())
    assert {"p", "z", "s", "π"} & {*heard} == {"p", "s"} and heard.count("s") == 3, "what was typed in the pause"
    events = Recording(tmp_path / "rec").events
    keys = [event["data"]["key"] for event in events if event["type"] == "keydown"]
    assert {*keys} <= {"Alt", "Control", "p"} and keys.count("p") == 1
    turns = [turn for turn in fold(events) if turn["intent"] != "load"]
    assert [(turn["intent"], turn["dropped"]) for turn in turns][:2] == [("click", False), ("click", True)]


def test_dialogs_are_answered_as_without_the_recorder(recording_browser, site):
    site.pages["/"] = "<button id=b onclick=\"this.textContent = confirm('Sure?')\">B</button>"

    async def user_actions(page):
        await page.locator("#b").click()
        return await page.locator("#b").inner_text()

    session = recording_browser.record(user_actions, url=site.origin + "/")
    assert session.answer == "false", "Playwright dismisses what nobody listens for"
    assert [turn["arguments"]["accepted"] for turn in session.turns if turn["intent"] == "dialog"] == [False]
