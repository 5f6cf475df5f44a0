"""Flows of Chrome DevTools' Recorder, projects of Selenium IDE, histories of browser-use."""

import base64
import json

import cv2
import numpy
import pytest

from pipeline.importing import list_items
from schemas import InputError
from tests.pipeline.importing.test_own_exports import imported

PICTURE = cv2.imencode(".png", numpy.full((40, 80, 3), 99, numpy.uint8))[1].tobytes()
FLOW = {"title": "Buy", "steps": [
    {"type": "setViewport", "width": 1000, "height": 700, "deviceScaleFactor": 1, "isMobile": False},
    {"type": "navigate", "url": "https://shop.example/", "assertedEvents": []},
    {"type": "click", "target": "main", "selectors": [["aria/Search"], ["#q"], ["xpath///*[@id=\"q\"]"]], "offsetX": 3,
     "offsetY": 4},
    {"type": "change", "value": "lämps", "selectors": [["aria/Search"], ["#q"]], "target": "main"},
    {"type": "keyDown", "key": "Control", "target": "main"}, {"type": "keyDown", "key": "a", "target": "main"},
    {"type": "keyUp", "key": "a", "target": "main"}, {"type": "keyUp", "key": "Control", "target": "main"},
    {"type": "keyDown", "key": "Enter", "target": "main"}, {"type": "keyUp", "key": "Enter", "target": "main"},
    {"type": "doubleClick", "selectors": [["x-card", "button"]], "button": "secondary"},
    {"type": "scroll", "x": 0, "y": 500}, {"type": "waitForElement", "selectors": [["#list"]]},
    {"type": "teleport"}]}
SIDE = {"id": "p", "version": "2.0", "name": "shop", "url": "https://shop.example/", "tests": [
    {"id": "t-1", "name": "Buy", "commands": [
        {"id": "1", "command": "open", "target": "/cart?a=1", "targets": [], "value": ""},
        {"id": "2", "command": "setWindowSize", "target": "1000x700", "targets": [], "value": ""},
        {"id": "3", "command": "type", "target": "id=q", "targets": [["id=q", "id"], ["css=#q", "css:finder"], [
            "xpath=//input[@id='q']", "xpath:attributes"]], "value": "lämps"},
        {"id": "4", "command": "sendKeys", "target": "id=q", "targets": [], "value": "x${KEY_ENTER}"},
        {"id": "5", "command": "select", "target": "name=size", "targets": [], "value": "label=Two = 2"},
        {"id": "6", "command": "check", "target": "css=input.agree", "targets": [], "value": ""},
        {"id": "7", "command": "click", "target": "linkText=Pay", "targets": [], "value": ""},
        {"id": "8", "command": "assertText", "target": "css=h1", "targets": [], "value": "Paid"},
        {"id": "9", "command": "executeScript", "target": "return 1", "targets": [], "value": "x"}]},
    {"id": "t-2", "name": "Nothing", "commands": [{"command": "open", "target": "https://other.example/",
                                                   "value": ""}]}]}
STEP = {"model_output": {"current_state": {}, "action": [{"go_to_url": {"url": "https://shop.example/"}}]},
        "result": [{"is_done": False}], "state": {"url": "about:blank", "title": "", "tabs": [],
                                                  "interacted_element": [None], "screenshot": None},
        "metadata": {"step_start_time": 1_790_000_000.0, "step_end_time": 1_790_000_001.0, "step_number": 1}}
ELEMENT = {"node_name": "INPUT", "x_path": "html/body/input", "attributes": {"id": "q", "aria-label": "Search"},
           "bounds": {"x": 1, "y": 2, "width": 30, "height": 10}}
HISTORY = {"history": [STEP, {
    "model_output": {"action": [{"input": {"index": 5, "text": "lämps", "clear": True}}, {"send_keys": {
        "keys": "Enter"}}, {"click": {"index": 7}}]},
    "result": [{}, {}, {"error": "gone"}], "metadata": {"step_end_time": 1_790_000_004.5},
    "state": {"url": "https://shop.example/", "title": "Shop", "tabs": [], "interacted_element": [ELEMENT, None, None],
              "screenshot_path": "/tmp/agent/screenshots/step_2.png"}}, {
    "model_output": {"action": [{"wait": {"seconds": 1}}, {"done": {"text": "It is done", "success": True}}]},
    "result": [{}, {"is_done": True}], "metadata": None, "state": {
        "url": "https://shop.example/", "title": "Shop", "interacted_element": [],
        "screenshot": base64.b64encode(PICTURE).decode()}}, {
    "model_output": None, "result": [{"error": "x"}], "state": {"url": "", "title": "", "interacted_element": [None]}}]}


