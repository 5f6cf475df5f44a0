"""Personal data and secrets: gone from everything that an export writes, unless they are allowed."""

import base64
import email
import gzip
import json
import re
import zlib
from email.mime.base import MIMEBase
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

import cv2
import numpy
import pytest
import zstandard

from pipeline.export import FORMATS, Source, export
from pipeline.export.archives import mhtml_without
from pipeline.privacy.finding import KINDS
from pipeline.privacy.redacting import Redactor, blur
from recorder import Recording
from recorder.writer import RecordingWriter
from schemas import InputError
from tests.support.checkout import ROOT
from tests.support.samples.recording_fixtures import STARTED_AT, VIEWPORT, html

MAIL, PHONE, CARD, TOKEN = "ann.lee@shop.example", "+49 30 1234567", "4111 1111 1111 1111", "s3cr3tT0kenValue"
SECRETS = {"email": MAIL, "phone": PHONE, "card": CARD, "token": TOKEN}
BOX = {"x": 20.0, "y": 40.0, "width": 300.0, "height": 30.0}
ELSEWHERE = {"x": 20.0, "y": 200.0, "width": 300.0, "height": 30.0}


def striped() -> bytes:
    """A picture whose columns are black and white in turn: what is blurred has no contrast left."""
    pixels = numpy.zeros((VIEWPORT["height"], VIEWPORT["width"], 3), numpy.uint8)
    pixels[:, ::2] = 255
    return cv2.imencode(".png", pixels)[1].tobytes()


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    root = tmp_path_factory.mktemp("redact") / "rec"
    writer = RecordingWriter(root, {
        "format": "demotape/recording", "version": 1, "id": "rec", "task": f"Write to {MAIL}",
        "started_at": STARTED_AT, "user_agent": "", "browser": "", "viewport": VIEWPORT, "options": {}})
    page = html(f'''<html u="1"><body u="2"><p u="3">Mail: <b u="4">{MAIL}</b></p>
<input u="5" value="{CARD}"><i u="6" data-key="{TOKEN}">x</i><a u="7" href="/u?mail=ann.lee%40shop.example">me</a>
<p u="8">Call {PHONE} &amp; ask</p><script u="9">"{MAIL}"</script></body></html>''').encode()
    rows = [{"uid": uid, "tag": "p", "role": "", "name": name, "frame": [], "bbox": box, "visible": True,
             "clickable": True} for uid, name, box in (
                ("2", "", {"x": 0.0, "y": 0.0, "width": 640.0, "height": 400.0}), ("4", MAIL, BOX),
                ("6", "x", ELSEWHERE), ("7", "me", ELSEWHERE))]
    tree = [{"id": 1, "parent": None, "role": "text", "name": f"Mail: {MAIL}"}]
    state = {"tab": 1, "url": f"https://shop.example/?token={TOKEN}", "title": f"Inbox of {MAIL}",
             "viewport": VIEWPORT, "zoom": 1.0, "device_pixel_ratio": 1.0, "scroll": {"x": 0.0, "y": 0.0},
             "dom": writer.blob(page), "elements": writer.blob(json.dumps(rows).encode()),
             "screenshot": writer.blob(striped()), "screenshot_time": 1.0, "video_time": None,
             "screenshot_status": "good", "screenshot_agrees": True, "axtree": writer.blob(json.dumps(tree).encode())}
    target = {"uid": "4", "tag": "b", "role": "", "name": MAIL, "text": MAIL, "attributes": {"title": MAIL, "id": MAIL},
              "xpath": "//b", "css": "b", "frame": [], "bbox": BOX}
    common = {"type": "browser", "timestamp": 2.0, "state": state, "events": [], "checks": [], "dropped": False}
    turns = [
        {"id": "c", "type": "chat", "timestamp": 1.0, "speaker": "instructor", "utterance": f"My number is {PHONE}."},
        common | {"id": "a", "intent": "click", "element": target, "arguments": {
            "x": 30.0, "y": 50.0, "button": 0, "modifiers": []}},
        common | {"id": "b", "intent": "textInput", "element": target, "arguments": {"text": CARD}},
        common | {"id": "d", "intent": "load", "element": None, "arguments": {
            "url": f"https://shop.example/?token={TOKEN}&mail=ann.lee%40shop.example", "transition": "typed"}},
        {"id": "x", "type": "chat", "timestamp": 9.0, "speaker": "navigator", "utterance": MAIL, "dropped": True},
    ]
    writer.close(STARTED_AT)
    recording = Recording(root)
    har = {"log": {"entries": [{"request": {"url": f"https://shop.example/?token={TOKEN}"}, "text": MAIL}]}}
    recording.layout.har.write_text(json.dumps(har))
    return Source({"format": "demotape/demonstration", "version": 1, "id": "rec", "recording": "rec",
                   "task": f"Write to {MAIL}", "turns": turns}, recording)


