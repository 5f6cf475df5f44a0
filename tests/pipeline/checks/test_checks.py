"""Each check: what it finds, what it leaves alone, and that its ready edit can be applied."""

import json

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.checks import KINDS, Material, find_checks
from pipeline.privacy import finding
from pipeline.turns import edits
from schemas import EditSchema
from schemas.formats.demonstration import CheckSchema
from schemas.formats.parts import STALE_REASONS
from tests.support.samples.recording_fixtures import element, write_recording


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return write_recording(tmp_path_factory.mktemp("checks") / "r")


def turn(recording, number: int, intent: str = "click", arguments: dict | None = None, **changes) -> dict:
    """A good turn at second `number`."""
    given = {"x": 50.0, "y": 50.0, "button": 0, "modifiers": []} if arguments is None else arguments
    state = recording.events[0]["state"] | {"screenshot_status": "good", "video_time": None,
                                            "screenshot_time": number - 0.1}
    return {"id": f"t{number}", "type": "browser", "timestamp": float(number), "intent": intent, "arguments": given,
            "element": element("10", "input"), "state": state | changes.pop("state", {}), "events": [], "checks": [],
            "dropped": False} | changes


def said(number: int, utterance: str) -> dict:
    return {"id": f"t{number}", "type": "chat", "timestamp": float(number), "speaker": "instructor",
            "utterance": utterance, "checks": [], "dropped": False}


def kinds(recording, *turns: dict) -> dict[str, list[str]]:
    """Kinds of findings by turn; every ready edit is applied to see that it fits."""
    found = find_checks(Material(turns, recording))
    for checks in found.values():
        for check in checks:
            assert check["kind"] in KINDS and CheckSchema().validate(check) == {}
            if "fix" in check:
                assert EditSchema().validate(check["fix"]) == {}
                assert edits.apply_edits(list(turns), [check["fix"]]) != list(turns)
    return {name: [check["kind"] for check in checks] for name, checks in found.items() if checks}


def test_a_good_turn_has_none(recording):
    assert kinds(recording, turn(recording, 1)) == {}


SMALL = {"x": 10, "y": 5, "width": 20, "height": 8}
EARLY = {"screenshot_time": 1.1}
FORM = element("7", "form", xpath="/html/body/form")
BUTTON = element("11", "button", xpath="/html/body/form/button")


@pytest.mark.parametrize("changes, kind", [
    ({"element": None}, "no-element"),
    ({"element": element("10", "input", bbox=None)}, "no-box"),
    ({"element": element("10", "input", bbox=SMALL | {"y": 900})}, "outside-viewport"),
    ({"element": element("99", "input", bbox=SMALL)}, "not-in-page"),
    ({"intent": "textInput", "arguments": {"text": "  "}}, "empty-input"),
    ({"state": {"screenshot_status": "broken"}}, "broken-screenshot"),
    ({"state": {"screenshot_time": 1.5}}, "late-screenshot"),
    ({"state": {"confidence": 0.0}}, "not-in-video"),
    ({"state": {"confidence": 0.3, "video_time": 4.0}}, "unsure-in-video"),
    ({"state": {"confidence": 0.9, "video_time": 4.0, "screenshot_source": "video"}}, "replaced-screenshot"),
    ({"intent": "textInput", "arguments": {"text": "write to ann@example.org"}}, "personal-data"),
    ({"state": {"url": "https://shop.example/?token=4fJ9sLq02Xw81"}}, "personal-data"),
])
def test_one_turn(recording, changes, kind):
    assert kinds(recording, turn(recording, 1, **changes)) == {"t1": [kind]}


def test_a_target_in_a_frame_in_a_frame_is_found(recording):
    assert kinds(recording, turn(recording, 1, element=element("g5", "input", bbox=SMALL))) == {}


def test_a_hover_that_opened_nothing(recording):
    hover, click = turn(recording, 1, "hover"), turn(recording, 2)
    assert kinds(recording, hover, click) == {"t1": ["idle-hover"]}
    opened = turn(recording, 2, state={"dom": recording.events[2]["state"]["dom"]})
    assert kinds(recording, hover, opened) == {}


