"""A small generated recording with its demonstration, for tests of the review app."""

import json
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from uuid import uuid4

import cv2
import numpy
import pytest
from flask import Flask

from curator_web import create_app, server, vendor
from curator_web.db.database import Database
from curator_web.demonstrations.library.library import current, import_recording
from curator_web.storage.recordings import RecordingStore
from pipeline import process
from pipeline.cache.inputs import hash_file
from recorder.media.painted_frames import PaintedFrame
from recorder.media.video import VideoWriter
from recorder.writer import RecordingWriter

TASK = "Book the cheapest flight from Anchorage to Seattle"
VIEWPORT = {"width": 1280, "height": 720}
STARTED = datetime(2025, 3, 4, 9, 30, tzinfo=UTC)
BOX = {"x": 320, "y": 180, "width": 200, "height": 40}


@cache
def screenshot(shade: int) -> bytes:
    """A real JPEG: a plain page with a field where the target's box is."""
    picture = numpy.full((VIEWPORT["height"], VIEWPORT["width"], 3), (240, 240 - shade % 60, 235), numpy.uint8)
    cv2.rectangle(picture, (0, 0), (1280, 64), (90, 60 + shade, 30), -1)
    corners = (BOX["x"], BOX["y"]), (BOX["x"] + BOX["width"], BOX["y"] + BOX["height"])
    cv2.rectangle(picture, *corners, (255, 255, 255), -1)
    cv2.rectangle(picture, *corners, (120, 120, 120), 1)
    cv2.putText(picture, f"Page {shade}", (40, 44), cv2.FONT_HERSHEY_SIMPLEX, 1, (255, 255, 255), 2)
    return cv2.imencode(".jpg", picture)[1].tobytes()


def dom(body: str) -> bytes:
    """A DOM snapshot as the capture script writes it."""
    return (f'<!DOCTYPE html><html data-demotape-uid="1" data-demotape-base="https://air.example/">'
            f'<head data-demotape-uid="2"></head><body data-demotape-uid="3">{body}</body></html>').encode()


def element(**changes) -> dict:
    """A target."""
    return {"uid": "9", "tag": "input", "role": "textbox", "name": "From city", "text": "",
            "attributes": {"id": "from", "data-demotape-uid": "9"}, "xpath": "/html/body/input[1]", "css": "#from",
            "frame": [], "bbox": BOX} | changes


# What was in sight at every turn: the field, a link that is not in the DOM of most turns, and the page.
TABLE = [{"uid": uid, "tag": tag, "role": role, "name": name, "frame": [], "bbox": box, "visible": True,
          "clickable": clickable} for uid, tag, role, name, box, clickable in (
    ("1", "body", "", "", {"x": 0, "y": 0, "width": 1280, "height": 720}, False),
    ("9", "input", "textbox", "From city", BOX, True),
    ("7", "a", "link", "All offers", {"x": 700, "y": 500, "width": 120, "height": 30}, True))]


def state(writer: RecordingWriter, number: int, body: str) -> dict:
    """A state whose blobs are in the recording."""
    return {"tab": 1, "url": f"https://air.example/book?step={number}", "title": "Book a flight",
            "viewport": VIEWPORT, "zoom": 1, "device_pixel_ratio": 1, "scroll": {"x": 0, "y": 0},
            "dom": writer.blob(dom(body)), "elements": writer.blob(json.dumps(TABLE).encode()),
            "screenshot": writer.blob(screenshot(number)),
            "screenshot_time": number - 0.05, "video_time": number - 0.05, "screenshot_status": "good"}


def chat(number: int, speaker: str, utterance: str) -> dict:
    """A chat turn."""
    return {"id": f"t{number}", "type": "chat", "timestamp": float(number), "speaker": speaker,
            "utterance": utterance, "checks": [], "dropped": False}


def action(writer: RecordingWriter, number: int, intent: str, arguments: dict, body: str = "<p>Book a flight</p>",
           **changes) -> dict:
    """A browser turn."""
    return {"id": f"t{number}", "type": "browser", "timestamp": float(number), "intent": intent,
            "arguments": arguments, "element": element(), "state": state(writer, number, body), "events": [number],
            "checks": [], "dropped": False} | changes


def pointer(x: float = 400, y: float = 200) -> dict:
    """Arguments of a click."""
    return {"x": x, "y": y, "button": 0, "modifiers": [], "keyboard": False}


