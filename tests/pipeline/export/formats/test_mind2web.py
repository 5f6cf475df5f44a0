"""The Mind2Web export, as a loader written to the published files' rules sees it, and as `datasets` does."""

import json
import os
from uuid import UUID

import cv2
import lxml.html
import pytest
from lxml import etree

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import datasets

from pipeline.export import Rule, Source, export
from pipeline.export.formats.mind2web_actions import annotation_id, website_name
from pipeline.export.formats.mind2web_cleaning import clean_page, serialize
from pipeline.export.formats.mind2web_pages import NO_BOX, SALIENT, number
from pipeline.export.splits import website
from pipeline.pages.dom import flatten
from recorder.writer import RecordingWriter
from schemas import UID_ATTRIBUTE
from tests.support.samples.exchanges import console_line
from tests.support.samples.recording_fixtures import STARTED_AT, box, html, make_demonstration, write_recording

STRICT = etree.XMLParser(recover=False, resolve_entities=False, no_network=True)
AUTHORS = {"backend_node_id", "bounding_box_rect", "class", "is_clickable", "data_pw_testid_buckeye_candidate",
           *SALIENT.values()}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    root = tmp_path_factory.mktemp("mind2web")
    sources = []
    for name in ("rec-a", "rec-b"):
        recording = write_recording(root / name)
        recording.layout.har.write_text('{"log": {"entries": []}}')
        recording.layout.console.write_text(json.dumps(console_line(1.0, text="written by a page")) + "\n")
        sources.append(Source(make_demonstration(recording), recording))
    rule = Rule(websites={"shop.example": {"website": "the shop", "category": "Shopping", "subdomain": "Lamps"}})
    summary = export(sources, root / "out", "mind2web", rule=rule)
    return sources, summary, root / "out"


def test_the_console_stays_with_the_recording(exported):
    files = [path.read_bytes() for path in exported[2].rglob("*") if path.is_file()]
    assert files and not any(b"written by a page" in content for content in files)


def tasks(folder) -> list[dict]:
    """A loader to the published files' rules: every file is a list of tasks."""
    return [task for path in sorted(folder.glob("data/*/*.json")) for task in json.loads(path.read_bytes())]


def annotation(name: str) -> str:
    return str(annotation_id(name))


def html_nodes(text: str) -> dict[str, etree._Element]:
    """Elements of a raw page by id, as lxml's HTML parser reads them; every one has an id, and no two the same."""
    nodes = list(lxml.html.document_fromstring(text).iter(etree.Element))
    found = {node.get("backend_node_id"): node for node in nodes}
    assert None not in found and len(found) == len(nodes)
    return found


def by_id(xml: str) -> dict[str, etree._Element]:
    """Nodes of a page by id, parsed strictly; every node has one, and no two the same."""
    nodes = list(etree.fromstring(xml, STRICT).iter())
    found = {node.get("backend_node_id"): node for node in nodes}
    assert None not in found and len(found) == len(nodes)
    return found


