"""Where text stands that its element's box does not tell of is in the element table."""

import json

import pytest

WAYS = {
    "display: contents": ("display:contents", False),
    "no height": ("display:block;height:0;width:300px", False),
    "right of its box": ("display:block;width:30px;white-space:nowrap", True),
    "left of its box": ("display:block;margin-left:420px;text-indent:-380px;width:400px", True),
    "out of sight": ("display:block;position:absolute;left:-40px;width:30px;white-space:nowrap", True),
    "cut off": ("display:block;width:30px;white-space:nowrap;overflow:hidden", None),
    "as usual": ("", None),
}
TEXT = "The text that is looked for"
OTHER = "<!DOCTYPE html><body style='margin:0'>{}"


def rows(session) -> list[dict]:
    [turn] = [turn for turn in session.turns if turn["intent"] == "click"]
    return json.loads(session.recording.blob(turn["state"]["elements"]))


@pytest.mark.parametrize("way", ["recorder", "extension"])
@pytest.mark.parametrize("frame", [False, True], ids=["page", "frame of another site"])
def test_the_table_tells_where_text_stands(request, site, way, frame):
    texts = "".join(f"<p><b data-n='{name}' id=c{number} style='{style}'>{TEXT}</b></p>"
                    for number, (name, (style, _)) in enumerate(WAYS.items()))
    site.pages |= {"/": OTHER.format(f"{texts}<button>Go</button>"), "/frame": OTHER.format(
        f"<iframe src={site.other_origin} style='border:0;margin:50px;width:700px;height:500px'></iframe>")}

    async def act(page):
        inner = page.frames[-1]
        truth = await inner.evaluate("""() => [...document.querySelectorAll('b')].map(element => {
            const range = document.createRange(); range.selectNodeContents(element);
            const {x, y, width, height} = range.getBoundingClientRect(); return {x, y, width, height} })""")
        await inner.locator("button").click()
        return truth

    fixture = request.getfixturevalue("recording_browser" if way == "recorder" else "chrome")
    session = fixture.record(act, url=site.origin + ("/frame" if frame else "/"))
    shift = 50 if frame else 0
    found = [row for row in rows(session) if row["tag"] == "b"]
    assert len(found) == len(WAYS) and all(row["visible"] for row in found)
    for row, text, (name, (_, apart)) in zip(found, session.answer, WAYS.items(), strict=True):
        box = row.get("text_bbox", row["bbox"])
        assert ("text_bbox" in row) == bool(apart), name
        if apart is not None:
            assert box == pytest.approx(text | {"x": text["x"] + shift, "y": text["y"] + shift}, abs=0.01), name


@pytest.mark.parametrize("way", ["recorder", "extension"])
def test_what_stands_in_sight_inside_what_is_out_of_sight_is_in_the_table(request, site, way):
    gone = "position:absolute;top:3000px;height:9px;width:9px"
    site.pages["/"] = OTHER.format("<button>Go</button>" + "".join(
        f"<div style='{gone}'><p><b style='left:60px;{style}'>{TEXT}</b></p></div>"
        for style in ("position:fixed;top:500px", "position:absolute;top:-2561px")))
    fixture = request.getfixturevalue("recording_browser" if way == "recorder" else "chrome")
    session = fixture.record(lambda page: page.locator("button").click(), url=site.origin + "/")
    assert [row["bbox"]["x"] for row in rows(session) if row["tag"] == "b"] == [60, 60]
