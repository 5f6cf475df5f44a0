"""The control page in a live room: what the instructor says, edits and deletes, and who is there."""

import re

import pytest

from pipeline import process
from recorder import Recorder, Recording
from recorder.building.chat import MessageRefused
from recorder.control.control_page import ControlPage


def message(id_: str, text: str, kind: str = "say", changes: str | None = None) -> dict:
    return {"id": id_, "kind": kind, "text": text, "changes": changes, "began": None, "sent": None,
            "uncertainty": None}


PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
POINTING = {"tab": 1, "picture_time": 0.5, "box": {"x": 1, "y": 2, "width": 0, "height": 0}, "element": {
    "uid": "a-1", "tag": "button", "role": "button", "name": "Buy tea", "frame": [], "bbox": None}}


def test_the_navigator_sees_the_chat_of_the_room_and_who_is_there(recording_browser, site, tmp_path):
    site.pages["/"] = "<h1>Shop</h1>"

    async def work():
        context = await recording_browser.browser.new_context()
        page = await context.new_page()
        async with Recorder(context, tmp_path / "rec") as recorder:
            await page.goto(site.origin + "/")
            async with ControlPage(recording_browser.browser, recorder, lambda: None, windowed=False,
                                   room=True) as control:
                await user_actions(recorder, control)
        await context.close()

    async def user_actions(recorder, control):
        await control.locator("#state", has_text="Recording").wait_for()
        assert not await control.locator("#speakers").is_visible()
        recorder.announce({"type": "room", "people": []})
        await control.locator("#room", has_text="Live room: not connected").wait_for()
        recorder.announce({"type": "room", "people": [{"role": "navigator", "name": "ann"},
                                                      {"role": "instructor", "name": None},
                                                      {"role": "observer", "name": "lea"}]})
        await control.locator("#room", has_text="Live room: instructor, observer lea").wait_for()
        for each in (message("a", "Pres the button"), message("b", "Not this"), message("c", "Press it", "edit", "a"),
                     message("d", "", "delete", "b")):
            recorder.add_message("instructor", each, lambda: None, POINTING if each["id"] == "a" else None)
        await control.locator("#lines .undone", has_text="Not this").wait_for()
        recorder.announce({"type": "pointing", "id": "a", "picture": PIXEL,
                           "region": {"x": 0.25, "y": 0.5, "width": 0.5, "height": 0.25}})
        recorder.announce({"type": "pointing", "id": "unknown", "picture": None, "region": None})
        await control.locator("#lines figcaption", has_text="Points at: button “Buy tea”").wait_for()
        ring = await control.locator(".ring").evaluate("ring => [ring.style.left, ring.style.height]")
        assert ring == ["25%", "25%"]
        await control.locator(".pointing img").evaluate("image => image.decode()")
        await control.locator("#utterance").fill("Which one?")
        await control.keyboard.press("Enter")
        await control.locator("#lines", has_text="Which one?").wait_for()
        await control.keyboard.press("Alt+h")
        await control.locator("#lines", has_text="Needs help").wait_for()
        await control.locator("#utterance").fill("It is in the cart")
        await control.keyboard.press("Alt+d")
        await control.locator("#lines", has_text="Done: It is in the cart").wait_for()
        assert await control.locator("#utterance").input_value() == ""
        text = await control.locator("#lines").inner_text()
        assert re.findall("Press it|Pres the button|Not this|Which one", text) == ["Press it", "Not this", "Which one"]
        with pytest.raises(MessageRefused, match="unknown"):
            recorder.add_message("instructor", message("e", "x", "edit", "zz"), lambda: None)
        with pytest.raises(MessageRefused, match="empty"):
            recorder.add_message("instructor", message("f", "  "), lambda: None)

    recording_browser.run(work())
    demonstration = process(Recording(tmp_path / "rec").layout.root)
    assert demonstration["labels"] == {"outcome": ["success"], "help": ["navigator"]}
    turns = demonstration["turns"]
    assert [(turn["speaker"], turn["utterance"]) for turn in turns if turn["type"] == "chat"] == [
        ("instructor", "Press it"), ("navigator", "Which one?"), ("navigator", "It is in the cart")]
