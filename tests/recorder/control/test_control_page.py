"""The control page and what it steers: pause, undo, chat, the live list; it is never part of the recording itself."""

import asyncio
import re

import pytest
from playwright.async_api import async_playwright

from pipeline import process
from pipeline.verify import verify
from recorder import Recorder, Recording
from recorder.browser import launch
from recorder.building.live_list import LiveList
from recorder.control.control_page import SIZE, ControlPage
from schemas import InputError
from tests.conftest import painted
from tests.support.checkout import ROOT
from tests.support.samples.sessions import line_shown
from tests.support.waiting import wait_until_async

PAGE = """<!DOCTYPE html><title>Shop</title><body style="margin:0"><button id=buy>Buy tea</button>
<button id=sell>Sell tea</button><label>Name <input id=n></label><label>Password <input id=p type=password></label>
<label><input id=c type=checkbox>Gift</label>"""


@pytest.fixture
def stage(recording_browser, site, tmp_path):
    """Runs user actions on (recorder, page), afterwards gives the recording."""
    site.pages["/"] = PAGE
    directory = tmp_path / "rec"

    def play(user_actions):
        async def work():
            context = await recording_browser.browser.new_context(viewport={"width": 800, "height": 600})
            try:
                page = await context.new_page()
                async with Recorder(context, directory, task="Buy some tea") as recorder:
                    await page.goto(site.origin + "/")
                    await painted(page)
                    await user_actions(recorder, page)
            finally:
                await context.close()
            return Recording(directory)

        return recording_browser.run(work())

    return play


@pytest.fixture
def steer(recording_browser, stage):
    """Runs user actions on (recorder, page, control page, event that Stop sets)."""
    def play(user_actions, *, windowed=False, **options):
        async def with_control(recorder, page):
            stopped = asyncio.Event()
            async with ControlPage(recording_browser.browser, recorder, stopped.set, task="Buy some tea",
                                   windowed=windowed, **options) as control:
                await control.locator("#state", has_text="Recording").wait_for()
                await user_actions(recorder, page, control, stopped)

        return stage(with_control)

    return play


def names(events):
    return [event["target"]["name"] for event in events if event["type"] == "pointerdown"]


def turns_of(recording):
    assert verify(recording.layout.root) == []
    return process(recording.layout.root)["turns"]


async def text_of(control, expected):
    """The list of the control page once it holds the expected text."""
    await control.locator("#lines", has_text=expected).wait_for()
    return await control.locator("#lines").inner_text()


def test_nothing_is_kept_while_paused(stage):
    async def user_actions(recorder, page):
        await page.click("#buy")
        recorder.pause()
        recorder.pause()
        await page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p id=gap>while paused')")
        await page.click("#sell")
        await page.fill("#n", "unseen")
        await page.keyboard.press("Enter")
        await page.evaluate("gap.remove(); n.value = ''")
        await painted(page)
        with pytest.raises(InputError, match="paused"):
            recorder.say("navigator", "psst")
        recorder.resume()
        await page.click("#buy")
        await painted(page)

    recording = stage(user_actions)
    events = recording.events
    kinds = [event["type"] for event in events]
    assert names(events) == ["Buy tea", "Buy tea"]
    pause, resume = (events[kinds.index(kind)] for kind in ("pause", "resume"))
    assert not [event for event in events if pause["time"] < event["time"] < resume["time"]]
    assert not [event for event in events if event["state"] and event["state"]["screenshot_time"]
                and pause["time"] < event["state"]["screenshot_time"] < resume["time"]]
    layout = recording.layout
    kept = layout.events.read_bytes() + b"".join(
        recording.blob(path.name) for path in layout.blobs.rglob("*") if path.is_file())
    assert b"unseen" not in kept and b"while paused" not in kept
    assert recording.chat() == []
    assert [turn["intent"] for turn in turns_of(recording)] == ["load", "click", "click"]
    assert events[-1]["state"] is None or events[-1]["state"]["screenshot"]


