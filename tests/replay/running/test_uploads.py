"""What was uploaded is uploaded again by name, and is still there when a form sends it later; no name leads out."""

import re

import pytest

from recorder import Recorder
from replay.running.acting import ActionFailed, Actor

PAGE = """<!DOCTYPE html><form method=post action=/sent enctype=multipart/form-data><input type=file id=files name=files
multiple><button>Send</button></form>"""
FIELD = {"uid": "", "tag": "input", "role": "", "name": "", "text": "", "attributes": {"id": "files", "type": "file"},
         "xpath": "/html/body/form/input", "css": "#files", "frame": [], "bbox": None}
NAMES = ["a.csv", "../../out.txt", "..", "", "C:\\notes\\b.txt", "nul\0l.txt", "é" * 300, "\ud800.txt"]


def test_a_form_sends_what_was_chosen_before(recording_browser, site, tmp_path):
    site.pages |= {"/": PAGE, "/sent": "<p>Sent"}
    uploads = tmp_path / "uploads"
    uploads.mkdir()

    async def act():
        context = await recording_browser.browser.new_context()
        page = await context.new_page()
        async with Recorder(context, tmp_path / "recording") as recorder:
            await page.goto(site.origin)
            actor = Actor(page, recorder.tabs[0].worlds, uploads)
            await actor.act("upload", {"files": NAMES}, FIELD)
            await page.locator("button").click()
            await page.get_by_text("Sent").wait_for()
            with pytest.raises(ActionFailed, match="http"):
                await actor.act("load", {"url": "file:///etc/passwd", "transition": "typed"}, None)
            with pytest.raises(ActionFailed, match="press"):
                await actor.act("press", {"key": "Control+\0no key"}, None)
        await context.close()

    recording_browser.run(act())
    body = site.posted[-1].decode("utf-8", "replace")
    sent = re.findall(r'filename="([^"]*)"', body)
    assert sent[:6] == ["a.csv", "out.txt", "file", "file", "b.txt", "null.txt"] and sent[6] == "é" * 100
    assert body.count("its content was not kept") == len(NAMES)
    assert {path.resolve().is_relative_to(uploads) for path in uploads.rglob("*")} == {True}
