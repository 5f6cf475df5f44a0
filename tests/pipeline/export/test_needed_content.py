"""Which requests and page archives go with the turns that are exported."""

import json
from collections import Counter
from datetime import timedelta

import pytest

from pipeline.export import Source
from pipeline.export.archives import NOT_NEEDED, clean_har
from pipeline.export.needed_content import MAX_CLOCK_DIFFERENCE_S, NeededContent
from pipeline.privacy.redacting import Redactor
from recorder import Recording
from recorder.writer import RecordingWriter
from tests.support.samples.recording_fixtures import STARTED_AT, VIEWPORT, element

# Home, a private page, home again, a click with a request, another tab.
EVENTS = [
    (1.0, "navigate", 1, "https://shop.example/"), (2.0, "click", 1, None),
    (2.2, "navigate", 1, "https://shop.example/private"), (3.0, "click", 1, None), (4.0, "click", 1, None),
    (4.3, "navigate", 1, "https://shop.example/"), (5.0, "click", 1, None), (6.0, "click", 1, None),
    (6.2, "navigate", 2, "https://mail.example/"), (7.0, "click", 2, None), (8.0, "click", 1, None),
]
REQUESTS = {  # name -> time, tab, address
    "home": (0.9, 1, "https://shop.example/"), "home picture": (1.2, 1, "https://shop.example/a.png"),
    "private": (2.05, 1, "https://shop.example/private"), "private picture": (2.4, 1, "https://shop.example/b.png"),
    "private data": (3.1, 1, "https://shop.example/private/data"),
    "home again": (4.1, 1, "https://shop.example/"), "home again picture": (4.5, 1, "https://shop.example/a.png"),
    "search": (5.1, 1, "https://shop.example/search"), "mail": (6.1, 2, "https://mail.example/"),
    "mail picture": (6.5, 2, "https://mail.example/c.png"), "mail data": (7.1, 2, "https://mail.example/data"),
    "mail poll": (8.5, 2, "https://mail.example/poll"), "basket": (8.1, 1, "https://shop.example/basket"),
}
TURNS = {seq: time for seq, (time, kind, _, _) in enumerate(EVENTS, 1) if kind == "click"} | {1: 1.0}
ALL = tuple(sorted(TURNS))
LEAVE, STAY, BACK, SEARCH, OPEN_MAIL, READ_MAIL, BUY = 2, 4, 5, 7, 8, 10, 11


@pytest.fixture
def recording(tmp_path) -> Recording:
    writer = RecordingWriter(tmp_path / "rec", {
        "format": "demotape/recording", "version": 1, "id": "rec", "task": "x", "started_at": STARTED_AT,
        "user_agent": "", "browser": "", "viewport": None, "options": {}})
    for time, kind, tab, url in EVENTS:
        writer.event({"time": time, "type": kind, "tab": tab, "gesture": None, "target": None, "state": None,
                      "data": {"url": url, "transition": "link"} if url else {"x": 1.0, "y": 1.0, "button": 0}})
    writer.close(STARTED_AT + timedelta(seconds=20))
    return Recording(tmp_path / "rec")


def demonstration(dropped=(), without=()) -> dict:
    """The demonstration of the recording; `without`: turns of another part."""
    turns = []
    for seq in ALL:
        tab = EVENTS[seq - 1][2]
        state = {"tab": tab, "url": "https://shop.example/", "title": "", "viewport": VIEWPORT, "zoom": 1.0,
                 "device_pixel_ratio": 1.0, "scroll": {"x": 0.0, "y": 0.0}, "dom": None, "elements": None,
                 "screenshot": None, "screenshot_time": None, "video_time": None, "screenshot_status": "missing"}
        loads = seq == 1
        turns.append({"id": f"t{seq}", "type": "browser", "timestamp": TURNS[seq],
                      "intent": "load" if loads else "click", "state": None if loads else state, "events": [seq],
                      "arguments": {"url": "https://shop.example/"} if loads else {"x": 1.0, "y": 1.0, "button": 0},
                      "element": None if loads else element("1", "a"), "checks": [], "dropped": seq in dropped})
    return {"format": "demotape/demonstration", "version": 1, "id": "rec", "recording": "rec", "task": "x",
            "turns": [turn for turn in turns if int(turn["id"][1:]) not in without]}


