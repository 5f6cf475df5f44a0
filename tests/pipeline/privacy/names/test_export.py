"""Names and addresses in exports: gone when it is asked for, the same person the same stand-in; else they stay."""

import json
import re
import sys

import cv2
import numpy
import pytest

from pipeline.export import FORMATS, Source, export
from pipeline.export.archives import mhtml_without
from pipeline.privacy.names import lists
from pipeline.privacy.names.redaction import NameRedaction
from pipeline.privacy.redacting import Redactor
from recorder import Recording
from recorder.writer import RecordingWriter
from schemas import InputError
from tests.pipeline.privacy.test_redacting import BOX, ELSEWHERE, contrast, everything, striped
from tests.support.samples.recording_fixtures import STARTED_AT, VIEWPORT, html

ADDRESS = "48 Larkspur Lane, Boulder, CO 80302"


def made(root, name, page: str, task: str, utterance: str) -> Source:
    """A recording with one page and a field that a name was typed into."""
    writer = RecordingWriter(root, {
        "format": "demotape/recording", "version": 1, "id": name, "task": task, "started_at": STARTED_AT,
        "user_agent": "", "browser": "", "viewport": VIEWPORT, "options": {}})
    rows = [{"uid": uid, "tag": "p", "role": "", "name": text, "frame": [], "bbox": box, "visible": True,
             "clickable": True} for uid, text, box in (("3", "Margaret Holloway", BOX), ("4", "Order", ELSEWHERE))]
    state = {"tab": 1, "url": "https://shop.example/people/margaret-holloway", "title": "Holloway, Margaret",
             "viewport": VIEWPORT, "zoom": 1.0, "device_pixel_ratio": 1.0, "scroll": {"x": 0.0, "y": 0.0},
             "dom": writer.blob(html(page).encode()), "elements": writer.blob(json.dumps(rows).encode()),
             "screenshot": writer.blob(striped()), "screenshot_time": 1.0, "video_time": None,
             "screenshot_status": "good", "screenshot_agrees": True}
    field = {"uid": "5", "tag": "input", "role": "", "name": "Guest", "text": "", "xpath": "//i", "css": "i",
             "frame": [], "attributes": {"autocomplete": "name"}, "bbox": ELSEWHERE}
    turns = [
        {"id": "c", "type": "chat", "timestamp": 1.0, "speaker": "instructor", "utterance": utterance,
         "reactions": [{"emoji": "margaret-holloway", "count": 2}, {"emoji": "👍", "count": 1}]},
        {"id": "b", "type": "browser", "timestamp": 2.0, "state": state, "events": [], "checks": [], "dropped": False,
         "intent": "textInput", "element": field, "arguments": {"text": "zork blavatnik"}},
    ]
    writer.close(STARTED_AT)
    recording = Recording(root)
    recording.layout.har.write_text(json.dumps({"log": {"entries": [
        {"response": {"content": {"text": '{"customer_name": "Keisha Underwood", "by": "MARGARET HOLLOWAY"}'}}}]}}))
    return Source({"format": "demotape/demonstration", "version": 1, "id": name, "recording": name, "task": task,
                   "turns": turns}, recording)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    root = tmp_path_factory.mktemp("names")
    page = f'''<html u="1"><body u="2"><p u="3">Margaret Holloway</p><p u="4">Order of Zork Blavatnik</p>
<input u="5" autocomplete="name" value="Zork Blavatnik"><address u="6">{ADDRESS}</address></body></html>'''
    return [made(root / "one", "one", page, "Write to Margaret Holloway", f"Ship it to {ADDRESS}, please."),
            made(root / "two", "two", '<html u="1"><body u="2"><p u="4">Hello MARGARET HOLLOWAY</p></body></html>',
                 "Book a table", "Ask Holloway, Margaret first.")]


