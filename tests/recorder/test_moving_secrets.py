"""A secret field that is shown in clear and moves: no picture and no frame of the video shows any of it."""

import asyncio

import av
import cv2
import numpy as np
import pytest

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


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("way", ["recorder", "extension"])
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
        assert not is_readable(cv2.imdecode(np.frombuffer(recording.blob(each), np.uint8), cv2.IMREAD_COLOR))
    with av.open(str(recording.layout.video)) as video:
        frames = [(float(frame.pts * frame.time_base), frame.to_ndarray(format="bgr24"))
                  for frame in video.decode(video=0)]
    assert session.problems == [] and len(frames) >= 5, [time for time, _ in frames]
    assert [time for time, frame in frames if is_readable(frame)] == []