def turns(writer: RecordingWriter) -> list[dict]:
    """Six turns: two of chat, four actions; t1 to t6."""
    field = ('<input data-demotape-uid="9" id="from" value="Anchorage"><p><a data-demotape-uid="7" class="wide" '
             'href="/offers">All <b>offers</b></a></p>')
    return [
        chat(1, "instructor", "Plese book a flight to Seatle"),
        action(writer, 2, "load", {"url": "https://air.example/book", "transition": "typed"}, element=None),
        action(writer, 3, "click", pointer(), field,
               checks=[{"kind": "pointer_outside", "reason": "The pointer is not in the target's box."}]),
        action(writer, 4, "textInput", {"text": "Ancorage"}, field),
        chat(5, "navigator", "Done, which date?"),
        action(writer, 6, "submit", {}, element=element(uid="12", tag="button", role="button", name="Search flights")),
    ]


HOSTILE = ("<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
           "{{ 77777 * 77777 }}\ud83d")


def hostile_turns(writer: RecordingWriter) -> list[dict]:
    """Script in every place where text can stand, and half of a surrogate pair."""
    body = (f"{HOSTILE[:-1]}<svg onload=\"top.document.title='owned'\"></svg><a href=\"javascript:alert(1)\">x</a>"
            "<meta http-equiv=refresh content=\"0;url=/\"><link rel=stylesheet href=https://evil.example/x.css>"
            "<style>body { background: rgb(1, 2, 3) }</style>")
    target = element(uid='9"]{}*{display:none', name=HOSTILE, text=HOSTILE, attributes={HOSTILE: HOSTILE}, css=HOSTILE,
                     bbox=BOX | {"width": 1e9})
    return [
        chat(1, "instructor", HOSTILE),
        action(writer, 2, "textInput", {"text": HOSTILE}, body, element=target, id=f"t2{HOSTILE}",
               checks=[{"kind": HOSTILE, "reason": HOSTILE}]),
        action(writer, 3, "click", pointer(1e9, -1e9), body, element=target),
        action(writer, 4, "load", {"url": "javascript:document.title='owned'", "transition": HOSTILE}, element=None),
    ]


def manifest(recording_id: str = "rec-1", task: str = TASK) -> dict:
    """What a recorder knows at the start."""
    return {"format": "demotape/recording", "version": 1, "id": recording_id, "task": task, "started_at": STARTED,
            "user_agent": "test", "browser": "Chromium", "viewport": VIEWPORT, "options": {}}


def make_recording(folder: Path, *, task: str = TASK, recording_id: str = "rec-1", make_turns=turns,
                   change=lambda turns: None, **told) -> Path:
    """Write a complete, processed recording and return its folder. `told`: what its manifest tells besides."""
    path = folder / recording_id
    writer = RecordingWriter(path, manifest(recording_id, task) | told)
    content = {"format": "demotape/demonstration", "version": 1, "id": recording_id, "recording": recording_id,
               "task": task, "turns": make_turns(writer)}
    change(content["turns"])
    writer.close(STARTED.replace(minute=31))
    (path / "demonstration.json").write_text(json.dumps(content))
    return path


def typed_recording(folder: Path, *, recording_id: str = "", video: bool = False) -> Path:
    """A recording in which somebody typed `town` into a field, letter by letter, processed; perhaps with its video."""
    path = folder / (recording_id or f"typed-{uuid4().hex[:8]}")
    writer = RecordingWriter(path, manifest(path.name))
    for number, letter in enumerate("town", 1):
        text = "town"[:number]
        body = f'<input data-demotape-uid="9" id="from" value="{text[:-1]}">'
        seen = state(writer, number, body)
        for name in ("video_time", "screenshot_status"):
            del seen[name]
        key = writer.event({"time": float(number), "type": "keydown", "tab": 1, "gesture": None, "target": element(),
                            "data": {"key": letter, "code": "", "repeat": False, "modifiers": []}, "state": seen})
        writer.event({"time": number + 0.01, "type": "input", "tab": 1, "gesture": key, "target": element(),
                      "data": {"value": text, "input_type": "insertText"}, "state": None})
    writer.close(STARTED.replace(minute=31))
    if video:
        film = VideoWriter(path / "video.webm")
        for number in range(1, 5):
            film.add(PaintedFrame(screenshot(number), number - 0.05))
        film.close()
        assert film.error is None
    process(path)
    return path


