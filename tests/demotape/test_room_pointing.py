"""An instructor points at the live picture: the element, the recording, exports, and pages that notice nothing."""

import asyncio
import json

from pipeline import process
from pipeline.export import export
from pipeline.export.source import Source
from pipeline.importing import Utterance, find_importer
from pipeline.privacy.redacting import redactor
from pipeline.verify import verify
from schemas.formats.room import PICTURE_HEADER
from tests.demotape.test_live_room import chat_lines, measured, record, server, settled  # noqa: F401  # fixtures
from tests.pipeline.export.formats.test_webdataset import samples
from tests.support.curator.rooms import say
from tests.support.waiting import wait_until_async

POINTED = """<!DOCTYPE html><title>Shop</title><body style="margin:0;height:2000px">
<div id=host style="position:absolute;left:20px;top:20px;width:200px;height:60px"></div>
<iframe style="position:absolute;left:300px;top:100px;width:300px;height:200px;border:5px solid;padding:0"
 src="OTHER/inside"></iframe>
<button style="position:absolute;left:20px;top:600px;width:200px;height:60px">Order kettle-4711</button>
<input type=password value=kettle-4711 style="position:absolute;left:20px;top:300px">
<script>
document.querySelector("#host").attachShadow({mode: "closed"}).innerHTML =
  "<button style='position:absolute;inset:0;width:200px;height:60px'>Buy tea</button>";
window.changes = [];
new MutationObserver(all => changes.push(...all.map(each => each.type))).observe(
  document, {childList: true, subtree: true, attributes: true});
for (const type of ["pointermove", "mousemove", "mouseover", "blur", "focusin"])
  addEventListener(type, () => changes.push(type), true);
for (const [owner, name] of [[Document, "elementFromPoint"], [ShadowRoot, "elementFromPoint"],
                             [Element, "getBoundingClientRect"]]) {
  const original = owner.prototype[name];
  owner.prototype[name] = function (...values) { changes.push(name); return original.apply(this, values); };
}
</script>"""
INSIDE = "<body style='margin:0'><a href=/cart style='display:block;width:100px;height:50px'>The cart</a>"


def region(picture: bytes, x: float, y: float, width: float = 0, height: float = 0) -> dict:
    """A region of a picture, from CSS pixels of a viewport of 640 by 480."""
    number = PICTURE_HEADER.unpack(picture[:PICTURE_HEADER.size])[0]
    return {"picture": number, "x": x / 640, "y": y / 480, "width": width / 640, "height": height / 480}


def pointed(record, site):  # noqa: F811
    """The recording of a session in which the instructor points, and what was announced to the control page."""
    other = site.origin.replace("127.0.0.1", "localhost")
    site.pages |= {"/": POINTED.replace("OTHER", other), "/inside": INSIDE, "/elsewhere": "<h1>Another page</h1>"}
    news: list[dict] = []

    async def act(recorder, page, client, instructor):
        async def point(text, picture, *where):
            message = say(text, region=region(picture, *where))
            instructor.send(message)
            return (await settled(instructor, message["id"]))["refused"]

        async def picture_of(scroll):
            def matches(picture):
                return isinstance(picture, bytes) and client._pictures.sent(
                    PICTURE_HEADER.unpack(picture[:PICTURE_HEADER.size])[0]).scroll == scroll

            while not any(map(matches, instructor.received)):
                instructor.send({"type": "painted"})
                await asyncio.to_thread(instructor.wait_for_picture)
            return next(filter(matches, instructor.received))

        tab = recorder.tabs[0]
        recorder.listeners.append(news.append)
        await measured(instructor, recorder)
        await wait_until_async(lambda: len(tab.frame_groups) == 2)
        picture = await picture_of((0, 0))
        await page.evaluate("changes.length = 0")
        before, count = tab.ring.newest.image, len(tab.ring._frames)
        for text, *where in (("This one", 120, 50), ("The link", 340, 120), ("All of it", 280, 90, 360, 220)):
            assert await point(text, picture, *where) is None
        assert tab.ring.newest.image == before and len(tab.ring._frames) == count, "nothing of it is painted"
        assert await page.evaluate("changes") == [], "the page notices nothing"
        await page.evaluate("scrollTo(0, 40)")
        assert await point("Scrolled by then", picture, 120, 70) is None
        await page.evaluate("scrollTo(0, 500)")
        await wait_until_async(lambda: tab.ring.newest.scroll == (0, 500))
        assert await point("Out of the window", picture, 120, 50) is None
        number = {**region(picture, 1, 1), "picture": 999_999}
        message = say("Never sent", region=number)
        instructor.send(message)
        assert (await settled(instructor, message["id"]))["refused"] == "picture"
        picture = await picture_of((0, 500))
        assert await point("And this", picture, 120, 130) is None
        await page.goto(site.origin + "/elsewhere")
        assert await point("It is gone", picture, 120, 130) is None

    return record(act), [each for each in news if each["type"] == "pointing"]


