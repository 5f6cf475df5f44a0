"""Session replays: what rrweb's events say was done, in each wrapping, in any order, and odd ones."""

import gzip
import json
import random
import zlib

import pytest

from pipeline.importing import list_items
from schemas import InputError
from tests.pipeline.importing.test_own_exports import imported

START = 1_790_000_000_000


def element(number, tag, attributes=None, children=(), **more):
    return {"type": 2, "id": number, "tagName": tag, "attributes": attributes or {}, "childNodes": [*children]} | more


def text(number, content):
    return {"type": 3, "id": number, "textContent": content}


PAGE = {"type": 0, "id": 1, "childNodes": [
    {"type": 1, "id": 2, "name": "html", "publicId": "", "systemId": ""},
    element(3, "html", {}, [
        element(4, "head", {}, [element(5, "style", {"_cssText": "a > b { color: red }"})]),
        element(6, "body", {}, [
            element(7, "label", {"for": "c"}, [text(8, "Agree")]),
            element(9, "input", {"id": "c", "type": "checkbox"}),
            element(10, "input", {"placeholder": "What?", "value": "", "onfocus": "alert(1)"}),
            element(11, "select", {}, [element(12, "option", {"value": "1"}, [text(13, "One")]),
                                       element(14, "option", {"value": "2"}, [text(15, "Two <2>")])]),
            element(16, "x-card", {}, [element(17, "button", {}, [text(18, "Shadow")], isShadow=True)],
                    isShadowHost=True),
            element(19, "iframe", {"rr_src": "https://pay.example/"}),
            element(20, "input", {"type": "password", "value": "********"}),
            element(21, "button", {}, [text(22, "Go")])])])]}


def event(kind, data, at):
    return {"type": kind, "data": data, "timestamp": START + at}


def mouse(kind, target, at, **more):
    return event(3, {"source": 2, "type": kind, "id": target, "x": 5, "y": 6} | more, at)


def pressed(target, at):
    return [mouse(1, target, at), mouse(0, target, at + 5), mouse(2, target, at + 6)]


def typed(target, content, at, **more):
    return event(3, {"source": 5, "id": target, "text": content, "isChecked": False} | more, at)


EVENTS = [
    event(4, {"href": "https://shop.example/", "width": 800, "height": 600}, 0),
    event(2, {"node": PAGE, "initialOffset": {"left": 0, "top": 12}}, 1),
    event(3, {"source": 0, "texts": [], "attributes": [], "removes": [], "adds": [
        {"parentId": 19, "nextId": None, "node": {"type": 0, "id": 30, "childNodes": [
            element(31, "html", {}, [element(32, "body", {}, [element(33, "button", {}, [text(34, "Pay")])])])]}}]}, 2),
    *pressed(10, 100), typed(10, "l", 200), typed(10, "lä", 250), typed(10, "lämp", 300),
    *pressed(7, 1400), mouse(2, 9, 1407), typed(9, "on", 1410, isChecked=True),
    *pressed(11, 3000), typed(11, "2", 3100),
    *pressed(17, 5000), *pressed(33, 7000),
    event(3, {"source": 3, "id": 1, "x": 0, "y": 50}, 9000), event(3, {"source": 3, "id": 1, "x": 0, "y": 300}, 9100),
    mouse(1, 21, 11000),
    event(3, {"source": 0, "removes": [], "attributes": [{"id": 21, "attributes": {"class": "busy"}}], "adds": [],
              "texts": [{"id": 22, "value": "Wait"}]}, 11001),
    mouse(0, 21, 11010), mouse(2, 21, 11011),
    *pressed(21, 13000), *pressed(21, 13100), mouse(4, 21, 13110),
    typed(20, "****", 15000), typed(10, "set by a script", 16000, userTriggered=False),
    event(3, {"source": 2, "type": 3, "id": 21, "x": 1, "y": 2}, 17000),
    event(5, {"tag": "breadcrumb", "payload": {}}, 18000),
]
WANTED = [
    ("load", None, 0.0), ("click", "10", 0.106), ("textInput", "10", 0.2), ("change", "9", 1.406),
    ("change", "11", 3.006), ("click", "17", 5.006), ("click", "33", 7.006), ("scroll", None, 9.0),
    ("click", "21", 11.011), ("dblclick", "21", 13.006), ("textInput", "20", 15.0), ("click", "21", 17.0)]


def source_of(path, tmp_path):
    return next(iter(imported(path, tmp_path).values()))


def summary(source):
    return [(turn["intent"], turn["element"] and turn["element"]["uid"], turn["timestamp"]) for turn in source.turns]


@pytest.fixture
def source(tmp_path):
    (tmp_path / "replay.json").write_text(json.dumps(EVENTS))
    return source_of(tmp_path / "replay.json", tmp_path)


def test_actions(source):
    assert summary(source) == WANTED
    by_intent = {turn["intent"]: turn for turn in reversed(source.turns)}
    assert by_intent["textInput"]["arguments"] == {"text": "lämp"}
    assert [turn["arguments"] for turn in source.turns if turn["intent"] == "change"] == [
        {"checked": True}, {"value": "2", "label": "Two <2>"}]
    assert by_intent["scroll"]["arguments"] == {"x": 0.0, "y": 300.0}
    assert source.turns[-2]["arguments"] == {"text": "[REDACTED]"}
    assert source.turns[-1]["arguments"]["button"] == 2
    assert source.turns[6]["element"]["frame"] == ["19"]


