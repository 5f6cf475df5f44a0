"""A small synthetic recording and its demonstration: a form, a frame in a frame, a shadow root, odd markup."""

import json
from datetime import datetime, timedelta, timezone
from html import escape
from pathlib import Path

import cv2
import numpy

from recorder import Recording
from recorder.writer import RecordingWriter
from schemas import UID_ATTRIBUTE

STARTED_AT = datetime(2024, 3, 5, 14, 30, 0, 250_000, tzinfo=timezone(timedelta(hours=-5)))
VIEWPORT = {"width": 640, "height": 400}


def html(text: str) -> str:
    """Markup with `u=` standing for the uid attribute."""
    return text.replace(" u=", f" {UID_ATTRIBUTE}=")


INNERMOST = html('<!DOCTYPE html><html u="g1"><head u="g2"></head><body u="g3">'
                 '<form u="g4"><input u="g5" type="checkbox" checked=""></form></body></html>')
FRAME = html(f'<!DOCTYPE html><html u="f1" data-demotape-base="https://pay.example/"><head u="f2">'
             f'<base u="f9" href="/x/"><title u="f3">Pay</title></head>'
             f'<body u="f4"><form u="f5"><button u="f6">Pay & go</button></form>'
             f'<iframe u="f7" srcdoc="{escape(INNERMOST)}" data-demotape-src="about:blank"></iframe></body></html>')


def page(query: str = "") -> bytes:
    """DOM snapshot of the shop page with a value in its search field."""
    return html(f'''<!DOCTYPE html><html u="1" lang="en"><head u="2"><meta u="3" charset="iso-8859-1">
<title u="4">Läden & more</title><script u="5"></script></head><body u="6" data-demotape-scroll="0,10">
<form u="7"><p u="8"><label u="9">Search</label><input u="10" type="search" value="{escape(query)}">
<button u="11" type="submit">Go</button></p>
<iframe u="12" srcdoc="{escape(FRAME)}" data-demotape-src="https://pay.example/frame"></iframe></form>
<x-card u="13"><template shadowrootmode="closed"><div u="14"><button u="15" class="a b">In the “shade”</button>
<slot u="16"></slot></div></template><b u="17">light</b></x-card>
<select u="18"><option u="19" value="1">One</option><option u="20" value="2" selected="">Two</option></select>
</body></html>''').encode()


def screenshot(shade: int) -> bytes:
    """A JPEG of one grey with a mark."""
    pixels = numpy.full((VIEWPORT["height"], VIEWPORT["width"], 3), shade, numpy.uint8)
    cv2.rectangle(pixels, (40, 40), (200, 80), (0, 0, 255), 3)
    return cv2.imencode(".jpg", pixels)[1].tobytes()


BOXES = {"10": (20, 40, 200, 24), "11": (230, 40, 40, 24), "f6": (30, 130, 80, 20), "15": (20, 260, 120, 24),
         "18": (20, 300, 80, 20)}
FRAMES = {"f5": ["12"], "f6": ["12"], "g5": ["12", "f7"]}


def box(uid: str) -> dict | None:
    """Bounding box of an element of the page, CSS pixels."""
    return dict(zip(("x", "y", "width", "height"), BOXES[uid], strict=True)) if uid in BOXES else None


def element(uid: str, tag: str, **fields) -> dict:
    """An element as events and turns carry it."""
    return {"uid": uid, "tag": tag, "role": "", "name": "", "text": "", "attributes": {}, "xpath": f"//{tag}",
            "css": tag, "frame": FRAMES.get(uid, []), "bbox": box(uid)} | fields


def table() -> bytes:
    """The element table of the page; it lacks the form, whose box is only known from the event."""
    return json.dumps([
        {"uid": uid, "tag": "x", "role": "", "name": "", "frame": FRAMES.get(uid, []), "bbox": box(uid),
         "visible": True, "clickable": True} for uid in BOXES]).encode()


def write_recording(path: Path, **manifest) -> Recording:
    """A finished recording with four events, three states and two typed utterances; without video."""
    writer = RecordingWriter(path, {
        "format": "demotape/recording", "version": 1, "id": path.name, "task": "Find lamps & pay",
        "started_at": STARTED_AT, "user_agent": "Mozilla/5.0 (test)", "browser": "Chromium 140", "viewport": VIEWPORT,
        "options": {}} | manifest)
    for number, (kind, target, value) in enumerate(EVENTS):
        writer.event({"time": 1.0 + number, "type": kind, "tab": 1, "gesture": None, "target": target,
                      "data": value, "state": state(writer, number)})
    writer.resource({"url": "https://shop.example/a.css", "content_type": "text/css", "time": 0.4,
                     "blob": writer.blob(b"b { color: red }")})
    writer.chat({"time": 0.5, "speaker": "instructor", "utterance": "Find lamps – please"})
    writer.chat({"time": 3.5, "speaker": "navigator", "utterance": "Pay now?"})
    writer.close(STARTED_AT + timedelta(seconds=30))
    return Recording(path)