def both_databases(test):
    """Have a browser test run on PostgreSQL too; its `site` is made by `database_of`."""
    return pytest.mark.parametrize("site", ["sqlite", "postgresql"], indirect=True)(test)


def database_of(request: pytest.FixtureRequest) -> str | None:
    """The URL of the database that a test's `site` is on; None for the usual one."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return None
    return request.getfixturevalue("postgresql").new()


@contextmanager
def app_with(data: Path, recordings: Iterable[Path]) -> Iterator[Flask]:
    """The review app on SQLite with these recordings, its front-end libraries in place."""
    assert vendor.main() == 0
    app = create_app(None, data)
    services = app.extensions["demotape"]
    for recording in recordings:
        import_recording(services.db, services.store, recording)
    try:
        yield app
    finally:
        services.jobs.close()
        services.db.close()


@contextmanager
def serving(app: Flask) -> Iterator[str]:
    """The app over HTTP; yields its address."""
    running = server.make(app)
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.address(running)
    finally:
        running.shutdown()
        thread.join()
        running.server_close()


@dataclass
class Site:
    """The app while it is served, and what it holds."""

    url: str
    db: Database
    store: RecordingStore

    def turns(self, demonstration_id: str) -> list[dict]:
        return current(self.db, demonstration_id)["turns"]

    def ids(self, demonstration_id: str) -> list[str]:
        return [turn["id"] for turn in self.turns(demonstration_id)]


ALIGNMENT = {
    "width": 960, "height": 600, "duration": 9.0,
    "stretches": [{"begin": 0.0, "end": 9.0, "offset": 2.0, "drift": 150.0}],
    "segments": [{"begin": 0.5, "end": 5.4, "rectangle": {"left": 60.0, "top": 50.0, "width": 0.5, "height": 0.5}},
                 {"begin": 6.2, "end": 9.0, "rectangle": {"left": 160.0, "top": 90.0, "width": 0.5, "height": 0.5}}]}


def filmed_recording(folder: Path, *, recording_id: str = "filmed", keep_video: bool = True) -> Path:
    """A processed recording with an external video that shows its pages in a window, which moves once."""
    def place(turns: list[dict]) -> None:
        for turn in turns:
            if turn["type"] == "browser":
                turn["state"] |= {"video_time": round(2 + turn["timestamp"] * (1 + 150e-6), 4), "similarity": 0.96,
                                  "confidence": 0.35 if turn["id"] == "t4" else 0.95}
                turn["checks"] += [{"kind": "unsure-in-video", "reason": "x"}] * (turn["id"] == "t4")

    path = make_recording(folder, recording_id=recording_id, change=place)
    content = json.loads((path / "demonstration.json").read_text()) | {"alignment": ALIGNMENT}
    (path / "demonstration.json").write_text(json.dumps(content))
    video = folder / f"{recording_id}.webm"
    video.write_bytes(_film())
    (path / "processed.json").write_text(json.dumps({
        "format": "demotape/processed", "version": 1, "inputs": {"external video": hash_file(video)},
        "demonstration": hash_file(path / "demonstration.json"), "derived": [], "given": {"video": str(video)}}))
    if not keep_video:
        video.unlink()
    return path


@cache
def _film() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.webm"
        _write_film(path)
        return path.read_bytes()


def _write_film(path: Path) -> None:
    film = VideoWriter(path)
    for number in range(91):
        frame = numpy.full((600, 960, 3), (60, 50, 45), numpy.uint8)
        time = number / 10
        segment = next((each for each in ALIGNMENT["segments"] if each["begin"] <= time <= each["end"]), None)
        if segment:
            page = cv2.resize(cv2.imdecode(numpy.frombuffer(screenshot(max(0, int(time) - 2)), numpy.uint8), 1),
                              (640, 360), interpolation=cv2.INTER_AREA)
            left, top = int(segment["rectangle"]["left"]), int(segment["rectangle"]["top"])
            frame[top:top + 360, left:left + 640] = page
        cv2.putText(frame, f"{time:.1f}", (830, 580), cv2.FONT_HERSHEY_SIMPLEX, 1, (255, 255, 255), 2)
        film.add(PaintedFrame(cv2.imencode(".jpg", frame)[1].tobytes(), time))
    film.close()
    assert film.error is None