def sources(path, content, tmp_path):
    path.write_text(json.dumps(content))
    return [*imported(path, tmp_path / "out").values()]


def acted(source):
    return [(turn["intent"], turn["arguments"], turn["element"] and (turn["element"]["css"] or turn["element"]["xpath"]
                                                                      or turn["element"]["text"]))
            if turn["type"] == "browser" else turn["utterance"] for turn in source.turns]


def click(**more):
    return {"x": None, "y": None, "button": 0, "modifiers": []} | more


def test_a_flow_of_the_recorder(tmp_path):
    source, = sources(tmp_path / "flow.json", FLOW, tmp_path)
    assert acted(source) == [
        ("load", {"url": "https://shop.example/", "transition": "typed"}, None), ("click", click(), "#q"),
        ("textInput", {"text": "lämps"}, "#q"), ("press", {"key": "Control+a"}, None),
        ("press", {"key": "Enter"}, None),
        ("dblclick", click(button=2), "x-card >> button"), ("scroll", {"x": 0.0, "y": 500.0}, None)]
    assert source.turns[1]["element"]["name"] == "Search"
    assert source.recording.manifest["imported"]["left_out"] == {"teleport: no equal here": 1}


def test_a_project_of_selenium_ide(tmp_path):
    source, other = sources(tmp_path / "shop.side", SIDE, tmp_path)
    assert acted(source) == [
        ("load", {"url": "https://shop.example/cart?a=1", "transition": "typed"}, None),
        ("textInput", {"text": "lämps"}, "#q"), ("textInput", {"text": "x"}, "#q"), ("press", {"key": "Enter"}, "#q"),
        ("change", {"label": "Two = 2", "value": "Two = 2"}, ""),
        ("change", {"checked": True}, "input.agree"), ("click", click(), "Pay")]
    assert source.recording.manifest["imported"]["left_out"] == {"executeScript: no equal here": 1}
    assert other.turns[0]["arguments"]["url"] == "https://other.example/"


def test_a_history_of_browser_use(tmp_path):
    (tmp_path / "screenshots").mkdir()
    (tmp_path / "screenshots" / "step_2.png").write_bytes(PICTURE)
    source, = sources(tmp_path / "history.json", HISTORY, tmp_path)
    assert acted(source) == [
        ("load", {"url": "https://shop.example/", "transition": "typed"}, None),
        ("textInput", {"text": "lämps"}, "html/body/input"), ("press", {"key": "Enter"}, None), "It is done"]
    assert [turn["timestamp"] for turn in source.turns[:3]] == [0.0, 3.5, 3.5]
    typed = source.turns[1]
    assert typed["element"]["bbox"] == {"x": 1.0, "y": 2.0, "width": 30.0, "height": 10.0}
    assert typed["state"]["screenshot"] and typed["state"]["url"] == "https://shop.example/"
    assert source.recording.manifest["imported"]["left_out"] == {"actions that failed": 1}


@pytest.mark.parametrize(("name", "content", "kind"), [
    ("flow.json", FLOW, "devtools-recorder"), ("shop.side", SIDE, "selenium-ide"),
    ("history.json", HISTORY, "browser-use")])
def test_each_is_recognised_and_odd_fields_are_one_error(tmp_path, name, content, kind):
    (tmp_path / name).write_text(json.dumps(content))
    assert list_items(tmp_path / name)[0] == kind
    for number, odd in enumerate((7, None, [7], {"a": 7}, [None], [{}])):
        field = {"flow.json": "steps", "shop.side": "tests", "history.json": "history"}[name]
        (tmp_path / name).write_text(json.dumps(content | {field: odd}))
        with pytest.raises(InputError, match=name):
            imported(tmp_path / name, tmp_path / f"odd-{number}", kind)