def test_tasks_and_actions(exported):
    sources, summary, folder = exported
    loaded = tasks(folder)
    assert [task["annotation_id"] for task in loaded] == [annotation("rec-a"), annotation("rec-b")]
    assert [task["demonstration"] for task in loaded] == ["rec-a", "rec-b"]
    assert [(task["website"], task["domain"], task["subdomain"], task["confirmed_task"]) for task in loaded] == [
        ("the shop", "Shopping", "Lamps", "Find lamps & pay")] * 2
    assert [list(task) for task in loaded] == [[
        "annotation_id", "website", "domain", "subdomain", "confirmed_task", "demonstration", "actions",
        "action_reprs"]] * 2
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
    turns = {(source.id, turn["id"]): turn for source in sources for turn in source.turns}
    seen = set()
    for task in tasks(folder):
        for action in task["actions"]:
            turn = turns[task["demonstration"], action["turn"]]
            raw, cleaned = html_nodes(action["raw_html"]), by_id(action["cleaned_html"])
            assert len([node for node in cleaned.values() if node.tag != "text"]) < len(raw)
            assert action["raw_html"].startswith("<!DOCTYPE html>")
            [target] = action["pos_candidates"]
            assert target["is_original_target"] and target["is_top_level_target"]
            assert target["backend_node_id"] in cleaned
            marked = [node for node in raw.values() if node.get("data_pw_testid_buckeye")]
            assert [(node.get("backend_node_id"), node.get("data_pw_testid_buckeye")) for node in marked] == [
                (target["backend_node_id"], action["action_uid"])]
            assert {target["backend_node_id"], *(each["backend_node_id"] for each in action["neg_candidates"])} == {
                number for number, node in cleaned.items() if node.tag not in ("html", "body", "text")}
            for candidate in [target, *action["neg_candidates"]]:
                node = raw[candidate["backend_node_id"]]
                told = json.loads(candidate["attributes"])
                assert cleaned[candidate["backend_node_id"]].tag == node.tag == candidate["tag"]
                assert told["backend_node_id"] == candidate["backend_node_id"]
                assert told["bounding_box_rect"] == node.get("bounding_box_rect", NO_BOX)
                assert {"class", "data_pw_testid_buckeye_candidate"} <= set(told) <= AUTHORS
                assert told.get("is_clickable", "true") == "true"
                assert told.get("is_clickable") == node.get("is_clickable")
                assert all(isinstance(value, str) for value in told.values())
            wanted = turn["element"]["bbox"] or box(turn["element"]["uid"])
            assert json.loads(target["attributes"])["bounding_box_rect"] == ",".join(
                f"{wanted[side] + (10 if side == 'y' else 0):g}" for side in ("x", "y", "width", "height"))
            assert action["viewport"] == "0,10,640,400"
            picture = cv2.imread(str(folder / action["screenshot"]))
            assert picture.shape[:2] == (turn["state"]["viewport"]["height"], turn["state"]["viewport"]["width"])
            assert len(action["neg_candidates"]) >= 8
            assert target["backend_node_id"] not in {each["backend_node_id"] for each in action["neg_candidates"]}
            assert action["action_uid"] == str(UUID(action["action_uid"]))
            seen.add(action["action_uid"])
    assert len(seen) == 18


def test_text_stands_in_text_nodes(exported):
    action = tasks(exported[2])[0]["actions"][1]
    for node in by_id(action["cleaned_html"]).values():
        assert not (node.tail or "").strip() and (node.tag == "text" or not (node.text or "").strip())
    texts = {node.text for node in by_id(action["cleaned_html"]).values() if node.tag == "text"}
    assert {"Search", "Go", "Pay & go", "In the “shade”", "One"} <= texts
    assert not any(node.tag in ("head", "script", "style") for node in by_id(action["cleaned_html"]).values())


def test_datasets_loads_it(exported, tmp_path):
    files = [str(path) for path in sorted((exported[2] / "data" / "train").glob("*.json"))]
    loaded = datasets.load_dataset("json", data_files=files, split="train", cache_dir=str(tmp_path))
    assert loaded["annotation_id"][:] == [annotation("rec-a"), annotation("rec-b")]
    assert len(loaded[0]["actions"]) == 9 and loaded[0]["actions"][0]["pos_candidates"][0]["is_original_target"]


def test_files_beside_the_tasks(exported):
    har = exported[2] / "raw_dump" / annotation("rec-a") / "session.har"
    assert json.loads(har.read_bytes()) == {"log": {"entries": []}}


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
    assert [action["mhtml"] for action in task["actions"][:2]] == [
        f"raw_dump/{annotation('rec')}/snapshots/1.mhtml"] * 2
    archive = (tmp_path / "out" / "raw_dump" / annotation("rec") / "snapshots" / "1.mhtml").read_bytes()
    assert b"ann@" not in archive and b"[REDACTED]" in archive
    assert summary.redacted == {"email": 1}


