"""The WebLINX export, as the public `weblinx` library and its prompt builder see it."""

import json
from functools import partial

import cv2
import lxml.html
import pytest
import weblinx
from weblinx.processing import dom, prompt
from weblinx.utils import format as weblinx_format

from pipeline.export import Source, export
from pipeline.ranker.reading import choices
from schemas import INTENTS
from tests.pipeline.pages.test_dom import uids
from tests.support.samples.recording_fixtures import make_demonstration, write_recording

UID = "data-webtasks-id"


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    root = tmp_path_factory.mktemp("weblinx")
    recording = write_recording(root / "rec")
    demonstration = make_demonstration(recording)
    summary = export([Source(demonstration, recording)], root / "out", "weblinx")
    loaded = weblinx.Demonstration("rec", root / "out" / "demonstrations")
    return demonstration, summary, loaded, weblinx.Replay.from_demonstration(loaded)


def test_it_loads(exported):
    demonstration, summary, loaded, replay = exported
    assert loaded.is_valid() and replay.validate_turns()
    assert loaded.get_version() and loaded.get_upload_date(as_datetime=True).year == 2024
    assert loaded.metadata["recordingEnd"] - loaded.metadata["recordingStart"] == 30
    assert loaded.metadata["timezoneOffsetMinutes"] == 300
    assert replay.created.timestamp() == int(loaded.metadata["recordingStart"])
    left = [turn for turn in demonstration["turns"] if not turn.get("dropped")]
    assert json.loads(loaded.join("demotape.json").read_bytes()) == demonstration | {"turns": left}
    root = loaded.path.parent.parent
    assert weblinx.load_demos_in_split(root / "splits.json", "train", demo_base_dir=root / "demonstrations")
    assert summary.samples == len(replay)


def test_turns_are_kept_mapped_or_counted(exported):
    demonstration, summary, _, replay = exported
    kept = [turn for turn in demonstration["turns"] if not turn.get("dropped")]
    assert len(replay) + summary.left_out.total() == len(kept)
    assert dict(summary.left_out) == {
        "press: no equal in WebLINX": 1, "click: no element": 1, "drag: no equal in WebLINX": 1,
        "upload: no equal in WebLINX": 1, "dialog: no equal in WebLINX": 1, "forward: address unknown": 1}
    assert {turn.intent for turn in replay if turn.type == "browser"} <= {intent.weblinx for intent in INTENTS.values()}
    assert [turn.format_text() for turn in replay if turn.type == "chat"] == [
        "[instructor] -> SAY: Find “lamps”", "[navigator] -> SAY: Done ✓"]
    assert all("state" not in turn for turn in replay if turn.type == "chat")
    assert [turn.props["url"] for turn in replay.filter_by_intent("load")] == [
        "https://shop.example/", "https://shop.example/?q=lamps", "https://shop.example/"]


def test_every_target_is_in_its_page_and_boxes(exported):
    _, _, loaded, replay = exported
    turns = replay.filter_by_intents("click", "textInput", "submit", "change", "hover")
    assert {turn.intent for turn in turns} == {"click", "textInput", "submit", "change", "hover"}
    for turn in turns:
        uid = turn.element["attributes"][UID]
        assert turn.get_screenshot_status() == "good"
        assert cv2.imread(turn.get_screenshot_path()) is not None
        assert uids(turn.html).found.count(uid) == 1
        found = lxml.html.fromstring(turn.html).xpath(f'//*[@{UID}="{uid}"]')
        assert len(found) == 1
        assert found[0].getroottree().xpath(turn.element["xpath"]) == found
        assert set(turn.bboxes[uid]) == {"x", "y", "width", "height", "top", "left", "right", "bottom"}
        assert set(turn.element["bbox"]) == set(turn.bboxes[uid])
        assert turn.bboxes[uid]["width"] > 0
        assert uid in turn.get_xpaths_dict(uid_key=UID)
        assert turn.viewport_width == 640
    click = next(turn for turn in turns if turn.element["attributes"][UID] == "f6")  # made with a key
    assert (click.metadata["mouseX"], click.client_x, click.element["tagName"]) == (70, 70, "BUTTON")
    form = next(turn for turn in turns if turn.intent == "submit")
    assert (form.element["tagName"], form.element["textContent"]) == ("FORM", "Pay & go")
    assert form.bboxes["f5"]["right"] == 325
    assert "<button" in form.element["innerHTML"] and form.element["outerHTML"].startswith("<div")


def test_files_are_ascii_and_nothing_is_unused(exported):
    _, _, loaded, replay = exported
    for path in loaded.path.rglob("*.json"):
        path.read_bytes().decode("ascii")
    assert {turn.get_html_path() for turn in replay if turn.has_html()} == set(loaded.list_all_html_pages())
    pictures = {turn.get_screenshot_path() for turn in replay if turn.has_screenshot()}
    assert pictures == set(loaded.list_all_screenshots())
    assert len(loaded.list_all_html_pages()) == 2  # four states, two different pages