def test_a_page_opened_in_a_pause_can_be_shown_after_it(stage, site):
    site.pages["/left"] = "<link rel=stylesheet href=/left.css><p>left"
    site.pages["/kept"] = "<link rel=stylesheet href=/kept.css><button>kept"
    site.pages["/left.css"] = ("text/css", b"p { color: red }")
    site.pages["/kept.css"] = ("text/css", b"button { color: green }")

    async def user_actions(recorder, page):
        recorder.pause()
        await page.goto(site.origin + "/left")
        await page.goto(site.origin + "/kept")
        await painted(page)
        recorder.resume()
        await page.click("button")

    recording = stage(user_actions)
    assert [resource["url"] for resource in recording.resources()] == [site.origin + "/kept.css"]


def test_what_the_browser_has_since_a_pause_is_kept_when_it_is_shown_after_it(stage, site):
    site.headers["Cache-Control"] = "max-age=1000"
    site.pages["/styled"] = "<link rel=stylesheet href=/styled.css><button>styled"
    site.pages["/styled.css"] = ("text/css", b"button { color: green }")

    async def user_actions(recorder, page):
        recorder.pause()
        await page.goto(site.origin + "/styled")
        await page.goto(site.origin + "/")
        recorder.resume()
        await painted(page)
        assert site.pages.pop("/styled.css")  # from now on only the browser has it
        await page.goto(site.origin + "/styled")
        await painted(page)
        await page.click("button")

    recording = stage(user_actions)
    assert [resource["url"] for resource in recording.resources()] == [site.origin + "/styled.css"]


def test_what_is_said_becomes_a_chat_turn_in_its_place(stage):
    async def user_actions(recorder, page):
        recorder.say("instructor", "  Buy the tea ")
        await page.click("#buy")
        await asyncio.sleep(0.05)
        recorder.say("navigator", "Done")
        for speaker, utterance in (("navigator", " "), ("stranger", "Hi")):
            with pytest.raises(InputError):
                recorder.say(speaker, utterance)

    recording = stage(user_actions)
    assert [line["utterance"] for line in recording.chat()] == ["Buy the tea", "Done"]
    told = [turn.get("utterance", turn.get("intent")) for turn in turns_of(recording)]
    assert told == ["load", "Buy the tea", "click", "Done"]


def test_an_undone_turn_is_dropped_and_what_is_done_anew_is_not(stage):
    lines = [{}]

    async def user_actions(recorder, page):
        recorder.listeners.append(lines.append)
        await page.click("#buy")
        await page.click("#n")
        await page.keyboard.type("tae")
        await line_shown(lines, "textInput", "Name")
        assert recorder.undo_last()
        await page.keyboard.press("Control+a")
        await page.keyboard.type("tea")
        await page.click("#sell")
        await line_shown(lines, "click", "Sell tea")
        assert recorder.undo_last()

    turns = turns_of(stage(user_actions))
    told = [(turn["intent"], (turn["element"] or {}).get("name"), turn["dropped"]) for turn in turns]
    assert told == [("load", None, False), ("click", "Buy tea", False), ("click", "Name", False),
                    ("textInput", "Name", True), ("press", "Name", False), ("textInput", "Name", False),
                    ("click", "Sell tea", True)]
    assert [turn["arguments"]["text"] for turn in turns if turn["intent"] == "textInput"] == ["tae", "tea"]


def test_a_listener_that_fails_costs_no_event(stage):
    async def user_actions(recorder, page):
        recorder.listeners.append(lambda message: 1 / 0)
        await page.click("#buy")
        await wait_until_async(lambda: recorder.problems)  # Playwright's click returns before the event is reported
        assert "listener" in recorder.problems[0]

    assert names(stage(user_actions).events) == ["Buy tea"]


def test_undoing_twice_takes_back_two(stage):
    async def user_actions(recorder, page):
        for element in ("#buy", "#c", "#sell"):
            await page.click(element)
            await asyncio.sleep(0.1)
        assert recorder.undo_last() > recorder.undo_last()
        assert recorder.undo_last() and recorder.undo_last() and recorder.undo_last() is None

    assert [turn["dropped"] for turn in turns_of(stage(user_actions))] == [True] * 4