HOSTILE = [
    '<input u="9" @click="x" :class="y" 2b="c" a:b="d" value="&#1;&lt;&amp;">',
    '<a:b u="9">x</a:b><table><tr><td u="8">y', '<a<b u="1">x</a<b><p u="9">\0&#xffff;\ud800</p>',
    '<div style="display: none"><button u="9">in the dark</button></div>',
    '<template><p u="9">x</p><tr u="1"><td u="2">q</template><noscript u="3"><p u="4">x</p></noscript>',
    '<head u="9"></head><html u="2"><title u="4">x</title><frameset u="5"><frame u="6"></frameset>',
    '<div u="1"/><span u="2"/>x<br u="3"/><img u="4" src=x><hr u="5"><embed u="6">',
    '<textarea u="1"><b u="9">&lt;b u="9"&gt;</b></textarea><p u="2"><text u="3">own <text u="4">x</text></text>',
    '<style u="1">a > b { content: "<p u=3>" }</style><script u="2">if (a<b) "</p>"</script><b u="3">x</b>',
    '<p u="1"><div u="2"><p u="3"><table u="4"><tr u="5"><td u="6"><form u="7"><form u="8"><button u="9">x',
    '<tr u="1"><td u="2">x</td></tr><li u="3">a<li u="4">b<dd u=5>x<a u="6" href=x>a<a u="7" href=y>b</a></a>',
    '<svg u="1"><path u="2" d="M0"/><title u="3">t</title><foreignObject u="4"><div u="5">x</div></foreignObject>'
    '<a u="6" href=x>l</a><style u="7">q</style><script u="8">x</script></svg><math u="9"><mi u="10">x</mi></math>',
    '<select u="1"><optgroup u="2"><option u="3">a<option u="4"><b u="5">b</b></select><xmp u="6"><b u="7">x</b></xmp>',
    '<table u="1"><b u="2">x</b><tr u="3"><td u="4">1<td u="5">2<caption u="6">c</caption><col u="7"></table>',
    '<iframe u="1" srcdoc="<html u=2><body u=3><p u=4>x"></iframe><object u="5"><param u="6"></object><plaintext u=7>',
    '<b u="1" backend_node_id="7" data_pw_testid_buckeye="x" is_clickable="false" bounding_box_rect="1,1,1,1">x</b>',
    '<div u="1">' * 300 + '<b u="2">x</b>']


@pytest.fixture(scope="module", params=["lxml.html", "html.parser", "lxml"])
def read(request):
    """An HTML parser that data sets are read with: from text to the elements' attributes by id."""
    if request.param == "lxml.html":
        return lambda text: {node.get("backend_node_id"): node.attrib for node in
                             lxml.html.document_fromstring(text).iter(etree.Element)}
    soup = pytest.importorskip("bs4", reason="needs beautifulsoup4, of the extra test")
    return lambda text: {node.get("backend_node_id"): node.attrs for node in
                         soup.BeautifulSoup(text, request.param).find_all(True)}


@pytest.mark.parametrize("body", HOSTILE, ids=lambda body: body[:24].encode("ascii", "replace").decode())
def test_every_parser_finds_every_element_of_any_page(read, body):
    page = flatten(html(f'<html u="h"><body>{body}</body></html>').encode("utf-8", "surrogatepass"), UID_ATTRIBUTE)
    assert page.elements
    for uid in list(page.elements)[:12]:
        numbered = number(page, {}, {}, {"x": 0.0, "y": 0.0})
        tree = by_id(serialize(clean_page(numbered, uid)))
        target = numbered.nodes[uid].get("backend_node_id")
        assert numbered.candidate(target)["backend_node_id"] == target and target in tree
        raw = read(numbered.raw(uid, "action"))
        assert [number for number, node in raw.items() if node.get("data_pw_testid_buckeye") == "action"] == [target]
        assert set(numbered.by_number) <= set(raw)
        assert {number for number, node in tree.items() if node.tag != "text"} <= set(read(serialize(
            clean_page(numbered, uid))))


@pytest.mark.parametrize("url, expected", [
    ("https://www.shop.example/a?b", "shop.example"), ("http://shop.co.uk/", "shop.co.uk"), ("about:blank", ""),
    ("https://a.b.c.example:8080", "c.example"), ("http://127.0.0.1:80/", "127.0.0.1"), ("http://[::1]/", "::1"),
    ("http://localhost/", "localhost"), ("http://[bad/", ""), ("file:///x", "")])
def test_website_of_an_address(url, expected):
    assert website(url) == expected


@pytest.mark.parametrize("url, expected", [
    ("https://www.united.com/a", "united"), ("http://shop.co.uk/", "shop"), ("http://127.0.0.1:80/", "127.0.0.1"),
    ("http://[::1]/", "::1"), ("http://localhost/", "localhost"), ("about:blank", "")])
def test_short_name_of_a_website(exported, url, expected):
    [source, _] = exported[0]
    turns = [turn | {"state": turn["state"] and turn["state"] | {"url": url}} for turn in source.turns
             if turn["type"] == "browser" and turn["intent"] == "click"]
    assert website_name(Source(source.demonstration | {"turns": turns}, source.recording)) == expected


def test_the_name_in_the_table_is_that_of_the_first_website(exported):
    rule = Rule(websites={"other.example": {"website": "other", "category": "Shopping"}, "shop.example": {}})
    [source, _] = exported[0]
    turns = json.loads(json.dumps(source.demonstration["turns"]))
    turns[-3]["state"] = turns[1]["state"] | {"url": "https://other.example/"}
    about = rule.about(Source(source.demonstration | {"turns": turns}, source.recording))
    assert about == {"category": "Shopping"}
