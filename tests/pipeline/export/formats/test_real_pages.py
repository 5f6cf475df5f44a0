"""Every format made of what a real Chromium showed to a real person: frames, shadow roots, archives, boxes that hit."""

import json
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy
import pytest
import weblinx
from lxml import etree

from pipeline import process
from pipeline.export import FORMATS, Source, export
from pipeline.verify import verify
from tests.pipeline.export.model_input.test_records import lines, selected
from tests.support.samples.sessions import click_in

from .test_mind2web import STRICT, tasks

PAGE = """<!DOCTYPE html><title>Tea shop</title><style>body { margin: 30px; font: 20px sans-serif }</style>
<h1>Tea</h1><form onsubmit="return false"><label>Search <input id=q name=q></label>
<select id=s><option value=1>Green</option><option value=2>Black</option></select>
<label><input type=checkbox id=c> Fast</label><button id=b>Go</button></form>
<iframe id=f srcdoc="<body style='margin:9px'><button id=i>Inside</button>" width=300 height=80></iframe>
<x-tea></x-tea><p style="margin-top: 3000px">far below: ann.lee@shop.example</p>
<script>customElements.define('x-tea', class extends HTMLElement { connectedCallback() {
  this.attachShadow({mode: 'closed'}).innerHTML = '<button>In the shade</button>' } })</script>"""


@pytest.fixture(scope="module")
def source(recording_browser):
    from tests.support.services.site import Site

    site = Site({"/": PAGE})

    async def user_actions(page):
        await page.wait_for_timeout(1000)  # the page rests, and is kept
        for selector in ("#q", "#b"):
            await click_in(page, page, selector)
            await page.keyboard.type("oolong" if selector == "#q" else "")
        await click_in(page, page, "#c")
        await click_in(page, page.frames[1], "#i")
        box = await page.locator("x-tea").bounding_box()
        await page.mouse.click(box["x"] + 20, box["y"] + 10)

    try:
        session = recording_browser.record(user_actions, url=site.origin + "/",
                                           keep={"axtree": True, "har": True, "mhtml": True})
    finally:
        site.close()
    # Playwright's synchronous interface does not run where an event loop does: processing has a thread of its own.
    with ThreadPoolExecutor(1) as pool:
        demonstration = pool.submit(process, session.recording.layout.root).result()
    return Source(demonstration, session.recording)


@pytest.fixture(scope="module")
def folder(source, tmp_path_factory):
    root = tmp_path_factory.mktemp("real")
    for format in FORMATS:
        options = {"candidates": True, "records": True} if format == "weblinx" else {}
        summary = export([source], root / format, format, axtree=True, set_of_marks=True, **options)
        assert verify(root / format) == [] and summary.redacted == {"email": 1}
        assert not [note for note in summary.notes if "missing" in note]
    return root


def test_the_pointer_is_in_the_box_of_each_target(source, folder):
    turns = {turn["id"]: turn for turn in source.turns}
    [task] = tasks(folder / "mind2web")
    clicks = 0
    for action in task["actions"]:
        [target] = action["pos_candidates"]
        x, y, width, height = map(float, json.loads(target["attributes"])["bounding_box_rect"].split(","))
        point = turns[action["turn"]]["arguments"]
        left, top, *_ = map(float, action["viewport"].split(","))
        if point.get("x") is not None:
            assert x <= point["x"] + left <= x + width and y <= point["y"] + top <= y + height
            clicks += 1
        ids = {node.get("backend_node_id") for node in etree.fromstring(action["cleaned_html"], STRICT).iter()}
        assert {target["backend_node_id"], *(each["backend_node_id"] for each in action["neg_candidates"])} <= ids
        assert action["raw_html"] != action["cleaned_html"]
        assert (folder / "mind2web" / action["screenshot"]).exists() and json.loads(action["axtree"])
    assert clicks >= 4
    assert {"Go", "Inside", "In the shade"} <= {repr_.partition("]  ")[2].partition(" ->")[0]
                                                for repr_ in task["action_reprs"]}


def test_archives_and_trees_are_there_without_the_address(folder):
    [har] = (folder / "mind2web").glob("raw_dump/*/session.har")
    assert json.loads(har.read_bytes())["log"]["entries"]
    archives = list((folder / "mind2web").glob("raw_dump/*/snapshots/*.mhtml"))
    assert archives and all(b"ann.lee" not in path.read_bytes() for path in [har, *archives])
    assert any(b"[REDACTED]" in path.read_bytes() for path in archives)
    trees = [json.loads(path.read_bytes()) for path in (folder / "weblinx").glob("demonstrations/*/axtree/*.json")]
    assert trees and all(any(node["name"] == "Tea shop" for node in tree) for tree in trees)


def test_what_is_out_of_sight_blurs_nothing(source, folder):
    """The address stands far below: no pixel of a screenshot is changed for it."""
    recorded = {cv2.imdecode(numpy.frombuffer(source.recording.blob(turn["state"]["screenshot"]), numpy.uint8),
                             cv2.IMREAD_COLOR).tobytes() for turn in source.turns if turn.get("state")}
    exported = list((folder / "weblinx").glob("demonstrations/*/screenshots/*.png"))
    assert exported and all(cv2.imread(str(path)).tobytes() in recorded for path in exported)


def test_marks_stand_for_what_can_be_acted_on(folder):
    legends = [json.loads(path.read_bytes()) for path in (folder / "weblinx").glob("demonstrations/*/marks/*.json")]
    names = {mark["name"] for legend in legends for mark in legend.values()}
    assert {"Go", "Inside", "In the shade", "Search"} <= {name.strip() for name in names}


def test_the_library_builds_prompts_of_it(source, folder):
    loaded = weblinx.Demonstration(source.name, folder / "weblinx" / "demonstrations")
    assert loaded.is_valid() and weblinx.Replay.from_demonstration(loaded).validate_turns()
    turns = selected(folder / "weblinx")
    records = lines(folder / "weblinx" / "records" / "train.jsonl")
    assert [turn["turn"].index for turn in turns] == [record["turn_index"] for record in records] and len(turns) >= 5
    asked = [record for record in records if record["action"].startswith("click")]
    assert any(record["action"].split('"')[1] in record["candidate_uids"] for record in asked)
