"""Windows that a page opens and keeps a hold of: whoever drives lets them go, and the recorder hears all the same."""

import time

import pytest
from playwright.async_api import async_playwright

from recorder import Recorder, Recording
from recorder.browser.targets import AttachedTargets
from schemas.chromium import find_chromium
from tests.support.waiting import wait_until_async

# Stops what is pressed and typed before anybody else hears it, and changes what it shows.
STOPPING = """<!DOCTYPE html><title>Stopping</title><script>
for (const type of ['pointerdown', 'pointerup', 'click', 'keydown', 'beforeinput', 'input', 'paste', 'change'])
  window.addEventListener(type, event => { document.documentElement.dataset[type] = 'flipped';
    event.stopImmediatePropagation() }, true)</script>
<body style="margin: 0"><input id=name style="width: 200px; height: 40px"><input id=p type=password><p id=ready>Text"""
OPENER = "<button onclick=\"window.open('/stopping')\">Open</button>"


@pytest.fixture
def stopping(site):
    site.pages |= {"/": OPENER, "/stopping": STOPPING, "/first": "<script>first = window.told</script><p id=ready>Text",
                   "/opener": "<button onclick=\"window.open('/first')\">Open</button>"}
    return site


async def opened_by(context, address):
    page = await context.new_page()
    await page.goto(address)
    async with context.expect_page() as opened:
        await page.click("button")
    popup = await opened.value
    await popup.locator("#ready").wait_for()
    return popup


async def use(popup):
    await popup.mouse.click(60, 20)
    await popup.keyboard.type("ab")
    await popup.evaluate("navigator.clipboard.writeText('pasted')")
    await popup.keyboard.press("Control+v")
    await popup.click("#p")
    await popup.keyboard.type("hunter2")


def reach_pages_late(monkeypatch):
    """From now on new pages run before the recorder has reached them, as on a busy machine."""
    on_page = AttachedTargets._on_page

    def on_page_late(self, event):
        time.sleep(0.3)
        on_page(self, event)

    monkeypatch.setattr(AttachedTargets, "_on_page", on_page_late)


def assert_heard_once_from_before(directory):
    recording = Recording(directory)
    tab = max(event["tab"] for event in recording.events)
    heard = [event for event in recording.events if event["tab"] == tab]
    count = {type: sum(event["type"] == type for event in heard) for type in
             ("pointerdown", "pointerup", "click", "keydown", "input", "paste")}
    assert count == {"pointerdown": 2, "pointerup": 2, "click": 2, "keydown": 11, "input": 10, "paste": 1}
    press = next(event for event in heard if event["type"] == "pointerdown")
    document = recording.blob(press["state"]["dom"]).decode()
    assert "flipped" not in document and "Text" in document
    assert press["target"]["tag"] == "input" and press["data"]["pointer_type"] == "mouse"
    values = [event["data"]["value"] for event in heard if event["type"] == "input"]
    assert values[:3] == ["a", "ab", "abpasted"] and set(values[3:]) == {"[REDACTED]"}
    assert next(event for event in heard if event["type"] == "paste")["data"]["text"] == "pasted"
    assert "hunter2" not in (directory / "events.jsonl").read_text()


@pytest.mark.parametrize("clock", [False, True], ids=["", "whose clock the driver has set"])
def test_a_window_that_ran_before_the_recorder_reached_it(recording_browser, stopping, tmp_path, monkeypatch, clock):
    async def run():
        context = await recording_browser.browser.new_context(permissions=["clipboard-read", "clipboard-write"])
        if clock:
            await context.clock.install(time=1_000_000_000)
        async with Recorder(context, tmp_path / "rec"):
            reach_pages_late(monkeypatch)
            popup = await opened_by(context, stopping.origin)
            await use(popup)
            assert await popup.evaluate("document.documentElement.dataset.click") == "flipped"
        await context.close()

    recording_browser.run(run())
    assert_heard_once_from_before(tmp_path / "rec")