def test_the_list_tells_targets_and_never_what_was_typed(steer):
    seen = {}

    async def user_actions(recorder, page, control, stopped):
        await page.click("#buy")
        await page.click("#p")
        await page.keyboard.type("hunter2!")
        await page.click("#n")
        await page.keyboard.type("qwertz")
        await page.keyboard.press("Backspace")
        await page.click("#c")
        await page.keyboard.press("Escape")
        seen["list"] = await text_of(control, "Escape")
        seen["html"] = await control.content()
        seen["end"] = await control.evaluate("list.scrollTop + list.clientHeight >= list.scrollHeight - 1")
        await control.reload()
        seen["again"] = await text_of(control, "Escape")

    steer(user_actions)
    lines = [line for line in seen["list"].split("\n") if line and not re.fullmatch(r"\d+:\d+", line)]
    assert lines == ["Click", "Buy tea", "Click", "Password", "Typing", "Password", "Click", "Name", "Typing", "Name",
                     "Change", "Gift", "Key", "Escape"]
    assert not re.search("hunter|h u n|qwert|Backspace", seen["html"])
    assert seen["again"] == seen["list"] and seen["end"]


def test_the_page_is_worked_by_mouse_and_keyboard(steer):
    async def user_actions(recorder, page, control, stopped):
        assert await control.locator("h1").inner_text() == "Buy some tea"
        await page.click("#buy")
        await text_of(control, "Buy tea")
        await control.keyboard.press("Alt+KeyZ")
        await control.wait_for_selector("li.undone >> text=Buy tea")
        await control.locator("#utterance").click()
        await control.keyboard.type("Take the green one")
        await control.keyboard.press("Enter")
        await text_of(control, "Take the green one")
        assert await control.input_value("#utterance") == ""
        await control.get_by_role("radio", name="Instructor").focus()
        await control.keyboard.press("ArrowRight")
        await control.keyboard.press("Tab")
        await control.keyboard.type("Which?")
        await control.keyboard.press("Enter")
        await text_of(control, "Which?")
        await control.get_by_role("button", name="Pause").click()
        await control.wait_for_selector(".sign.paused >> text=Paused")
        assert recorder.paused and not await control.is_editable("#utterance")
        await page.click("#sell")
        await control.get_by_role("button", name="Resume").click()
        await control.wait_for_selector(".sign.recording >> text=Recording")
        assert not recorder.paused and "Sell tea" not in await control.locator("#lines").inner_text()
        await control.keyboard.press("Alt+KeyP")
        await control.wait_for_selector(".sign.paused")
        await control.reload()
        await control.wait_for_selector(".sign.paused")
        assert (await text_of(control, "Which?")).count("Which?") == 1
        assert not stopped.is_set()
        await control.get_by_role("button", name="Stop").click()
        await asyncio.wait_for(stopped.wait(), 30)

    recording = steer(user_actions)
    assert [(line["speaker"], line["utterance"]) for line in recording.chat()] == [
        ("instructor", "Take the green one"), ("navigator", "Which?")]
    assert names(recording.events) == ["Buy tea"]
    assert [turn["dropped"] for turn in turns_of(recording) if turn.get("intent") == "click"] == [True]


def test_the_control_page_is_no_part_of_the_recording(steer):
    async def user_actions(recorder, page, control, stopped):
        assert page.context.pages == [page]
        await control.locator("#utterance").click()
        await control.keyboard.type("Only for the chat")
        await control.close()
        await asyncio.wait_for(stopped.wait(), 30)

    recording = steer(user_actions, windowed=True)
    assert {event["tab"] for event in recording.events} == {1}
    assert not [event for event in recording.events if event["type"] not in ("navigate", "hover")]
    assert b"demotape.invalid" not in recording.layout.events.read_bytes()


