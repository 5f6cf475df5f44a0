"""The picture of a state that is called good shows the target in its box, also where who drives scrolls and presses at
once: looked up in the pixels."""

import asyncio

import cv2
import lxml.html
import numpy as np
import pytest

from pipeline.turns.folding import fold
from recorder import Recorder, Recording
from tests.support.samples.sessions import painted

BUTTONS, SIZE = 40, {"width": 800, "height": 600}
ORDER = (30, 3, 22, 39, 11, 0, 35, 17)


def colour(number):
    return 40 + number * 53 % 200, 40 + number * 97 % 200, 40 + number * 31 % 200


def page(script="", before="<div>", after="</div>"):
    buttons = "".join(
        f"<p style='margin:40px'><button id=b{number} style='background:rgb{colour(number)};width:120px;height:40px;"
        f"border:0;outline:0'></button></p>" for number in range(BUTTONS))
    return (f"<!DOCTYPE html><title>Buttons</title><body style='margin:0'>{before}{buttons}{after}"
            "<script>const pressed = []; addEventListener('mousedown', (event) => pressed.push(event.target.id), true);"
            f"{script}</script>")


PAGES = {
    "still": page(),
    "spinner": page(before="<div style='position:fixed;right:0;top:0;width:50px;height:50px;background:linear-gradient("
                           "red,blue);animation:turn 1s linear infinite'></div>"
                           "<style>@keyframes turn { to { transform: rotate(360deg) } }</style><div>"),
    "sticky": page(before="<div style='position:sticky;top:0;height:60px;background:white'>Head</div><div>"),
    "scroller": page(before="<div style='height:500px;overflow:auto'>"),
    "flipping": page("""const buttons = [...document.querySelectorAll('button')];
        const was = buttons.map(b => b.style.background);
        addEventListener('mousedown', () => { for (const b of buttons) b.style.background = 'black';
          setTimeout(() => buttons.forEach((b, i) => b.style.background = was[i]), 150) }, true)"""),
    "pushed": page("let n = 0; setInterval(() => document.body.style.paddingTop = (n += 70) % 300 + 'px', 400)"),
}
WAITED = (5, 33, 14)  # buttons that are pressed when the recorder has seen them


def picture_in_box(recording, turn):
    """The colour of the picture in the target's box."""
    return colour_in(recording.blob(turn["state"]["screenshot"]), turn["element"]["bbox"])


def colour_in(image, box):
    """The colour of a picture in a box, near its top."""
    picture = cv2.imdecode(np.frombuffer(image, np.uint8), cv2.IMREAD_COLOR)
    blue, green, red = (int(value) for value in picture[int(box["y"]) + 8, int(box["x"] + box["width"] / 2)])
    return red, green, blue


async def seen(recorder, box, wanted):
    """Wait until the newest picture of the page shows a colour in a box."""
    async with asyncio.timeout(30):
        while colour_in(recorder._tabs[-1].ring.newest.image, box) != wanted:
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("name", PAGES)
def test_a_good_picture_shows_the_target_in_its_box(recording_browser, site, tmp_path, name):
    site.pages["/"] = PAGES[name]

    async def press():
        context = await recording_browser.browser.new_context(viewport=SIZE)
        async with Recorder(context, tmp_path / "rec") as recorder:
            tab = await context.new_page()
            await tab.goto(site.origin + "/")
            for pause, number in enumerate(ORDER):
                await tab.locator(f"#b{number}").click()
                await asyncio.sleep((0, 0.05, 0.3)[pause % 3])
            for number in WAITED if name != "pushed" else ():
                button = tab.locator(f"#b{number}")
                await button.scroll_into_view_if_needed()
                await seen(recorder, await button.bounding_box(), colour(number))
                await painted(tab)
                await button.click()
            pressed = await tab.evaluate("pressed")
        await context.close()
        return pressed

    pressed = recording_browser.run(press())
    recording = Recording(tmp_path / "rec")
    turns = [turn for turn in fold(recording.events) if turn["intent"] == "click"]
    # Where the page moves, the driver may press beside what it wants, keep that from the page, and press once more.
    told = [turn["element"]["attributes"].get("id", "") for turn in turns]
    heard = iter(told)
    assert all(one in heard for one in pressed)
    assert name == "pushed" or told == pressed == [f"b{number}" for number in (*ORDER, *WAITED)]
    good = [turn for turn in turns if turn["state"]["screenshot_status"] == "good"]
    for turn in good:
        given = turn["element"]["attributes"]
        if "id" not in given:
            continue  # no button
        was = (0, 0, 0) if "black" in given["style"] else colour(int(given["id"][1:]))  # still, from the press before
        assert picture_in_box(recording, turn) == was
        state = turn["state"]
        assert state["screenshot_time"] <= max(turn["timestamp"], state.get("unchanged_until", 0.0))
    for turn in turns:  # a new window's first frames are of another size
        assert turn in good or turn["state"]["stale_because"] in ("scrolled", "moved", "late", "resized")
    assert name == "pushed" or all(turn in good for turn in turns[-len(WAITED):])