def test_prompts_can_be_built(exported):
    _, _, loaded, replay = exported
    format_intent = partial(weblinx_format.format_intent_automatically,
                            format_click=partial(weblinx_format.format_click, formatters=(
                                weblinx_format.format_uid, weblinx_format.format_target_bbox)))
    candidates = {("rec", turn.index): [{"uid": uid, "rank": rank, "doc": uid} for rank, uid in
                                        enumerate(turn.bboxes, 1)] for turn in replay if turn.bboxes}
    selected = prompt.select_turns_and_candidates_for_prompts([loaded], candidates, num_candidates=5)
    intents = {record["turn"].intent for record in selected}
    assert intents >= {"click", "textInput", "submit", "change", "load", "scroll"}

    def build(replay, turn, cands_turn):
        tree = lxml.html.fromstring(turn.html) if turn.has_html() else None
        pruned = dom.clean_and_prune_tree(tree, cands_turn=cands_turn) if tree is not None else ""
        return [str(pruned), prompt.format_candidates(cands_turn),
                prompt.format_prev_turns(replay, turn, format_intent=format_intent, num_prev_turns=None),
                prompt.format_utterances(prompt.find_turns_with_instructor_chat(replay, turn, num_prev_turns=0))]

    records = prompt.build_input_records_from_selected_turns(selected, format_intent, build, None)
    assert len(records) == len(selected)
    assert all(record["prompt"][3] == "[00:00] Find “lamps”" for record in records)


def test_a_target_that_is_gone_is_history_only(tmp_path):
    recording = write_recording(tmp_path / "rec")
    demonstration = make_demonstration(recording)
    turns = [dict(turn) for turn in demonstration["turns"][:4]]
    turns[2]["element"] = turns[2]["element"] | {"uid": "999", "text": "a<b", "attributes": {"class": "x"}}
    turns[3]["state"] = turns[3]["state"] | {"dom": None, "elements": None}
    turns[1]["state"] = None
    summary = export([Source(demonstration | {"turns": turns}, recording)], tmp_path / "out", "weblinx")
    loaded = weblinx.Demonstration("rec", tmp_path / "out" / "demonstrations")
    replay = weblinx.Replay.from_demonstration(loaded)
    assert replay.validate_turns() and len(replay) == 4
    assert [turn.get_screenshot_status() for turn in replay[1:]] == ["broken", "broken", "broken"]
    assert replay[2].element["outerHTML"] == f'<input class="x" {UID}="999">a&lt;b</input>'
    assert summary.notes == {"target missing from the page, kept as history": 1}
    assert prompt.select_turns_and_candidates_for_prompts([loaded]) == []
    prompt.format_prev_turns(replay, replay[3], format_intent=weblinx_format.format_intent_automatically)


def test_zoom(tmp_path):
    recording = write_recording(tmp_path / "rec")
    demonstration = make_demonstration(recording)
    turn = demonstration["turns"][2]
    turn["state"] = turn["state"] | {"zoom": 2.0}
    export([Source(demonstration, recording)], tmp_path / "out", "weblinx")
    click = weblinx.Replay.from_demonstration(weblinx.Demonstration("rec", tmp_path / "out" / "demonstrations"))[2]
    assert (click.metadata["mouseX"], click.client_x, click.zoom) == (50, 100, 2)
    assert (click.element["bbox"]["right"], click.bboxes["10"]["right"]) == (440, 220)


def test_a_target_beside_which_was_pressed_is_no_positive_example(tmp_path):
    recording = write_recording(tmp_path / "rec")
    demonstration = make_demonstration(recording)
    turns = [dict(turn) for turn in demonstration["turns"]]
    click = next(turn for turn in turns if turn.get("intent") == "click")
    click["element"] = click["element"] | {"point_outside": "backdrop"}
    source = Source(demonstration | {"turns": turns}, recording)
    export([source], tmp_path / "out", "weblinx")
    root = tmp_path / "out" / "demonstrations" / "rec"
    written = json.loads((root / "replay.json").read_text())["data"]
    (number,) = [at for at, turn in enumerate(written) if "pointOutside" in
                 turn.get("action", {}).get("arguments", {}).get("element", {})]
    assert written[number]["action"]["arguments"]["element"]["pointOutside"] == "backdrop"
    labels = [json.loads(line) for path in (tmp_path / "out" / "candidates").glob("*.jsonl")
              for line in path.read_text().splitlines()]
    assert not any(line["label"] for line in labels if line["turn_index"] == number)
    targets = [choice.target for choice in choices(tmp_path / "out", "rec")]
    click["element"].pop("point_outside")
    export([source], tmp_path / "all", "weblinx")
    assert len(targets) == len([*choices(tmp_path / "all", "rec")]) - 1
    click["element"]["point_outside"] = "backdrop"
    summary = export([source], tmp_path / "mind2web", "mind2web")
    assert summary.left_out["click: point outside its target"] == 1