def test_an_instructor_points_at_elements_and_the_page_knows_nothing(record, site, tmp_path):  # noqa: F811
    recording, shown = pointed(record, site)
    lines = {line["utterance"]: line["pointing"] for line in chat_lines(recording)}
    button, link, frame, scrolled, outside, secret, gone = lines.values()
    assert button["box"] == {"x": 120, "y": 50, "width": 0, "height": 0} and button["tab"] == 1
    assert (button["element"]["role"], button["element"]["name"]) == ("button", "Buy tea")
    assert button["element"]["bbox"] == {"x": 20, "y": 20, "width": 200, "height": 60}
    assert button["element"]["frame"] == [] and len(link["element"]["frame"]) == 1
    assert (link["element"]["name"], link["element"]["bbox"]) == (
        "The cart", {"x": 305, "y": 105, "width": 100, "height": 50})
    assert frame["box"] == {"x": 280, "y": 90, "width": 360, "height": 220}
    assert frame["element"]["frame"] == link["element"]["frame"]
    assert scrolled["element"]["uid"] == button["element"]["uid"]  # the element of the picture, not what came there
    assert secret["element"]["name"] == "Order [REDACTED]"
    assert outside["element"] is None and gone["element"] is None and gone["box"] == secret["box"]
    assert len(shown) == len(lines) and shown[0]["picture"].startswith("data:image/jpeg;base64,")
    assert shown[0]["region"] == {"x": 120 / 640, "y": 50 / 480, "width": 0, "height": 0}
    turns = process(recording.layout.root)["turns"]
    assert [turn["pointing"] for turn in turns if turn["type"] == "chat"] == list(lines.values())
    assert verify(recording.layout.root) == []
    exports_say_where_the_instructor_pointed(recording, tmp_path)


def exports_say_where_the_instructor_pointed(recording, tmp_path):
    demonstration = process(recording.layout.root)
    pointing = [turn["pointing"] for turn in demonstration["turns"] if turn["type"] == "chat"]
    source = Source(demonstration, recording)
    export([source], tmp_path / "shards", "webdataset")
    rows = [json.loads(sample["json"]) for sample in samples(tmp_path / "shards")]
    assert [json.loads(row["room"]).get("pointing") for row in rows if row["type"] == "chat"] == pointing
    assert {row["room"] for row in rows if row["type"] == "browser"} == {"{}"}
    _, importer = find_importer(tmp_path / "shards")
    session = importer.read(next(iter(importer.items(tmp_path / "shards"))))
    assert [step.extra["pointing"] for step in session.steps if isinstance(step, Utterance)] == pointing
    export([source], tmp_path / "weblinx", "weblinx")
    [replay] = (tmp_path / "weblinx").glob("demonstrations/*/replay.json")
    said = [turn for turn in json.loads(replay.read_text())["data"] if turn["type"] == "chat"]
    assert [turn["utterance"] for turn in said] == [
        turn["utterance"] for turn in demonstration["turns"] if turn["type"] == "chat"]
    [turn, *_] = [turn for turn in demonstration["turns"] if turn["type"] == "chat"]
    turn["pointing"]["element"]["name"] = "Write to ann.lee@example.org"
    redacted = redactor(demonstration, ()).walk(turn)
    assert redacted["pointing"]["element"]["name"] == "Write to [REDACTED]"
    assert redacted["pointing"]["box"] == turn["pointing"]["box"]