def test_pages_are_those_before_the_press(source):
    clicked = next(turn for turn in source.turns if turn["timestamp"] == 11.011)
    page = source.recording.blob(clicked["state"]["dom"]).decode()
    assert "Wait" not in page and "busy" not in page and "lämp" in page
    assert "a > b { color: red }" in page and "shadowrootmode" in page and "********" not in page
    assert clicked["state"]["scroll"] == {"x": 0.0, "y": 300.0}
    assert clicked["state"]["viewport"] == {"width": 800, "height": 600}
    after = source.recording.blob(source.turns[-1]["state"]["dom"]).decode()
    assert "Wait" in after and 'class="busy"' in after


def packed(one):
    return zlib.compress(json.dumps(one | {"v": "v1"}).encode()).decode("latin-1")


def compressed(one):
    if one["type"] == 2:
        return one | {"cv": "2024-10", "data": gzip.compress(json.dumps(one["data"]).encode()).decode("latin-1")}
    if one["type"] == 3 and one["data"]["source"] == 0:
        return one | {"cv": "2024-10", "data": one["data"] | {
            name: gzip.compress(json.dumps(one["data"][name]).encode()).decode("latin-1")
            for name in ("texts", "attributes", "removes", "adds")}}
    return one


WRAPPINGS = {
    "shuffled.json": lambda: json.dumps(random.Random(3).sample(EVENTS, len(EVENTS))),
    "events.json": lambda: json.dumps({"events": EVENTS}),
    "lines.jsonl": lambda: "".join(json.dumps(one) + "\n" for one in EVENTS),
    "posthog.json": lambda: json.dumps({"version": "2023-04-28", "data": {"id": "s", "snapshots": [
        one | {"windowId": "w"} for one in EVENTS]}}),
    "posthog.jsonl": lambda: "".join(json.dumps(["w", compressed(one)]) + "\n" for one in EVENTS),
    "posthog-old.jsonl": lambda: "".join(json.dumps({"window_id": "w", "data": EVENTS[at:at + 5]}) + "\n"
                                         for at in range(0, len(EVENTS), 5)),
    "sentry.json": lambda: json.dumps([EVENTS[10:], EVENTS[:10]]),
    "sentry.jsonl": lambda: json.dumps({"segment_id": 0}) + "\n" + json.dumps(EVENTS) + "\n",
    "packed.json": lambda: json.dumps([packed(one) for one in EVENTS]),
    "bom.json": lambda: "\ufeff" + json.dumps(EVENTS, indent=2),
}


@pytest.mark.parametrize("name", WRAPPINGS)
def test_each_wrapping_is_recognised_and_gives_the_same(tmp_path, name):
    (tmp_path / name).write_text(WRAPPINGS[name](), encoding="utf-8")
    assert list_items(tmp_path / name)[0] == "rrweb"
    assert summary(source_of(tmp_path / name, tmp_path)) == WANTED


def test_windows_are_tabs(tmp_path):
    other = [one | {"windowId": "other", "timestamp": one["timestamp"] + 20_000} for one in EVENTS[:6]]
    (tmp_path / "two.json").write_text(json.dumps([*(one | {"windowId": "first"} for one in EVENTS), *other]))
    intents = [turn["intent"] for turn in source_of(tmp_path / "two.json", tmp_path).turns]
    assert intents[len(WANTED):] == ["tabcreate", "tabswitch", "load", "click"]


@pytest.mark.parametrize("change", [
    lambda events: events[2:], lambda events: events[:1], lambda events: [*events, {"type": 3}],
    lambda events: [event(3, {"source": 0, "adds": [{"parentId": 999, "nextId": None, "node": text(50, "x")}]}, 3)]
    + events, lambda events: [event(2, {"node": None}, 1)] + events, lambda events: [event(2, {}, -5)] + events,
    lambda events: [event(3, {"source": "2"}, 4)] + events])
def test_odd_events_are_read_or_one_clear_error(tmp_path, change):
    (tmp_path / "odd.json").write_text(json.dumps(change(list(EVENTS))))
    try:
        source_of(tmp_path / "odd.json", tmp_path)
    except InputError as error:
        assert "odd.json" in str(error) and "\n" not in str(error)


def test_a_packed_event_that_grows_is_refused(tmp_path):
    grown = gzip.compress(b" " * (80 << 20)).decode("latin-1")
    events = [EVENTS[0], EVENTS[1] | {"cv": "2024-10", "data": grown}]
    (tmp_path / "grown.json").write_text(json.dumps(events))
    with pytest.raises(InputError, match="larger than 64 MiB when unpacked"):
        source_of(tmp_path / "grown.json", tmp_path)


def test_nodes_in_each_other_without_end_are_refused(tmp_path):
    node = element(100, "b")
    for number in range(101, 500):
        node = element(number, "b", {}, [node])
    deep = {"type": 0, "id": 1, "childNodes": [element(2, "html", {}, [node])]}
    (tmp_path / "deep.json").write_text(json.dumps([EVENTS[0], event(2, {"node": deep}, 1)]))
    with pytest.raises(InputError, match="nested"):
        source_of(tmp_path / "deep.json", tmp_path)