@pytest.mark.parametrize("screen", ["1280x720", "2560x1440"])
def test_neither_window_is_under_the_other(recording_browser, site, tmp_path, screen):
    site.pages["/"] = "<h1>Hello</h1>"

    async def bounds(page):
        session = await page.context.new_cdp_session(page)
        return (await session.send("Browser.getWindowForTarget"))["bounds"]

    async def run():
        async with async_playwright() as playwright:
            browser = await launch(playwright, headless=True, arguments=[f"--screen-info={{{screen}}}"])
            context = await browser.new_context(no_viewport=True)
            page = await context.new_page()
            await page.goto(site.origin + "/")
            async with (Recorder(context, tmp_path / "rec") as recorder,
                        ControlPage(browser, recorder, lambda: None, beside=page) as control):
                beside, width = await bounds(control), int(screen.partition("x")[0])
                assert beside["left"] == width - SIZE["width"] and beside["width"] == SIZE["width"]
                await painted(page)
                await page.mouse.click(20, 20)
                await painted(page)
                recorded = await bounds(page)
                assert (recorded["left"], recorded["width"]) == (0, beside["left"])
                assert await page.evaluate("innerWidth") == beside["left"], "the recorder leaves it as it is"
            await browser.close()

    recording_browser.run(run())
    states = [event["state"] for event in Recording(tmp_path / "rec").events if event["type"] == "pointerdown"]
    assert [state["viewport"]["width"] for state in states] == [int(screen.partition("x")[0]) - SIZE["width"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(steer, scheme):
    """At least 4.5:1 between each text and what it stands on, and nothing wider than the window."""
    async def user_actions(recorder, page, control, stopped):
        recorder.say("instructor", "Buy the tea. " * 12)
        await page.click("#buy")
        await page.click("#n")
        await page.keyboard.type("x")
        recorder.undo_last()
        await text_of(control, "Typing")
        for command in (lambda: None, recorder.pause):
            command()
            await asyncio.sleep(0.4)
            assert await control.evaluate(CONTRAST) == []
            assert await control.evaluate("document.documentElement.scrollWidth") <= SIZE["width"]

    steer(user_actions, color_scheme=scheme)


CONTRAST = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const rgb = (color) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data; };
  const light = (color) => rgb(color).slice(0, 3).reduce((sum, value, index) => { value /= 255;
    const linear = value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    return sum + [0.2126, 0.7152, 0.0722][index] * linear;
  }, 0);
  const ground = (at) => { const own = getComputedStyle(at).backgroundColor;
    return rgb(own)[3] === 255 || !at.parentElement ? own : ground(at.parentElement); };
  return [...document.querySelectorAll('body *')].filter((at) => at.checkVisibility() && !at.closest(':disabled')
      && [...at.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .map((at) => { const [one, two] = [light(getComputedStyle(at).color), light(ground(at))].sort((a, b) => b - a);
      return [at.outerHTML.slice(0, 80), (one + 0.05) / (two + 0.05)]; })
    .filter(([, ratio]) => ratio < 4.5);
}"""


def test_it_has_the_colours_of_the_review_app():
    ours, theirs = (dict(re.findall(r"(--[\w-]+): (.+?);", (ROOT / path).read_text(encoding="utf-8")))
                    for path in ("extension/panel/look.css", "curator_web/web/static/base.css"))
    assert {name: value for name, value in ours.items() if not name.startswith("--family")}.items() <= theirs.items()


def event(seq, kind, uid="1", gesture=None, time=None, **data):
    target = {"uid": uid, "tag": "button", "role": "button", "name": f"Button {uid}", "attributes": {}}
    return {"seq": seq, "time": float(seq) if time is None else time, "type": kind, "tab": 1, "gesture": gesture,
            "target": target if uid else None, "data": data}


TABLE = [
    ("a click", [event(1, "pointerdown"), event(2, "click", gesture=1)], ["click"]),
    ("a double click", [event(1, "pointerdown"), event(2, "click", gesture=1), event(3, "pointerdown", time=1.2),
                        event(4, "click", gesture=3), event(5, "dblclick", gesture=3)], ["dblclick"]),
    ("a click that scrolls the page", [event(1, "pointerdown"), event(2, "click", gesture=1),
                                       event(3, "scroll", gesture=1)], ["click"]),
    ("the scroll bar", [event(1, "pointerdown"), event(2, "scroll", gesture=1)], ["scroll"]),
    ("a page that scrolls itself", [event(1, "scroll")], []),
    ("the wheel", [event(1, "wheel"), event(2, "scroll", gesture=1), event(3, "wheel"), event(4, "scroll", gesture=3)],
     ["scroll"]),
    ("Enter that submits", [event(1, "keydown", key="Enter"), event(2, "click", gesture=1),
                            event(3, "submit", gesture=1)], ["submit"]),
    ("Tab", [event(1, "keydown", key="Tab")], []),
    ("a link", [event(1, "pointerdown"), event(2, "click", gesture=1),
                event(3, "navigate", None, url="https://example.org/", transition="link")], ["click"]),
    ("a pause", [event(1, "pause", None), event(2, "resume", None)], []),
]


@pytest.mark.parametrize(("events", "words"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_what_the_hand_does_and_its_line(events, words):
    live, lines = LiveList(), {}
    for each in events:
        if line := live.add_event(each):
            lines[line["line"]] = line["word"]
    assert list(lines.values()) == words