def needed(recording, dropped=(), without=()) -> set[str]:
    content = NeededContent(Source(demonstration(dropped, without), recording, recorded=demonstration()))
    return {name for name, (time, tab, url) in REQUESTS.items() if content.needs(tab, time, url=url)}


def test_all_turns_need_everything(recording):
    assert needed(recording) == set(REQUESTS)
    assert NeededContent(Source(demonstration(), recording)).everything


def test_a_dropped_page_is_left_out_and_the_pages_around_it_are_not(recording):
    left_out = set(REQUESTS) - needed(recording, dropped={LEAVE, STAY, BACK})
    assert left_out == {"private", "private picture", "private data"}


def test_what_a_dropped_turn_caused_in_a_page_that_is_kept_is_left_out(recording):
    assert set(REQUESTS) - needed(recording, dropped={SEARCH}) == {"search"}


def test_a_page_that_a_dropped_turn_opened_is_kept_where_a_kept_turn_acts_in_it(recording):
    left_out = set(REQUESTS) - needed(recording, dropped={LEAVE, BACK})
    assert left_out == set()  # home again was loaded by the dropped turn, for the next one
    assert set(REQUESTS) - needed(recording, dropped={LEAVE, BACK, SEARCH, OPEN_MAIL, BUY}) >= {"search", "basket"}


def test_a_tab_in_which_only_dropped_turns_act_is_left_out_as_long_as_it_lives(recording):
    left_out = set(REQUESTS) - needed(recording, dropped={OPEN_MAIL, READ_MAIL})
    assert left_out == {"mail", "mail picture", "mail data", "mail poll"}


def test_what_a_kept_turn_opened_is_kept_though_no_turn_acts_in_it(recording):
    assert set(REQUESTS) - needed(recording, dropped={READ_MAIL}) == {"mail data"}


def test_the_other_part_is_left_out(recording):
    second = {SEARCH, OPEN_MAIL, READ_MAIL, BUY}
    assert needed(recording, without=second) == {"home", "home picture", "private", "private picture", "private data",
                                                 "home again", "home again picture"}
    first = {1, LEAVE, STAY, BACK}
    assert needed(recording, without=first) == {"home again", "home again picture", "search", "mail", "mail picture",
                                                "mail data", "mail poll", "basket"}


def test_a_request_a_moment_before_a_dropped_turn_is_its(recording):
    content = NeededContent(Source(demonstration({SEARCH}), recording))
    assert not content.needs(1, 5 - MAX_CLOCK_DIFFERENCE_S / 2)
    assert content.needs(1, 6 - MAX_CLOCK_DIFFERENCE_S / 2) is False and content.needs(1, 6.0)


def test_a_har_has_what_is_needed_and_the_rest_is_counted(recording):
    def entry(name: str) -> dict:
        time, tab, url = REQUESTS[name]
        return {"startedDateTime": (STARTED_AT + timedelta(seconds=time)).isoformat(), "_tab": tab, "time": 1,
                "request": {"url": url, "headers": [{"name": "Referer", "value": "https://shop.example/private"}]}}

    entries = [*(entry(name) for name in REQUESTS), {"request": {"url": "https://shop.example/no-time"}}]
    recording.layout.har.write_text(json.dumps({"log": {"entries": entries}}))
    notes: Counter[str] = Counter()
    whole = NeededContent(Source(demonstration(), recording))
    assert clean_har(recording, whole, Redactor({}), notes) == recording.layout.har.read_bytes() and not +notes
    exported = NeededContent(Source(demonstration({LEAVE, STAY, BACK}), recording))
    written = {entry["request"]["url"]: entry["request"]["headers"]
               for entry in json.loads(clean_har(recording, exported, Redactor({}), notes))["log"]["entries"]}
    assert not any("private" in url or "no-time" in url for url in written)
    assert written["https://shop.example/"] == [] and written["https://shop.example/search"] != []
    assert notes[NOT_NEEDED] == 4
