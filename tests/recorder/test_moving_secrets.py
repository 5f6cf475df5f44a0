"""A secret field that is shown in clear and moves: no picture and no frame of the video shows any of it."""

import asyncio

import av
import cv2
import numpy as np
import pytest

from tests.support.rotation import alternated

LIME, SECRET = (0, 255, 0), "xylophone-4711"  # nothing but the field has this colour
HEAD = ("<!DOCTYPE html><style>#p, .p { background: lime; border: 0; font: 30px monospace; width: 300px; height: 50px;"
        " position: relative; outline: 0 }</style><body style='height:4000px'><div id=above></div>"
        "<p style='height:250px'><input id=p type=password></p><button id=b>Show</button>")
SHOW = "p.type = p.type === 'text' ? 'password' : 'text';"
WAYS = {
    "scrolled": SHOW,
    "pushed down": SHOW + "let n = 0; const i = setInterval(() => { above.style.height = (n += 9) + 'px';"
                          "if (n > 300) clearInterval(i) }, 16)",
    "replaced": "const q = document.createElement('input'); q.className = 'p'; q.autocomplete = 'current-password';"
                "q.value = p.value; document.body.prepend(q); p.type = 'text'",
    "growing": SHOW + "p.style.transition = 'all .4s'; p.style.width = '600px'; p.style.height = '150px'",
    "sliding": SHOW + "p.animate({ left: ['0px', '400px'], top: ['0px', '200px'] }, 600)",
}


def is_readable(picture):
    """Whether more of the field is seen than the edge that a box rounded outwards may leave."""
    return int((np.abs(picture.astype(int) - LIME).max(2) < 60).sum()) > 300


def read(content):
    """A picture of a recording."""
    return cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)


@pytest.mark.parametrize("name, way", alternated(WAYS, ("recorder", "extension")))
def test_it_is_readable_nowhere(request, site, way, name):
    site.pages["/"] = HEAD + f"<script>b.onclick = () => {{ {WAYS[name]} }}</script>"

    async def user_actions(page):
        await page.click("#p")
        await page.keyboard.type(SECRET)
        await page.click("#b")
        await asyncio.sleep(0.3)
        if name == "scrolled":
            for _ in range(12):
                await page.mouse.wheel(0, 30)
                await asyncio.sleep(0.03)
        await asyncio.sleep(0.8)
        await page.mouse.click(600, 400)

    fixture = request.getfixturevalue("recording_browser" if way == "recorder" else "chrome")
    session = fixture.record(user_actions, url=site.origin + "/")
    recording = session.recording
    pictures = [event["state"]["screenshot"] for event in recording.events if event["state"]]
    assert len(pictures) >= 15 and pictures.count(None) <= 2
    for each in {*pictures} - {None}:
        assert not is_readable(read(recording.blob(each)))
    with av.open(str(recording.layout.video)) as video:
        frames = [(float(frame.pts * frame.time_base), frame.to_ndarray(format="bgr24"))
                  for frame in video.decode(video=0)]
    assert session.problems == [] and len(frames) >= 5, [time for time, _ in frames]
    assert [time for time, frame in frames if is_readable(frame)] == []


BLOCKED_MS = 4500  # longer than a new document has to report its secret fields
BLOCK = ("const painted = (work) => requestAnimationFrame(() => setTimeout(work)), block = () => {"
         f"const until = performance.now() + {BLOCKED_MS}; while (performance.now() < until); }};")
FIELD = "<p><input class=p id=p type=text autocomplete=current-password value=xylophone-4711></p>"
APPEARING = {
    "at first": ("", f"document.body.insertAdjacentHTML('beforeend', '{FIELD}'); painted(() => painted(block))"),
    "in a dialog": (f"<dialog id=d>{FIELD}</dialog>",
                    "b.onclick = () => { d.showModal(); painted(() => painted(block)) }"),
    "added": ("", f"b.onclick = () => {{ document.body.insertAdjacentHTML('beforeend', '{FIELD}');"
                  " painted(() => painted(block)) }"),
}