def everything(folder) -> bytes:
    """All files; Parquet as its readers see it."""
    parts = []
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".parquet":
            import pyarrow.parquet
            parts.append(repr(pyarrow.parquet.read_table(path).drop_columns(["screenshot"]).to_pylist()).encode())
        elif path.is_file():
            parts.append(path.read_bytes())
    return b"\n".join(parts)


def forms(value: str) -> list[bytes]:
    return [value.encode(), value.replace("@", "%40").encode(), value.replace(" ", "%20").encode()]


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_is_left(tmp_path, source, format):
    options = {"candidates": True, "records": True} if format == "weblinx" else {}
    summary = export([source], tmp_path / "out", format, axtree=True, set_of_marks=format != "parquet", **options)
    written = everything(tmp_path / "out")
    for value in SECRETS.values():
        assert not [form for form in forms(value) if form in written], value
    if format in ("label-studio", "agentnet"):  # which has no page
        assert b"[REDACTED]" in written
    elif format == "playwright":  # which has no page, and leaves out locators that show what was taken out
        assert written.count(b"[REDACTED]") >= 4
    else:
        assert written.count(b"[REDACTED]") > 10 and b"Mail: " in written
    assert summary.redacted == {"email": 1, "phone": 1, "card": 1, "token": 1}
    assert json.loads((tmp_path / "out" / "manifest.json").read_bytes())["redacted"] == dict(summary.redacted)


@pytest.mark.parametrize("kind", SECRETS)
def test_what_is_allowed_stays(tmp_path, source, kind):
    summary = export([source], tmp_path / "out", "weblinx", allow=frozenset({kind}))
    written = everything(tmp_path / "out")
    for name, value in SECRETS.items():
        assert (value.encode() in written) == (name == kind)
    assert kind not in summary.redacted and len(summary.redacted) == 3
    with pytest.raises(InputError, match="--allow name: unknown kind of personal data"):
        export([source], tmp_path / "out", "weblinx", allow=frozenset({"name"}))


def contrast(picture: numpy.ndarray, box: dict) -> float:
    """Mean difference of neighbouring columns within a box."""
    top, left = int(box["y"]) + 2, int(box["x"]) + 2
    part = picture[top:top + int(box["height"]) - 4, left:left + int(box["width"]) - 4, 0].astype(int)
    return float(abs(numpy.diff(part, axis=1)).mean())


@pytest.mark.parametrize("format, pattern", [("weblinx", "**/screenshots/*.png"), ("mind2web", "**/screenshots/*.png")])
def test_it_cannot_be_read_in_the_picture(tmp_path, source, format, pattern):
    export([source], tmp_path / "out", format)
    pictures = [cv2.imread(str(path)) for path in (tmp_path / "out").glob(pattern)]
    assert pictures
    for picture in pictures:
        assert contrast(picture, BOX) < 10
        assert contrast(picture, ELSEWHERE) > 250


PACKED = {"gzip": gzip.compress, "zlib": zlib.compress, "zstd": zstandard.ZstdCompressor().compress,
          "gzip in zstd": lambda body: zstandard.ZstdCompressor().compress(gzip.compress(body)),
          "not to be looked into": lambda body: b"PK\x03\x04" + zlib.compress(body),
          "cut off": lambda body: gzip.compress(body)[:-4]}