def test_what_another_frame_changes_keeps_no_picture_from_being_good(recording_browser, site, tmp_path):
    site.pages["/"] = ("<p>0</p><iframe src=/inner style='width:600px;height:400px'></iframe><script>let time = 0;"
                       "setInterval(() => document.querySelector('p').textContent = ++time, 40)</script>")
    site.pages["/inner"] = page()

    async def press():
        context = await recording_browser.browser.new_context(viewport=SIZE)
        async with Recorder(context, tmp_path / "rec"):
            tab = await context.new_page()
            await tab.goto(site.origin + "/")
            for number in (1, 2, 3):
                await asyncio.sleep(0.5)
                await tab.frame_locator("iframe").locator(f"#b{number}").click()
        await context.close()

    recording_browser.run(press())
    turns = [turn for turn in fold(Recording(tmp_path / "rec").events) if turn["intent"] == "click"]
    assert [turn["state"]["stale"] for turn in turns] == [False] * 3


def test_the_state_before_a_hover_has_its_target_also_when_that_has_just_come(recording_browser, site, tmp_path):
    site.pages["/"] = ("<style>section { position: fixed; inset: 0 } b { display: none }"
                       "section:hover b { display: block }</style><p>Text</p>")

    async def rest():
        context = await recording_browser.browser.new_context(viewport=SIZE)
        async with Recorder(context, tmp_path / "rec"):
            tab = await context.new_page()
            await tab.goto(site.origin + "/")
            await tab.mouse.move(20, 20)
            await asyncio.sleep(1)
            await tab.evaluate("document.body.append('More')")
            await tab.mouse.move(300, 5)  # over another element: it is looked at
            await tab.evaluate("""() => document.body.insertAdjacentHTML(
                'beforeend', '<section><i>This</i><b>More</b></section>')""")
            await tab.mouse.move(302, 300)
            await asyncio.sleep(1.5)
        await context.close()

    recording_browser.run(rest())
    recording = Recording(tmp_path / "rec")
    for turn in fold(recording.events):
        if turn["intent"] == "hover":
            assert turn["element"]["uid"] in recording.blob(turn["state"]["dom"]).decode()


TURNING = """<!DOCTYPE html><body style='background:rgb(255,0,0)'><p id=n>0</p><script>
    addEventListener('pointerdown', () => { n.textContent++;
      document.body.style.background = n.textContent % 2 ? 'rgb(0,0,255)' : 'rgb(255,0,0)' }, true)</script>"""


@pytest.mark.parametrize("fixture", ["recording_browser", "chrome"])
def test_what_a_press_changed_is_missed_in_no_good_picture_of_the_next(request, fixture, site):
    """Two presses at once, the pointer moving before each: the second one's picture shows what the first changed, or is
    not called good."""
    site.pages["/"] = TURNING

    async def user_actions(page):
        for number in range(10):
            for _ in range(2):
                await page.mouse.move(200 + number, 200)
                await page.mouse.click(200, 200)
            await page.wait_for_timeout(150)

    session = request.getfixturevalue(fixture).record(user_actions, url=site.origin + "/")
    clicks = [turn for turn in session.turns if turn["intent"] in ("click", "dblclick")]
    wrong = [number for number, turn in enumerate(clicks) if turn["state"]["screenshot_status"] == "good"
             and (colour_in(session.recording.blob(turn["state"]["screenshot"]), {"x": 300, "y": 300, "width": 2})[2]
                  > 128) != _turned(session.recording, turn)]
    assert clicks and wrong == []


def _turned(recording, turn):
    """Whether the page of a turn's state is the blue one."""
    page = lxml.html.fromstring(recording.blob(turn["state"]["dom"]))
    return int(page.get_element_by_id("n").text_content()) % 2 == 1


