"""Folding, whatever the person does: no event twice, order kept, every trusted event accounted for."""

import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.turns.folding import fold
from pipeline.turns.gestures import LEFT_OUT, group
from schemas import EventSchema
from schemas.formats.demonstration import BrowserTurnSchema
from schemas.formats.recording import BROWSER_EVENTS, PAGE_EVENTS, RECORDER_EVENTS

ELEMENTS = {
    "field": ("input", {"type": "text"}), "box": ("input", {"type": "checkbox"}), "list": ("select", {}),
    "date": ("input", {"type": "date"}), "file": ("input", {"type": "file"}), "area": ("textarea", {}),
    "rich": ("div", {"contenteditable": "true"}), "button": ("button", {}), "form": ("form", {}), "page": ("html", {}),
    "count": ("input", {"type": "number"}),
}

def element(name: str) -> dict:
    tag, attributes = ELEMENTS[name]
    return {"uid": name, "tag": tag, "role": "", "name": "", "text": "", "attributes": attributes, "xpath": f"/{tag}",
            "css": tag, "frame": [], "bbox": None}


def data(kind: str, chance: random.Random) -> dict:
    """What an event of that kind carries."""
    word = chance.choice(["", "a", "lamp"])
    down = {"x": 0.0, "y": chance.choice([-120.0, 0.0, 120.0])}
    point = {"x": chance.choice([5.0, 80.0]), "y": 5.0, "button": 0, "modifiers": [], "detail": 1}
    return {
        **dict.fromkeys(("pointerdown", "pointerup", "click", "dblclick", "auxclick", "contextmenu", "hover",
                         "dragstart", "dragend"), point),
        "drop": point | chance.choice([{}, {"files": ["a.pdf"]}]), "autofill": {},
        "keydown": {"key": chance.choice(["a", "Tab", "Enter", "ArrowDown", " "]), "code": "", "repeat": False,
                    "modifiers": chance.choice([[], ["Control"], ["Shift"]])},
        "beforeinput": {"input_type": "insertText"},
        "input": {"value": word, "checked": True} | chance.choice([{}, {"value_before": chance.choice(["", "x"])}]),
        "change": {"value": word, "checked": True} | chance.choice([{}, {"files": ["a.pdf"]}]),
        "wheel": point | chance.choice([{"delta": down}, {"default_prevented": True, "scroll": down}]), "submit": {},
        "scroll": {"scroll": {"x": 0.0, "y": 10.0}} | chance.choice([{}, {"scroll_from": down}, {"snaps": True}]),
        **dict.fromkeys(("copy", "cut", "paste"), {"text": word}),
        "navigate": {"url": "https://a.example/", "transition": chance.choice(
            ["typed", "link", "reload", "back", "forward", "same_document"])},
        "tabcreate": {"tab": 2, "origin": 1}, "tabremove": {"tab": 2}, "tabswitch": {"tab": 2, "origin": 1},
        "dialog": {"kind": "alert", "message": "", "accepted": True}, "download": {"url": "", "files": ["a.zip"]},
        "undo": {"event": chance.randint(1, 60)}, "pause": {}, "resume": {},
        "mhtml": {"blob": "0" * 64, "url": "https://a.example/"}, "sleep": {"seconds": 60.0},
    }[kind]


def recording(beginnings: list[tuple[str, int]]) -> list[dict]:
    """Events of every kind, in gestures of any make, at times that may be equal; from kinds and seeds."""
    events, open_gestures, time = [], [], 0.0
    for number, (kind, seed) in enumerate(beginnings, 1):
        chance = random.Random(seed)
        time += chance.choice([0.0, 0.004, 0.3, 2.0])
        page = kind in PAGE_EVENTS
        gesture = chance.choice(open_gestures) if page and open_gestures and chance.random() < 0.6 else None
        if page and gesture is None:
            open_gestures = [*open_gestures[-1:], number]
        events.append({"seq": number, "time": round(time, 3), "type": kind, "tab": chance.choice([1, 2]),
                       "gesture": gesture, "target": element(chance.choice(sorted(ELEMENTS))) if page else None,
                       "data": data(kind, chance), "state": None})
    return events


KINDS = [kind for kind in PAGE_EVENTS + BROWSER_EVENTS + RECORDER_EVENTS if kind != "screenshot"]
recordings = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 1 << 16)), max_size=40).map(recording)
whatever = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@whatever
@given(recordings)
def test_what_is_generated_is_what_a_recorder_writes(events):
    for event in events:
        assert EventSchema().validate(event) == {}


@whatever
@given(recordings)
def test_turns_are_whole_in_order_and_share_no_event(events):
    turns = fold(events)
    for turn in turns:
        assert BrowserTurnSchema().validate(turn) == {}
    used = [number for turn in turns for number in turn["events"]]
    assert len(used) == len(set(used))
    assert set(used) <= {event["seq"] for event in events}
    assert len({turn["id"] for turn in turns}) == len(turns)
    times = [turn["timestamp"] for turn in turns]
    assert times == sorted(times)


def check_all_accounted_for(events):
    """Every event is in one turn, or in none because its gesture may be left out for a reason that has a name."""
    uses = Counter(number for turn in fold(events) for number in turn["events"])
    assert set(uses.values()) <= {1}
    for gesture in group(events):
        used = {event["seq"] in uses for event in gesture.events}
        assert len(used) == 1 or gesture.of_type("change"), gesture  # which may end an earlier typing
        assert True in used or gesture.first["type"] in LEFT_OUT, gesture.first


@whatever
@given(recordings)
def test_every_event_is_in_one_turn_or_left_out_for_a_reason(events):
    check_all_accounted_for(events)


@pytest.mark.slow
@settings(whatever, max_examples=20_000)
@given(recordings)
def test_20_000_recordings_are_accounted_for(events):
    check_all_accounted_for(events)


@whatever
@given(recordings)
def test_folding_is_deterministic_and_changes_nothing(events):
    before = repr(events)
    assert fold(events) == fold(list(events))
    assert repr(events) == before