EVENTS = [
    ("click", element("10", "input"), {"x": 50.0, "y": 50.0, "button": 0, "modifiers": [], "detail": 1}),
    ("input", element("10", "input"), {"value": "lamps", "input_type": "insertText"}),
    ("click", element("11", "button", text="Go"), {"x": 240.0, "y": 50.0, "button": 0, "modifiers": [], "detail": 1}),
    ("navigate", None, {"url": "https://shop.example/?q=lamps", "transition": "reload"}),
]


def state(writer: RecordingWriter, number: int) -> dict:
    """The state before event `number`; the first two share their page, all have pictures of their own."""
    return {"tab": 1, "url": "https://shop.example/", "title": "Läden & more", "viewport": VIEWPORT, "zoom": 1.0,
            "device_pixel_ratio": 1.0, "scroll": {"x": 0.0, "y": 10.0},
            "dom": writer.blob(page("" if number < 2 else "lamps")), "elements": writer.blob(table()),
            "screenshot": writer.blob(screenshot(50 + 40 * number)), "screenshot_time": 0.9 + number}


def make_demonstration(recording: Recording) -> dict:
    """A demonstration with every intent, in the frame, the shadow root and the top document."""
    states = [event["state"] | {"video_time": None, "screenshot_status": "good"} for event in recording.events]
    point = {"x": 50.0, "y": 50.0, "button": 0, "modifiers": ["Shift"]}
    form = element("f5", "form", bbox={"x": 25, "y": 120, "width": 300, "height": 60})
    actions = [
        ("load", {"url": "https://shop.example/", "transition": "typed"}, None, 0),
        ("click", point, element("10", "input"), 0),
        ("textInput", {"text": "lamps"}, element("10", "input"), 1),
        ("press", {"key": "Enter"}, element("10", "input"), 2),
        ("submit", {}, form, 2),
        ("dblclick", point, element("15", "button"), 2),
        ("click", {"x": None, "y": None, "button": 0, "modifiers": [], "keyboard": True}, element("f6", "button"), 3),
        ("change", {"checked": True}, element("g5", "input", bbox={"x": 1, "y": 2, "width": 3, "height": 4}), 3),
        ("change", {"value": "2", "label": "Two"}, element("18", "select"), 3),
        ("hover", point, element("15", "button"), 3),
        ("click", point, None, 3),
        ("scroll", {"x": 0, "y": 120.5}, None, 3),
        ("copy", {"text": "lämps"}, None, 3),
        ("paste", {"text": "lämps"}, element("10", "input"), 3),
        ("drag", {"from": {"x": 1, "y": 1}, "to": {"x": 2, "y": 2}}, element("15", "button"), 3),
        ("upload", {"files": ["a.pdf"]}, element("10", "input"), 3),
        ("dialog", {"kind": "alert", "message": "Hi", "accepted": True}, None, 3),
        ("reload", {}, None, 3),
        ("back", {}, None, 3),
        ("forward", {}, None, 3),
        ("tabcreate", {"tab": 2}, None, None),
        ("tabswitch", {"origin": 1, "target": 2}, None, None),
        ("tabremove", {"tab": 2}, None, None),
    ]
    turns = [{"id": "chat-a", "type": "chat", "timestamp": 0.25, "speaker": "instructor", "utterance": "Find “lamps”"}]
    for number, (intent, arguments, target, index) in enumerate(actions):
        turns.append({
            "id": f"t{number}", "type": "browser", "timestamp": 1.0 + number * 0.5, "intent": intent,
            "arguments": arguments, "element": target, "state": None if index is None else states[index],
            "events": [4] if intent == "reload" else [], "checks": [], "dropped": False})
    turns.append({"id": "gone", "type": "chat", "timestamp": 20, "speaker": "navigator", "utterance": "x",
                  "dropped": True})
    turns.append({"id": "chat-b", "type": "chat", "timestamp": 21, "speaker": "navigator", "utterance": "Done ✓"})
    return {"format": "demotape/demonstration", "version": 1, "id": recording.id, "recording": recording.id,
            "task": recording.task, "turns": turns}
