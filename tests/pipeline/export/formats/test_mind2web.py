"""The Mind2Web export, as a loader written to the published files' rules sees it, and as `datasets` does."""

import json
import os

import cv2
import pytest
from lxml import etree

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import datasets

from pipeline.export import Rule, Source, export
from pipeline.export.formats.mind2web_pages import NO_BOX, number
from pipeline.export.splits import website
from pipeline.pages.dom import flatten
from recorder.writer import RecordingWriter
from tests.support.recording_fixtures import STARTED_AT, box, html, make_demonstration, write_recording

STRICT = etree.XMLParser(recover=False, resolve_entities=False, no_network=True)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    root = tmp_path_factory.mktemp("mind2web")
    sources = []
    for name in ("rec-a", "rec-b"):
        recording = write_recording(root / name)
        recording.layout.har.write_text('{"log": {"entries": []}}')
        sources.append(Source(make_demonstration(recording), recording))
    rule = Rule(websites={"shop.example": {"category": "Shopping", "subdomain": "Lamps"}})
    summary = export(sources, root / "out", "mind2web", rule=rule)
    return sources, summary, root / "out"


def tasks(folder) -> list[dict]:
    """A loader to the published files' rules: every file is a list of tasks."""
    return [task for path in sorted(folder.glob("data/*/*.json")) for task in json.loads(path.read_bytes())]


def by_id(xml: str) -> dict[str, etree._Element]:
    """Nodes of a page by id, parsed strictly; every node has one, and no two the same."""
    nodes = list(etree.fromstring(xml, STRICT).iter())
    found = {node.get("backend_node_id"): node for node in nodes}
    assert None not in found and len(found) == len(nodes)
    return found


def test_tasks_and_actions(exported):
    sources, summary, folder = exported
    loaded = tasks(folder)
    assert [task["annotation_id"] for task in loaded] == ["rec-a", "rec-b"]
    assert [(task["website"], task["domain"], task["subdomain"], task["confirmed_task"]) for task in loaded] == [
        ("shop.example", "Shopping", "Lamps", "Find lamps & pay")] * 2
    assert [list(task) for task in loaded] == [[
        "annotation_id", "website", "domain", "subdomain", "confirmed_task", "actions", "action_reprs"]] * 2
    operations = [tuple(action["operation"].values()) for action in loaded[0]["actions"]]
    assert operations == [
        ("CLICK", "CLICK", ""), ("TYPE", "TYPE", "lamps"), ("CLICK", "ENTER", ""), ("CLICK", "ENTER", ""),
        ("CLICK", "CLICK", ""), ("CLICK", "CLICK", ""), ("CLICK", "CLICK", ""), ("SELECT", "SELECT", "Two"),
        ("CLICK", "HOVER", "")]
    assert loaded[0]["action_reprs"][:3] == ["[input]   -> CLICK", "[input]   -> TYPE: lamps", "[input]   -> ENTER"]
    assert loaded[0]["action_reprs"][7] == "[select]   -> SELECT: Two"
    assert summary.samples == sum(len(task["actions"]) for task in loaded) == 18
    kept = sum(len(source.turns) for source in sources)
    assert summary.samples + summary.left_out.total() == kept
    assert summary.left_out["chat: Mind2Web has none"] == 4


def test_none_of_the_three_complaints(exported):
    """Empty pos_candidates, raw_html like cleaned_html, boxes in the wrong place."""
    sources, _, folder = exported
    turns = {f"{source.name}_{turn['id']}": turn for source in sources for turn in source.turns}
    seen = 0
    for task in tasks(folder):
        for action in task["actions"]:
            turn = turns[action["action_uid"]]
            raw, cleaned = by_id(action["raw_html"]), by_id(action["cleaned_html"])
            assert action["raw_html"] != action["cleaned_html"] and len(cleaned) < len(raw)
            [target] = action["pos_candidates"]
            assert target["is_original_target"] and target["is_top_level_target"]
            assert target["backend_node_id"] in cleaned
            marked = [node for node in raw.values() if node.get("data_pw_testid_buckeye")]
            assert [(node.get("backend_node_id"), node.get("data_pw_testid_buckeye")) for node in marked] == [
                (target["backend_node_id"], action["action_uid"])]
            for candidate in [target, *action["neg_candidates"]]:
                node = raw[candidate["backend_node_id"]]
                told = json.loads(candidate["attributes"])
                assert cleaned[candidate["backend_node_id"]].tag == node.tag == candidate["tag"]
                assert told["backend_node_id"] == candidate["backend_node_id"]
                assert told["bounding_box_rect"] == node.get("bounding_box_rect") != NO_BOX
                assert {"class", "is_clickable", "data_pw_testid_buckeye_candidate"} <= set(told)
                assert all(isinstance(value, str) for value in told.values())
            wanted = turn["element"]["bbox"] or box(turn["element"]["uid"])
            assert json.loads(target["attributes"])["bounding_box_rect"] == ",".join(
                f"{wanted[side]:g}" for side in ("x", "y", "width", "height"))
            picture = cv2.imread(str(folder / action["screenshot"]))
            assert picture.shape[:2] == (turn["state"]["viewport"]["height"], turn["state"]["viewport"]["width"])
            assert len(action["neg_candidates"]) >= 3
            assert target["backend_node_id"] not in {each["backend_node_id"] for each in action["neg_candidates"]}
            seen += 1
    assert seen == 18