@pytest.mark.parametrize("place", ["first tab", "popup"])
def test_an_event_is_heard_once_though_the_driver_has_set_the_clock(recording_browser, site, tmp_path, place):
    """Playwright tells pages other times of events, and so the page's world tells others than the recorder's."""
    site.pages |= {"/": "<button onclick=\"open('/there', '', 'noopener')\">Open</button>",
                   "/there": "<input autofocus><button>Press</button>"}

    async def run():
        context = await recording_browser.browser.new_context()
        await context.clock.install(time=1_000_000_000)
        page = await context.new_page()
        async with Recorder(context, tmp_path / "rec"):
            await page.goto(site.origin + ("/there" if place == "first tab" else "/"))
            if place == "popup":
                async with context.expect_page() as opened:
                    await page.click("button")
                page = await opened.value
            await page.locator("input").click()
            await page.keyboard.type("aa")
            await page.locator("button").click()
        await context.close()

    recording_browser.run(run())
    tab = 1 if place == "first tab" else 2
    events = [event for event in Recording(tmp_path / "rec").events if event["tab"] == tab]
    told = [event["type"] for event in events if event["type"] in ("pointerdown", "click", "keydown", "input")]
    assert told == ["pointerdown", "click", *["keydown", "input"] * 2, "pointerdown", "click"]
    times = [event["time"] for event in events if event["type"] in told]
    assert times == sorted(times) and times[0] > 0


def test_keys_that_steer_reach_no_page_that_listens_before_the_recorder(recording_browser, site, tmp_path, monkeypatch):
    """And are no actions; what is typed in a pause is the page's alone."""
    site.pages |= {"/": OPENER, "/stopping": """<script>heard = []; for (const type of ['keydown', 'keyup', 'keypress'])
      addEventListener(type, event => { heard.push(type + ' ' + event.code); event.stopImmediatePropagation() }, true)
      </script><input id=ready autofocus>"""}

    async def run():
        context = await recording_browser.browser.new_context()
        async with Recorder(context, tmp_path / "rec", keys=True) as recorder:
            reach_pages_late(monkeypatch)
            popup = await opened_by(context, site.origin)
            await recorder._targets.settle()
            await recorder._tabs[-1].wait_for_answers()
            await popup.keyboard.press("a")
            for paused in (True, False):
                await popup.keyboard.press("Alt+p")
                await wait_until_async(lambda: recorder.paused == paused)  # noqa: B023
                await popup.keyboard.press("b")
            await popup.keyboard.press("Alt+s")
            await recorder.stopped.wait()
            heard = await popup.evaluate("heard")
        await context.close()
        return heard

    heard = recording_browser.run(run())
    assert not [key for key in heard if key.endswith(("KeyP", "KeyS"))]
    assert heard.count("keydown KeyB") == 2
    keys = [event["data"]["code"] for event in Recording(tmp_path / "rec").events if event["type"] == "keydown"]
    assert [key for key in keys if not key.startswith("Alt")] == ["KeyA", "KeyB"]


def test_in_a_browser_without_an_address(recording_browser, stopping, tmp_path):
    async def run():
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=find_chromium(playwright.chromium.executable_path), args=["--no-sandbox"])
            context = await browser.new_context(permissions=["clipboard-read", "clipboard-write"])
            with pytest.warns(UserWarning, match="--remote-debugging-port"):
                async with Recorder(context, tmp_path / "rec") as recorder:
                    popup = await opened_by(context, stopping.origin)
                    await recorder._targets.settle()
                    await recorder._tabs[-1].wait_for_answers()
                    await use(popup)
            await browser.close()

    recording_browser.run(run())
    assert_heard_once_from_before(tmp_path / "rec")


def test_what_who_drives_adds_to_pages_is_there_before_them(recording_browser, stopping, tmp_path):
    async def run():
        context = await recording_browser.browser.new_context()
        await context.add_init_script("window.told = 1")
        async with Recorder(context, tmp_path / "rec"):
            for _ in range(10):
                popup = await opened_by(context, stopping.origin + "/opener")
                assert await popup.evaluate("first") == 1
        await context.close()

    recording_browser.run(run())


def test_the_context_is_left_as_it_was(recording_browser, stopping, tmp_path):
    spying = """<script>heard = []; const add = EventTarget.prototype.addEventListener;
      EventTarget.prototype.dispatchEvent = event => heard.push(event.type);
      EventTarget.prototype.addEventListener = function (type, ...rest) {
        heard.push(type);
        add.call(this, type, ...rest);
      };
      </script><p id=ready>Text"""
    stopping.pages["/spying"] = spying
    stopping.pages["/"] = "<button onclick=\"window.open('/spying')\">Open</button>"

    async def run():
        context = await recording_browser.browser.new_context()
        async with Recorder(context, tmp_path / "rec"):
            while_recording = await opened_by(context, stopping.origin)
            await while_recording.mouse.click(60, 20)
        after = await opened_by(context, stopping.origin)
        for page in (while_recording, after):
            assert await page.evaluate("heard") == []
        names = [await page.evaluate("Object.getOwnPropertyNames(window)") for page in (while_recording, after)]
        assert names[0] == names[1]
        await context.close()

    recording_browser.run(run())