def test_bodies_of_a_har_are_looked_into(tmp_path, source):
    kept = {"picture": b"\x89PNG plain", "packed": gzip.compress(b"nobody's"), "plain": b"\xff " + MAIL.encode()}
    bodies = kept | {name: pack(f"write to {MAIL} ".encode()) for name, pack in PACKED.items()}
    har = source.recording.layout.har
    before = har.read_bytes()
    har.write_text(json.dumps({"log": {"entries": [{"response": {"content": {
        "comment": name, "mimeType": "application/octet-stream", "encoding": "base64",
        "text": base64.b64encode(body).decode()}}} for name, body in bodies.items()]}}))
    try:
        summary = export([source], tmp_path / "out", "mind2web")
    finally:
        har.write_bytes(before)
    [written] = (tmp_path / "out").rglob("session.har")
    contents = [entry["response"]["content"] for entry in json.loads(written.read_bytes())["log"]["entries"]]
    found = [base64.b64decode(content["text"]) for content in contents]
    assert found == [kept["picture"], kept["packed"], b"\xff [REDACTED]"] + [b""] * len(PACKED)
    assert all("left out" in content["comment"] and "encoding" not in content for content in contents[3:])
    assert [count for note, count in summary.notes.items() if "HAR" in note] == [len(PACKED)]


def test_drawings_in_a_har_are_looked_through(tmp_path, source):
    """They are pictures by their media type, and text by what they are."""
    other = "bob.ray@shop.example"
    har = source.recording.layout.har
    before = har.read_bytes()
    bodies = ("image/svg+xml; charset=utf-8", f"<text>{other}</text>"), ("text/css", "eve@media.example")
    har.write_text(json.dumps({"log": {"entries": [{"response": {"content": {"mimeType": kind, "text": text}}}
                                                   for kind, text in bodies]}}))
    try:
        export([source], tmp_path / "out", "mind2web")
    finally:
        har.write_bytes(before)
    [written] = (tmp_path / "out").rglob("session.har")
    assert other not in written.read_text() and "eve@media.example" in written.read_text()


def test_drawings_in_mhtml_are_looked_through():
    part = MIMEMultipart("related")
    part.attach(MIMEText("<p>Hello</p>", "html"))
    drawing = MIMEBase("image", "svg+xml")
    drawing.set_payload(base64.b64encode(f"<text>é {MAIL}</text>".encode()).decode())
    drawing["Content-Transfer-Encoding"] = "base64"
    part.attach(drawing)
    clean = email.message_from_bytes(mhtml_without(part.as_bytes(), Redactor({})))
    written = [each.get_payload(decode=True) for each in clean.walk()]
    assert written[2].decode() == "<text>é [REDACTED]</text>" and b"Hello" in written[1]
    assert [each.get_content_type() for each in clean.walk()] == ["multipart/related", "text/html", "image/svg+xml"]


def test_without_secrets_a_picture_is_not_touched():
    pixels = numpy.arange(300, dtype=numpy.uint8).reshape(10, 10, 3)
    assert blur(pixels, [], 1) is pixels
    assert Redactor({}).walk({"a": MAIL}) == {"a": MAIL}
    outside = {"x": -50.0, "y": -5.0, "width": 10.0, "height": 2.0}
    assert (blur(pixels, [outside, outside | {"x": 1e300}], 2) == pixels).all()


def test_blur_goes_by_the_scale_of_the_picture():
    pixels = numpy.zeros((200, 200, 3), numpy.uint8)
    pixels[:, ::2] = 255
    blurred = blur(pixels, [{"x": 10, "y": 10, "width": 40, "height": 40}], 2.0)
    assert contrast(blurred, {"x": 20, "y": 20, "width": 80, "height": 80}) < 10
    assert contrast(blurred, {"x": 110, "y": 110, "width": 80, "height": 80}) > 250


def test_the_documents_tell_the_kinds():
    text = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
    assert all(re.search(rf"--allow KIND.*`{kind}`", text, re.S) for kind in KINDS)