def test_click_and_submit_of_one_form(recording):
    click = turn(recording, 1, element=BUTTON)
    assert kinds(recording, click, turn(recording, 2, "submit", {}, element=FORM, timestamp=1.2, state=EARLY)
                 )["t2"] == ["no-box", "doubled-submit"]
    other = element("7", "form", xpath="/html/body/form[2]", bbox=SMALL)
    assert kinds(recording, click, turn(recording, 2, "submit", {}, element=other, timestamp=1.2, state=EARLY)) == {}
    late = element("7", "form", xpath="/html/body/form", bbox=SMALL)
    assert kinds(recording, click, turn(recording, 4, "submit", {}, element=late)) == {}


def test_order_against_time_and_tabs(recording):
    assert kinds(recording, turn(recording, 5), turn(recording, 3)) == {"t3": ["against-time"]}
    second = {"tab": 2}
    opened = turn(recording, 3, "tabcreate", {"tab": 2}, element=None)
    closed = turn(recording, 3, "tabremove", {"tab": 2}, element=None)
    assert kinds(recording, turn(recording, 2, state=second), opened) == {"t3": ["against-tabs"]}
    assert kinds(recording, opened, turn(recording, 4, state=second)) == {}
    assert kinds(recording, closed, turn(recording, 4, state=second)) == {"t4": ["against-tabs"]}


def test_a_very_long_gap(recording):
    assert kinds(recording, turn(recording, 1), turn(recording, 90)) == {"t90": ["long-gap"]}


@pytest.mark.parametrize("utterance, mended", [
    ("please serach for a cheap flight", "please search for a cheap flight"),
    ("could you opne the second link?", "could you open the second link?"),
    ("Plese", None),  # might be a name
    ("go to kayak.com and login to ebay", None),
    ("bitte suche nach einem günstigen Flug", None),
    ("find lamps and a lamps shade", None),
])
def test_typos(recording, utterance, mended):
    found = find_checks(Material([said(1, utterance)], recording)).get("t1", [])
    assert [check["fix"]["utterance"] for check in found] == ([mended] if mended else [])


def test_a_word_of_the_page_is_no_typo(recording, tmp_path):
    from recorder.writer import RecordingWriter

    writer = RecordingWriter(tmp_path / "r", {**recording.manifest, "id": "r"})
    name = writer.blob(b"<html><body><p>Welcome to Serach, the best of all</p></body></html>")
    page = turn(recording, 2, element=None, intent="reload", arguments={}, state={"dom": name})
    from recorder import Recording
    writer.abandon()
    found = find_checks(Material([said(1, "please serach for a cheap flight"), page], Recording(tmp_path / "r")))
    assert not found.get("t1")


def test_screenshots_that_show_nothing_where_the_page_has_something(recording, tmp_path):
    from recorder import Recording
    from recorder.writer import RecordingWriter

    writer = RecordingWriter(tmp_path / "r", {**recording.manifest, "id": "r"})
    rows = [{"uid": str(n), "tag": "a", "role": "link", "name": f"Link {n}", "frame": [], "visible": True,
             "clickable": True, "bbox": {"x": 10, "y": 10 + 30 * n, "width": 100, "height": 20}} for n in range(12)]
    table = writer.blob(json.dumps(rows).encode())
    pictures = []
    for shown in (12, 6, 0):
        pixels = np.full((400, 640, 3), 255, np.uint8)
        for row in rows[:shown]:
            cv2.putText(pixels, row["name"], (12, int(row["bbox"]["y"]) + 15), cv2.FONT_HERSHEY_SIMPLEX, 0.5, 0, 1)
        cv2.rectangle(pixels, (300, 0), (600, 390), (200, 80, 80), -1)
        pictures.append(writer.blob(cv2.imencode(".png", pixels)[1].tobytes()))
    writer.event({"time": 0.5, "type": "navigate", "tab": 1, "gesture": None, "target": None,
                  "data": {"url": "", "transition": "link"}, "state": None})
    writer.abandon()
    made = Recording(tmp_path / "r")
    plain = {"intent": "scroll", "arguments": {"x": 0, "y": 1}, "element": None}
    found = [kinds(made, turn(recording, 1, **plain, state={"screenshot": name, "elements": table, "dom": None}))
             for name in pictures]
    assert found == [{}, {"t1": ["half-loaded"]}, {"t1": ["unlike-page"]}]