@pytest.mark.parametrize("more", [{"width": 60, "height": 40}, {"width": -60, "height": -40}])
def test_a_window_that_somebody_resizes_fits_its_emulated_viewport_again(recording_browser, site, tmp_path, more):
    """The viewport stays, so that frames would show a part of it or what is around it, at every later press."""
    site.pages["/"] = page()

    async def press():
        context = await recording_browser.browser.new_context(viewport=SIZE)
        async with Recorder(context, tmp_path / "rec") as recorder:
            tab = await context.new_page()
            await tab.goto(site.origin + "/")
            await painted(tab)
            session = await context.new_cdp_session(tab)
            window = await session.send("Browser.getWindowForTarget")
            bounds = window["bounds"] | {side: window["bounds"][side] + more[side] for side in SIZE}
            resized = {"windowId": window["windowId"], "bounds": {side: bounds[side] for side in SIZE}}
            await session.send("Browser.setWindowBounds", resized)
            async with asyncio.timeout(30):
                while (await session.send("Browser.getWindowForTarget"))["bounds"] == bounds:  # no frame yet
                    await tab.evaluate("document.body.style.outline = `${performance.now() % 7}px solid`")
                    await asyncio.sleep(0.05)
                while getattr(recorder._tabs[-1].ring.newest, "size", None) != tuple(SIZE.values()):
                    await asyncio.sleep(0.05)
            await tab.locator("#b1").click()
        await context.close()

    recording_browser.run(press())
    clicks = [turn for turn in fold(Recording(tmp_path / "rec").events) if turn["intent"] == "click"]
    assert [turn["state"].get("stale_because") for turn in clicks] == [None]


def test_every_new_page_is_shown_at_once(recording_browser, site, tmp_path):
    """A screencast that begins while the page goes to another process may stay silent."""
    site.pages["/"] = page()

    async def press():
        context = await recording_browser.browser.new_context(viewport=SIZE)
        async with Recorder(context, tmp_path / "rec"):
            for _ in range(8):
                tab = await context.new_page()
                await tab.goto(site.origin + "/")
                for number in (1, 30, 3):
                    await tab.locator(f"#b{number}").click()
        await context.close()

    recording_browser.run(press())
    clicks = [turn for turn in fold(Recording(tmp_path / "rec").events) if turn["intent"] == "click"]
    shown = [bool(turn["state"]["screenshot"]) for turn in clicks]
    assert len(shown) == 24 and all(shown[1::3]) and all(shown[2::3])  # the first 0.1 s after a load may have none


ANIMATED = ("<body style='margin:0'><button id=b style='width:200px;height:100px;background:red;border:0'></button>"
            "<div id=d style='position:absolute;inset:150px 0 0 0'></div><script>let n = 0, on = 0;"
            "setInterval(() => { if (on) d.style.background = n++ % 2 ? 'gold' : 'teal' }, 35);"
            "addEventListener('click', () => b.style.background = 'red')</script>")


async def press_beside_an_animation(tab, times, frame=None):
    """Press the button, in the page or a frame, right after the animation has ended and the button has become blue."""
    for _ in range(times):
        await tab.evaluate("on = 1")
        for number in range(12):
            await tab.mouse.move(300 + number, 300)
            await asyncio.sleep(0.1)
        await tab.mouse.move(60, 50)
        await asyncio.sleep(0.05)
        await tab.evaluate("on = 0")
        await (frame or tab).evaluate("b.style.background = 'blue'")
        await asyncio.sleep(0.13)
        await tab.mouse.click(60, 50)


def assert_good_pictures_show_it(recording, times):
    clicks = [turn for turn in fold(recording.events)
              if turn["intent"] == "click" and turn["element"]["tag"] == "button"]
    assert len(clicks) == times and all("blue" in turn["element"]["attributes"]["style"] for turn in clicks)
    good = [turn for turn in clicks if turn["state"]["screenshot_status"] == "good"]
    for red, _, blue in (picture_in_box(recording, turn) for turn in good):
        assert red < 50 and blue > 200  # a stream of the tab has nearly these colours


@pytest.mark.parametrize("place", ["new", "popup", "frame", "attached"])
def test_what_changes_beside_an_animation_is_not_taken_for_unpainted(recording_browser, site, tmp_path, place):
    """While it takes what it sees for an animation, the browser sends no frame of what else is painted."""
    other = site.origin.replace("127.0.0.1", "localhost")
    site.pages |= {"/new": ANIMATED, "/attached": ANIMATED, "/popup": "<a href=/new target=_blank>Open</a>",
                   "/frame": f"<body style='margin:0'><iframe src={other}/new style='border:0;height:140px'></iframe>"
                             + ANIMATED.partition("</button>")[2]}

    async def press():
        context = await recording_browser.browser.new_context(viewport=SIZE)
        tab = await context.new_page()
        if place == "attached":
            await tab.goto(f"{site.origin}/{place}")
        async with Recorder(context, tmp_path / "rec"):
            if place != "attached":
                await tab.goto(f"{site.origin}/{place}")
            if place == "popup":
                async with context.expect_page() as opened:
                    await tab.click("a")
                tab = await opened.value
                await tab.locator("#b").wait_for()
            await press_beside_an_animation(tab, 2, tab.frames[1] if place == "frame" else None)
        await context.close()

    recording_browser.run(press())
    assert_good_pictures_show_it(Recording(tmp_path / "rec"), 2)