PLACES = [(name, "page") for name in APPEARING] + [("in a dialog", "frame of another site"), ("added", "popup")]


@pytest.mark.parametrize("way", ["recorder", "extension"])
@pytest.mark.parametrize(("name", "place"), PLACES)
def test_a_field_of_a_page_that_then_is_busy_is_readable_nowhere(request, site, way, name, place):
    """The field is on the screen long before the page can report where."""
    body, script = APPEARING[name]
    site.pages |= {
        "/field": ("<!DOCTYPE html><style>.p { background: lime; border: 0; font: 30px monospace; width: 300px;"
                   f" height: 50px; outline: 0 }}</style><body><button id=b>Sign in</button><p>{body}</p>"
                   f"<script>{BLOCK}{script}</script>"),
        "/around": f"<!DOCTYPE html><h1>Shop</h1><iframe width=500 height=400 src={site.other_origin}/field></iframe>",
        "/": "<!DOCTYPE html><button id=open onclick=\"window.open('/field')\">Open</button>"}

    async def user_actions(page):
        if place == "popup":
            async with page.expect_popup() as opened:
                await page.locator("#open").click()
            page = await opened.value
        field_page = page.frame_locator("iframe") if place.startswith("frame") else page
        await field_page.locator("#b").click()
        await field_page.locator(".p").click()
        await page.mouse.click(600, 500)

    fixture = request.getfixturevalue("recording_browser" if way == "recorder" else "chrome")
    path = {"page": "/field", "popup": "/"}.get(place, "/around")
    session = fixture.record(user_actions, url=site.origin + path)
    recording = session.recording
    for picture in {event["state"]["screenshot"] for event in recording.events if event["state"]} - {None}:
        assert not is_readable(read(recording.blob(picture)))
    with av.open(str(recording.layout.video)) as video:
        frames = [(float(frame.pts * frame.time_base), frame.to_ndarray(format="bgr24"))
                  for frame in video.decode(video=0)]
    assert frames and [time for time, frame in frames if is_readable(frame)] == []


@pytest.mark.parametrize("way", ["recorder", "extension"])
def test_a_good_picture_shows_its_target_also_where_a_secret_field_has_just_passed(request, site, way):
    """Where the path of the field is black, the target may be, too: such a picture is not good."""
    site.pages["/"] = ("<!DOCTYPE html><body style='margin:0'><p style='margin:0'><input type=password autofocus></p>"
                       + "".join(f"<p style='margin:0;height:400px'><button id=b{number} style='background:lime;"
                                 "width:200px;height:60px;border:0;outline:0'></button></p>" for number in range(9)))

    async def user_actions(page):
        for number in (3, 0, 4, 1, 0, 5):
            await page.locator(f"#b{number}").click()
            await asyncio.sleep(0.1 if number % 2 else 1.5)
            await page.locator(f"#b{number}").click()

    fixture = request.getfixturevalue("recording_browser" if way == "recorder" else "chrome")
    session = fixture.record(user_actions, url=site.origin + "/")
    clicks = [turn for turn in session.turns if turn["intent"] == "click"]
    good = [turn for turn in clicks if turn["state"]["screenshot_status"] == "good"]
    assert len(clicks) == 12
    if way == "recorder":  # once the page rests, it is looked at again
        assert [clicks[number]["state"].get("stale_because") for number in (3, 5, 9)] == [None] * 3
    reasons = {turn["state"]["stale_because"] for turn in clicks if turn not in good}
    assert "hidden" in reasons and reasons <= {"hidden", "moved", "scrolled", "late"}
    for turn in good:
        picture = read(session.recording.blob(turn["state"]["screenshot"]))
        box = turn["element"]["bbox"]
        seen = picture[int(box["y"] + box["height"] / 2), int(box["x"] + box["width"] / 2)]
        assert np.abs(seen.astype(int) - LIME).max() < 60, turn["id"]