def test_personal_data_on_a_page_is_told_once_and_never_repeated(recording, tmp_path):
    from recorder import Recording
    from recorder.writer import RecordingWriter

    writer = RecordingWriter(tmp_path / "r", {**recording.manifest, "id": "r"})
    inner = "&lt;p&gt;Call +44 20 7946 0958&lt;/p&gt;"
    name = writer.blob(f'<html><body><input value="joe@example.com"><iframe srcdoc="{inner}"></iframe></body>'.encode())
    again = writer.blob(b"<html><body>other<p>joe@example.com</p></body>")
    writer.abandon()
    plain = {"intent": "reload", "arguments": {}, "element": None}
    turns = [turn(recording, n, **plain, state={"dom": dom}) for n, dom in ((1, name), (2, name), (3, again))]
    found = find_checks(Material(turns, Recording(tmp_path / "r")))
    assert [check["reason"] for check in found["t1"]] == ["On the page: an e-mail address, a telephone number."]
    assert not found.get("t2") and not found.get("t3")


@pytest.mark.parametrize("text, expected", [
    ("mail ann.lee+web@mail.example.co.uk today", [("email", "ann.lee+web@mail.example.co.uk")]),
    ("call +49 30 1234567 or (212) 555-0123", [("phone", "+49 30 1234567"), ("phone", "(212) 555-0123")]),
    ("212-555-0123", [("phone", "212-555-0123")]),
    ("0171 2345678", [("phone", "0171 2345678")]),
    ("card 4111 1111 1111 1111 exp", [("card", "4111 1111 1111 1111")]),
    ("378282246310005", [("card", "378282246310005")]),
    ("4111 1111 1111 1112", []),  # wrong check digit
    ("key ghp_abcdefghijklmnopqrstuvwxyz0123456789", [("token", "ghp_abcdefghijklmnopqrstuvwxyz0123456789")]),
    ("https://a.example/?q=lamp&api_key=9f8a7b6c5d4e", [("token", "9f8a7b6c5d4e")]),
    ("Authorization: Bearer abcDEF123456ghiJKL", [("token", "abcDEF123456ghiJKL")]),
    ("https://joe:s3cret!@host.example/", [("token", "s3cret!")]),
    ("password: [REDACTED]", []),
    ("on 2024-03-05 at 14:30, 1,299.00 pounds, order 20240305", []),
    ("version 3.11.7, 192.168.178.20, ISBN 978-3-16-148410-0", []),
    ("@media (min-width: 600px)", []), ("see token ring and password manager", []),
])
def test_personal_data(text, expected):
    assert [(span.kind, text[span.start:span.end]) for span in finding.find(text)] == expected


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from("ab1 2.@+-()/:?=&_%é\n4539578763621486"), max_size=120))
def test_spans_lie_in_the_text_and_do_not_overlap(text):
    end = 0
    for span in finding.find(text):
        assert end <= span.start < span.end <= len(text) and span.kind in finding.KINDS
        end = span.end
    assert finding.replace(text, lambda span: text[span.start:span.end]) == text


@pytest.mark.parametrize("url", ["about:blank", "chrome://newtab/", "about:blank#top"])
def test_a_new_tab_needs_no_screenshot(recording, url):
    state = {"screenshot_status": "broken", "screenshot": None, "url": url}
    assert "broken-screenshot" not in kinds(recording, turn(recording, 1, state=state)).get("t1", [])


@pytest.mark.parametrize("reason", STALE_REASONS)
def test_a_stale_screenshot_says_why(recording, reason):
    state = {"screenshot_status": "broken", "stale": True, "stale_because": reason}
    [found] = find_checks(Material([turn(recording, 1, state=state)], recording))["t1"]
    assert found["kind"] == "broken-screenshot" and "missing" not in found["reason"]


def test_a_later_screenshot_of_a_page_that_stayed_as_it_was(recording):
    assert kinds(recording, turn(recording, 1, state={"screenshot_time": 1.5, "unchanged_until": 1.6})) == {}
