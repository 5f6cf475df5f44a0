"""Label Studio's tasks: what the labelling interface asks for, rectangles in percent, a list that is JSON.

`python -m benchmarks.label_studio.import_export` imports them into Label Studio itself.
"""

import json
import re
from pathlib import Path

import cv2
import datasets
import pytest
from lxml import etree

from pipeline.export import Source, export
from pipeline.export.formats.label_studio import LOCAL_FILES, rectangle_of, text_of
from pipeline.labelling.scheme_files import read_scheme
from pipeline.verify import verify
from tests.support.samples.recording_fixtures import make_demonstration, write_recording

TYPES = {"RectangleLabels": "rectanglelabels", "Choices": "choices", "TextArea": "textarea"}


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Source:
    recording = write_recording(tmp_path_factory.mktemp("recordings") / "rec-a")
    return Source(make_demonstration(recording), recording)


@pytest.fixture(scope="module")
def out(source, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("exports") / "out"
    other = Source(source.demonstration | {"id": "rec-b"}, source.recording)
    summary = export([source, other], folder, "label-studio")
    assert verify(folder) == [] and summary.samples == 24
    assert summary.left_out == {
        "load: no element with a box": 2, "click: no element with a box": 2, "scroll: no element with a box": 2,
        "copy: no element with a box": 2, "dialog: no element with a box": 2, "reload: no element with a box": 2,
        "back: no element with a box": 2, "forward: no element with a box": 2, "tabcreate: no element with a box": 2,
        "tabswitch: no element with a box": 2, "tabremove: no element with a box": 2, "chat: no task after it": 2}
    return folder


def tasks(folder: Path) -> list[dict]:
    return json.loads((folder / "train.json").read_bytes())


def test_every_prediction_fits_the_labelling_interface(out):
    config = etree.fromstring((out / "label_config.xml").read_bytes())
    controls = {each.get("name"): each for each in config.iter(*TYPES)}
    needed = {each.get("value")[1:] for each in config.iter() if (each.get("value") or "").startswith("$")}
    names = {each.get("name") for each in config.iter() if each.get("name")}
    for task in tasks(out):
        assert needed <= set(task["data"]) and all(isinstance(each, str) for each in task["data"].values())
        [prediction] = task["predictions"]
        assert len({each["id"] for each in prediction["result"]}) == len(prediction["result"])
        for each in prediction["result"]:
            control = controls[each["from_name"]]
            assert each["type"] == TYPES[control.tag] and each["to_name"] == control.get("toName") in names
            chosen = each["value"][each["type"]] if each["type"] != "textarea" else []
            assert set(chosen) <= {option.get("value") for option in control}


def test_rectangles_are_where_the_target_is_in_the_picture(out):
    typed = next(task for task in tasks(out) if task["data"]["intent"] == "textInput")
    assert typed["data"] | {"image": ""} == {
        "image": "", "task": "Find lamps & pay", "said": "", "url": "https://shop.example/", "title": "Läden & more",
        "demonstration": "rec-a", "turn": "t2", "intent": "textInput", "text": "lamps"}
    target, intent, text = typed["predictions"][0]["result"]
    assert target["value"] == {"x": 3.125, "y": 10.0, "width": 31.25, "height": 6.0, "rotation": 0,
                               "rectanglelabels": ["target"]}
    assert (target["original_width"], target["original_height"]) == (640, 400)
    assert intent["value"] == {"choices": ["textInput"]} and text["value"] == {"text": ["lamps"]}


def test_pictures_lie_where_label_studio_asks_for_them(out):
    for task in tasks(out):
        path = task["data"]["image"].removeprefix(LOCAL_FILES)
        assert re.fullmatch(r"images/[A-Za-z0-9-]+\.jpg", path)
        assert cv2.imread(str(out / path)).shape == (400, 640, 3)


def test_what_was_said_is_in_the_task_after_it(out):
    assert [task["data"]["said"] for task in tasks(out)][:2] == ["instructor: Find “lamps”", ""]


def test_datasets_loads_it(out, tmp_path):
    loaded = datasets.load_dataset(str(out), cache_dir=str(tmp_path))["train"]
    assert loaded.num_rows == 24 and loaded[0]["data"]["intent"] == "click"


def test_without_a_good_picture_there_is_no_task(source, tmp_path):
    demonstration = json.loads(json.dumps(source.demonstration))
    for turn in demonstration["turns"]:
        if turn.get("state"):
            turn["state"]["screenshot_status"] = "broken"
    summary = export([Source(demonstration, source.recording)], tmp_path / "out", "label-studio")
    assert summary.samples == 0 and summary.left_out["click: no good screenshot"] == 2
    assert not list((tmp_path / "out").glob("train.json")) and verify(tmp_path / "out") == []


@pytest.mark.parametrize("box, expected", [
    ((100, 50, 80, 40), (12.5, 10, 10, 8)),
    ((-40, 480, 80, 40), (0, 96, 5, 4)),  # what is outside does not count
    ((0, 0, 5000, 5000), (0, 0, 100, 100)),
    ((900, 10, 20, 20), None), ((10, -30, 20, 20), None), ((10, 10, 0, 20), None)])
def test_a_box_in_percent(box, expected):
    found = rectangle_of(dict(zip(("x", "y", "width", "height"), box, strict=True)), {"width": 800, "height": 500},
                         {"width": 1600, "height": 1000})
    assert (tuple(found.values()) if found else None) == (pytest.approx(expected) if expected else None)


@pytest.mark.parametrize("arguments, text", [
    ({"text": "lamps"}, "lamps"), ({"value": "2", "label": "Two"}, "Two"), ({"checked": False}, "not checked"),
    ({"key": "Enter"}, "Enter"), ({"files": ["a", "b"]}, "a\nb"), ({"x": 1, "y": 2}, ""), ({}, "")])
def test_the_text_of_an_action(arguments, text):
    assert text_of({"arguments": arguments}) == text


QUESTIONS = read_scheme("""
questions:
  - {name: success, question: "Was <it> \\"done\\" & paid?", scope: demonstration, kind: choice,
     options: ["yes & no", "no"]}
  - {name: kinds, question: Kinds, scope: turn, kind: several, options: [search, form]}
  - {name: clear, question: Clear, scope: turn, kind: scale, minimum: 0, maximum: 5}
  - {name: note, question: Note, scope: turn, kind: text}
""")["questions"]


def test_answers_are_annotations_that_fit_the_labelling_interface(source, tmp_path):
    common = {"scheme": 1, "independent": True}
    answers = [{"question": "success", "value": "yes & no", "annotator": "reviewer-2", **common}, *(
        {"question": name, "turn": "t2", "value": value, "annotator": "reviewer-1", **common}
        for name, value in (("kinds", ["search", "form"]), ("clear", 0), ("note", "Ask eve@shop.example")))]
    answered = Source(source.demonstration | {"answers": answers}, source.recording, questions=tuple(QUESTIONS))
    export([answered], tmp_path / "out", "label-studio")
    config = etree.fromstring((tmp_path / "out" / "label_config.xml").read_bytes())
    controls = {each.get("name"): each for each in config.iter("Choices", "Number", "TextArea")}
    assert [option.get("value") for option in controls["answer-success"]] == ["yes & no", "no"]
    assert controls["answer-kinds"].get("choice") == "multiple" and controls["answer-clear"].get("max") == "5"
    assert 'Was <it> "done" & paid?' in {each.get("value") for each in config.iter("Header")}
    by_turn = {task["data"]["turn"]: task["annotations"] for task in tasks(tmp_path / "out")}
    first, second = by_turn["t2"]
    assert [(each["from_name"], each["type"], each["value"]) for each in first["result"]] == [
        ("answer-kinds", "choices", {"choices": ["search", "form"]}), ("answer-clear", "number", {"number": 0}),
        ("answer-note", "textarea", {"text": ["Ask [REDACTED]"]})]
    assert second["result"][0]["value"] == {"choices": ["yes & no"]}
    assert second["result"][0]["meta"] == {"text": ["reviewer-2"]}
    assert all(each["from_name"] in controls and each["to_name"] == "screenshot" for annotation in by_turn["t2"]
               for each in annotation["result"])
    assert {len(annotations) for turn, annotations in by_turn.items() if turn != "t2"} == {1}
    assert datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))["train"].num_rows == 12
