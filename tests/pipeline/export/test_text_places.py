"""Personal data that no element's plain text and box tell of: in no exported picture all the same."""

import asyncio

import pytest

from pipeline import process
from pipeline.export import Source, export
from pipeline.privacy.misread import Values
from pipeline.privacy.reading import lines
from recorder import Recorder, Recording
from recorder.pictures import decoded
from tests.support.sessions import painted

MAILS = ("anna.kale@one.example", "berta-roth@zwei.de", "xu23@hosting.example", "doris_muth@kiosk.fr",
         "wolf1977@blau.example", "frida.zorn@lakes.org", "ghahn@mountain.net", "hm+shop@pear.example")
CONTENTS, LEFT, FLAT, ALT, OPTION, GROUP, FIXED, SHEET = MAILS
PAGE = f"""<!DOCTYPE html><body style='margin:20px;font:18px sans-serif'>
<p><b style='display:contents'>{CONTENTS}</b></p>
<p style='margin-left:400px;text-indent:-380px;width:300px'>{LEFT}</p>
<p style='height:0;width:300px;margin-bottom:40px'>{FLAT}</p><p><img src=/none.png alt='{ALT}'></p>
<select size=4 style='font:18px sans-serif'><option label='{OPTION}'></option><optgroup label='{GROUP}'>
<option>x</option></optgroup></select><button>Go</button>
<div style='position:absolute;top:3000px;height:9px;width:9px'><p><b style='position:fixed;left:60px;top:520px'>{FIXED}
</b></p></div>"""
GENERATED = {
    "attribute": f"<link rel=stylesheet href=/a.css><p data-mail='{SHEET}'></p><button style='margin:60px'>Go</button>",
    "style sheet": f"<style>p::after {{ content: '{SHEET}' }}</style><p></p><button>Go</button>"}


def record(recording_browser, site, directory, page):
    """Press a button and then, far below, where nothing of the top is to be seen, on the page."""
    site.pages |= {"/": page, "/a.css": ("text/css", b"p::after { content: attr(data-mail); position: absolute }")}

    async def work():
        context = await recording_browser.browser.new_context(viewport={"width": 800, "height": 600})
        async with Recorder(context, directory):
            tab = await context.new_page()
            await tab.goto(site.origin + "/")
            await painted(tab)
            await asyncio.sleep(0.5)
            await tab.click("button")
            await tab.evaluate("scrollTo(0, 1500)")
            await painted(tab)
            await asyncio.sleep(0.5)
            await tab.mouse.click(700, 300)
        await context.close()

    recording_browser.run(work())
    return Source(process(directory), Recording(directory))


def readable(pictures: list[bytes]) -> list[str]:
    """Which of the addresses OCR reads in pictures."""
    text = [line.text for picture in pictures for line in lines(decoded(picture))]
    return [mail for mail in MAILS if any(Values([mail]).stand_in(line) for line in text)]


def pictures_of(source: Source) -> list[bytes]:
    states = [turn["state"] for turn in source.turns if turn["type"] == "browser" and turn["state"]]
    return [source.recording.blob(name) for name in {state["screenshot"] for state in states} if name]


def test_no_picture_shows_text_that_boxes_do_not_tell_of(recording_browser, site, tmp_path):
    source = record(recording_browser, site, tmp_path / "rec", PAGE)
    export([source], tmp_path / "out", "weblinx")
    written = [path.read_bytes() for path in (tmp_path / "out").rglob("*.png")]
    assert len(readable(pictures_of(source))) == 7 and written
    assert readable(written) == []


@pytest.mark.parametrize("name", GENERATED)
def test_pictures_in_which_style_sheets_may_show_it_are_left_out(recording_browser, site, tmp_path, name):
    source = record(recording_browser, site, tmp_path / "rec", "<!DOCTYPE html>" + GENERATED[name])
    assert readable(pictures_of(source)) == [SHEET]
    summary = export([source], tmp_path / "out", "weblinx", set_of_marks=True)
    assert summary.pictures_left_out and not list((tmp_path / "out").rglob("*.png"))