@pytest.mark.parametrize("format", FORMATS)
def test_nobody_is_left(tmp_path, sources, format):
    summary = export(sources, tmp_path / "out", format, names=True, names_key="key")
    written = everything(tmp_path / "out")
    for name in (b"holloway", b"margaret", b"blavatnik", b"underwood", b"larkspur", b"80302"):
        assert name not in written.lower(), name
    assert b"[PERSON " in written
    assert b"[ADDRESS " in written or format == "agentnet"  # which has no page and no instructor's utterances
    assert summary.redacted["person"] >= 3 and summary.redacted["address"] == 1
    assert json.loads((tmp_path / "out" / "manifest.json").read_bytes())["redacted"] == dict(summary.redacted)


def test_the_same_person_is_the_same_everywhere(tmp_path, sources):
    first, again, other = tmp_path / "first", tmp_path / "again", tmp_path / "other"
    export(sources, first, "webdataset", names=True, names_key="key")
    export(sources, again, "webdataset", names=True, names_key="key", jobs=2)
    export(sources, other, "webdataset", names=True)
    assert everything(first) == everything(again) != everything(other)
    of = [set(re.findall(rb"Write to (\[PERSON \w+\])|Hello (\[PERSON \w+\])|Ask (\[PERSON \w+\])", each))
          for each in (everything(first), everything(other))]
    for found in of:
        assert len({name for names in found for name in names if name}) == 1 and len(found) == 3, found


def test_a_reaction_names_nobody_and_keeps_its_emoji(tmp_path, sources):
    export(sources, tmp_path / "out", "webdataset", names=True, names_key="key")
    written = everything(tmp_path / "out").decode("utf-8", "replace")
    told = [json.loads(each) for each in re.findall(r'"reactions": ("\[\{.*?\}\]")', written)]
    assert len(told) == len(sources)
    for first, second in map(json.loads, told):
        assert re.fullmatch(r"\[PERSON \w+\]", first["emoji"]) and first["count"] == 2
        assert second == {"emoji": "👍", "count": 1}


def test_an_mhtml_file_is_looked_through():
    known = Redactor({}, names=NameRedaction("key"))
    content = (b"Subject: =?utf-8?Q?People?=\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n"
               b"Content-Transfer-Encoding: quoted-printable\r\n\r\n<p>Dear Margaret Hol=\r\nloway</p>\r\n")
    clean = mhtml_without(content, known)
    assert b"loway" not in clean and NameRedaction("key").stand_in_for("Margaret Holloway", "person").encode() in clean


def test_without_the_option_they_stay(tmp_path, sources):
    summary = export(sources, tmp_path / "out", "weblinx")
    assert b"Holloway" in everything(tmp_path / "out") and not summary.redacted


def test_without_the_option_no_lists_are_needed(tmp_path, sources, monkeypatch):
    for name in ("faker", "mimesis", "sudachipy"):
        monkeypatch.setitem(sys.modules, name, None)
    for function in (lists.latin, lists.names_of, lists.place_names, lists.japanese, lists.usual_surnames):
        function.cache_clear()
    export(sources, tmp_path / "out", "weblinx")


def test_one_of_both_may_be_allowed(tmp_path, sources):
    export(sources, tmp_path / "out", "weblinx", names=True, allow=frozenset({"address"}))
    assert b"Larkspur" in everything(tmp_path / "out") and b"Holloway" not in everything(tmp_path / "out")
    with pytest.raises(InputError, match="--allow name: unknown kind of personal data"):
        export(sources, tmp_path / "out", "weblinx", names=True, allow=frozenset({"name"}))


def test_a_name_cannot_be_read_in_the_picture(tmp_path, sources):
    export(sources, tmp_path / "out", "weblinx", names=True)
    pictures = [cv2.imread(str(path)) for path in (tmp_path / "out").glob("**/screenshots/*.png")]
    blurred: list[numpy.ndarray] = [each for each in pictures if contrast(each, BOX) < 10]
    assert blurred


def test_what_is_missing_is_named(tmp_path, sources, monkeypatch):
    monkeypatch.setitem(sys.modules, "mimesis", None)
    with pytest.raises(InputError, match=r"names and addresses needs mimesis; .*pip install 'demotape\[names\]'"):
        export(sources, tmp_path / "out", "weblinx", names=True)
