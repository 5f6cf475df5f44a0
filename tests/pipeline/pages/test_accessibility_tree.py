"""The accessibility tree of a state, from the kept DOM: that of before the effect, with uids, without secrets."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipeline import process
from pipeline.pages import accessibility_tree
from pipeline.verify import verify
from recorder import Recording
from recorder.writer import RecordingWriter
from schemas import InputError
from tests.support.curator.curator_fixtures import STARTED, element, manifest, state
from tests.support.services.canary import Canary

PAGE = """<title>Shop</title><main><h1>Tea</h1><button id=b onclick="this.textContent = 'Sold'">Sell</button>
<label>Word <input id=p type=password></label><input type=checkbox id=c aria-label=Fast>
<iframe srcdoc="<button>Inside</button>"></iframe><p aria-hidden=true>Ornament</p></main>"""


def test_tree_is_that_of_the_state_before(recording_browser, site):
    site.pages["/"] = PAGE

    async def user_actions(page):
        await page.locator("#p").click()
        await page.keyboard.type("swordfish9")
        await page.locator("#c").click()
        await page.locator("#b").click()
        await page.locator("#b").click()

    session = recording_browser.record(user_actions, url=site.origin + "/", keep={"axtree": True})
    recording = session.recording
    # Playwright's synchronous interface does not run where an event loop does: processing has a thread of its own.
    with ThreadPoolExecutor(1) as pool:
        turns = [turn for turn in pool.submit(process, recording.layout.root).result()["turns"] if turn["state"]]
    trees = [json.loads(recording.blob(turn["state"]["axtree"])) for turn in turns if turn["state"]["dom"]]
    before, after = trees[-2], trees[-1]
    uid = turns[-1]["element"]["uid"]
    assert [node["name"] for node in before if node.get("uid") == uid] == ["Sell"]
    assert [node["name"] for node in after if node.get("uid") == uid] == ["Sold"]
    roles = {(node["role"], node["name"]) for node in after}
    assert {("RootWebArea", "Shop"), ("heading", "Tea"), ("button", "Inside"), ("checkbox", "Fast")} <= roles
    assert not any(name == "Ornament" for _, name in roles)
    checkbox = next(node for node in after if node["role"] == "checkbox")
    assert checkbox["properties"]["checked"] == "true"
    assert "swordfish" not in json.dumps(trees)
    ids = {node["id"] for node in after}
    assert all(node["parent"] in ids or node["parent"] is None for node in after)
    assert verify(recording.layout.root) == []


HOSTILE = """<script>document.title = 'owned'; fetch('CANARY/script')</script><img src=CANARY/image
onerror="document.title='owned'">
<iframe src=CANARY/frame></iframe><meta http-equiv=refresh content="0;url=CANARY/refresh">
<svg onload="fetch('CANARY/svg')"></svg><link rel=stylesheet href=CANARY/style><link rel=prefetch href=CANARY/prefetch>
<style>@import 'CANARY/import';
body { background: url(CANARY/background) }</style><object data=CANARY/object></object><h1>Tea</h1>"""


def hostile_recording(folder: Path, origin: str, recording_id: str) -> Path:
    """A recording made with `axtree`, whose page reaches out in every way it can."""
    writer = RecordingWriter(folder / recording_id, manifest(recording_id) | {"options": {"axtree": True}})
    seen = state(writer, 1, HOSTILE.replace("CANARY", origin)) | {"viewport": {"width": 1 << 15, "height": 1}}
    for name in ("video_time", "screenshot_status"):
        del seen[name]
    writer.event({"time": 1.0, "type": "click", "tab": 1, "gesture": None, "target": element(), "state": seen,
                  "data": {"x": 1, "y": 1, "button": 0, "modifiers": [], "detail": 1}})
    writer.close(STARTED)
    return folder / recording_id


def test_a_hostile_page_runs_nothing_and_reaches_nobody(tmp_path):
    with Canary() as canary, ThreadPoolExecutor(1) as pool:
        path = hostile_recording(tmp_path, canary.origin, "hostile")
        turn = pool.submit(process, path).result()["turns"][0]
    names = {node["name"] for node in json.loads(Recording(path).blob(turn["state"]["axtree"]))}
    assert "Tea" in names and "owned" not in names
    assert canary.asked == []


def test_a_page_that_keeps_the_browser_busy_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(accessibility_tree.limits, "AXTREE_SECONDS", 0.01)
    path = hostile_recording(tmp_path, "http://127.0.0.1:9", "long")
    with ThreadPoolExecutor(1) as pool, pytest.raises(InputError, match="rendering took longer than 0 s"):
        pool.submit(process, path).result()
    assert not (path / "demonstration.json").exists()