def test_text_stands_in_text_nodes(exported):
    action = tasks(exported[2])[0]["actions"][1]
    for xml in (action["raw_html"], action["cleaned_html"]):
        for node in by_id(xml).values():
            assert not (node.tail or "").strip() and (node.tag == "text" or not (node.text or "").strip())
    texts = {node.text for node in by_id(action["cleaned_html"]).values() if node.tag == "text"}
    assert {"Search", "Go", "Pay & go", "In the “shade”", "One"} <= texts
    assert not any(node.tag in ("head", "script", "style") for node in by_id(action["cleaned_html"]).values())


def test_datasets_loads_it(exported, tmp_path):
    files = [str(path) for path in sorted((exported[2] / "data" / "train").glob("*.json"))]
    loaded = datasets.load_dataset("json", data_files=files, split="train", cache_dir=str(tmp_path))
    assert loaded["annotation_id"][:] == ["rec-a", "rec-b"]
    assert len(loaded[0]["actions"]) == 9 and loaded[0]["actions"][0]["pos_candidates"][0]["is_original_target"]


def test_files_beside_the_tasks(exported):
    folder = exported[2]
    assert json.loads((folder / "raw_dump" / "rec-a" / "session.har").read_bytes()) == {"log": {"entries": []}}


def test_archives_go_with_the_actions_after_them(tmp_path):
    writer = RecordingWriter(tmp_path / "rec", {
        "format": "demotape/recording", "version": 1, "id": "rec", "task": "x", "started_at": STARTED_AT,
        "user_agent": "", "browser": "", "viewport": None, "options": {}})
    blob = writer.blob(b"MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\nmail ann@shop.example\r\n")
    writer.event({"time": 1.5, "type": "mhtml", "tab": 1, "gesture": None, "target": None, "data": {"blob": blob},
                  "state": None})
    template = write_recording(tmp_path / "template")
    demonstration = make_demonstration(template)
    for turn in demonstration["turns"]:
        if turn.get("state"):
            for name in ("dom", "elements", "screenshot"):
                writer.blob(template.blob(turn["state"][name]))
    demonstration["turns"][0]["utterance"] = "write to ann@shop.example"
    writer.close(STARTED_AT)
    recording = type(template)(tmp_path / "rec")
    summary = export([Source(demonstration | {"id": "rec", "recording": "rec"}, recording)], tmp_path / "out",
                     "mind2web")
    [task] = tasks(tmp_path / "out")
    assert [action["mhtml"] for action in task["actions"][:2]] == ["raw_dump/rec/snapshots/1.mhtml"] * 2
    archive = (tmp_path / "out" / "raw_dump" / "rec" / "snapshots" / "1.mhtml").read_bytes()
    assert b"ann@" not in archive and b"[REDACTED]" in archive
    assert summary.redacted == {"email": 1}


@pytest.mark.parametrize("body", [
    '<input u="9" @click="x" :class="y" 2b="c" a:b="d" value="&#1;&lt;&amp;">',
    '<a:b u="9">x</a:b><table><tr><td u="8">y', '<svg u="9"><path d="M0"/></svg>',
    '<div style="display: none"><button u="9">in the dark</button></div>', '<template><p u="9">x</p></template>',
    '<p u="9">\0&#xffff;\ud800</p>', '<noscript u="9"></noscript>', '<head u="9"></head>',
])
def test_any_page_becomes_strict_xml_that_has_the_target(body):
    page = flatten(html(f"<html><body>{body}</body></html>").encode("utf-8", "surrogatepass"), "data-demotape-uid")
    for uid in page.elements:
        numbered = number(page, {}, {})
        cleaned = by_id(etree.tostring(numbered.cleaned(uid), encoding="unicode"))
        assert numbered.candidate(uid)["backend_node_id"] in cleaned
        raw = by_id(numbered.raw(uid, "action"))
        assert [node for node in raw.values() if node.get("data_pw_testid_buckeye") == "action"]
        assert set(cleaned) <= set(raw)


@pytest.mark.parametrize("url, expected", [
    ("https://www.shop.example/a?b", "shop.example"), ("http://shop.co.uk/", "shop.co.uk"), ("about:blank", ""),
    ("https://a.b.c.example:8080", "c.example"), ("http://127.0.0.1:80/", "127.0.0.1"), ("http://[::1]/", "::1"),
    ("http://localhost/", "localhost"), ("http://[bad/", ""), ("file:///x", "")])
def test_website_of_an_address(url, expected):
    assert website(url) == expected
