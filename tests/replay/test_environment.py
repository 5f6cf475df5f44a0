"""A recorded task for agents: the start state over CDP, goal, reset and score over HTTP; runs share nothing."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from recorder import Recording
from tests.support.site import Site

COMMAND = Path(sys.executable).parent / "demotape"
SHOP = """<!DOCTYPE html><title>Shop</title><h1>Shop</h1><p id=visits></p><form method=post action=/orders>
<label>Lamp <input name=lamp></label><button>Order</button></form>
<script>localStorage.visits = 1 + +(localStorage.visits || 0); visits.textContent = "Visit " + localStorage.visits;
document.cookie = "seen=yes";</script>"""
DONE = "<!DOCTYPE html><title>Thanks</title><h1>Thanks</h1><p id=told>You ordered a Floor lamp</p>"
AGENT = """
from playwright.async_api import async_playwright
from playwright.sync_api import sync_playwright


async def orders(task):
    async with async_playwright() as playwright:
        page = (await playwright.chromium.connect_over_cdp(task.cdp)).contexts[0].pages[0]
        assert task.goal == "test" and page.url == task.start_url, (task, page.url)
        await page.get_by_text("Visit 1").wait_for()
        await page.get_by_label("Lamp").fill("Floor lamp")
        await page.get_by_role("button").click()
        await page.get_by_text("You ordered").wait_for()
    return "Done"


def stops(task):
    with sync_playwright() as playwright:
        page = playwright.chromium.connect_over_cdp(task.cdp).contexts[0].pages[0]
        page.get_by_label("Lamp").fill("Floor lamp")


def breaks(task):
    raise ValueError("out of ideas")


def sleeps(task):
    import time
    time.sleep(3)
"""


async def order(page):
    await page.get_by_label("Lamp").click()
    await page.keyboard.type("Floor lamp")
    await page.get_by_role("button", name="Order").click()
    await page.get_by_text("You ordered").wait_for()


@pytest.fixture(scope="module")
def recorded(recording_browser):
    site = Site({"/": SHOP, "/orders": DONE})
    session = recording_browser.record(order, url=site.origin + "/", keep={"replayable": True})
    site.close()
    root = session.recording.layout.root
    assert subprocess.run([COMMAND, "outcome", root, "--propose"], capture_output=True).returncode == 0
    outcome = json.loads((root / "outcome.json").read_text())
    outcome["checks"].append({"kind": "script", "expression": "document.querySelector('#told').innerText",
                              "match": {"includes": [["lamp"]]}})
    (root / "outcome.json").write_text(json.dumps(outcome))
    return root


@pytest.fixture(scope="module")
def agents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("agents")
    (folder / "mine.py").write_text(AGENT)

    def run(name, runs, *words):
        done = subprocess.run([COMMAND, "agents", "run", name, "--runs", folder / runs, "--json", *map(str, words)],
                              capture_output=True, text=True, cwd=folder)
        return done, [json.loads(line) for line in done.stdout.splitlines()]

    run.folder = folder
    return run


@pytest.mark.parametrize("agent, score, told", [
    ("recorded", 1, ""), ("idle", 0, ""), ("mine:stops", 0, "no request was like that"),
    ("mine:breaks", 0, "out of ideas")])
def test_an_agent_is_scored(recorded, agents, agent, score, told):
    done, (run,) = agents(agent, agent.replace(":", "-"), recorded)
    assert done.returncode == 0 and run["score"] == score and told in run["reason"], (run, done.stderr)
    assert run["missing"] == 0
    recording = Recording(agents.folder / agent.replace(":", "-") / recorded.name / "run-1")
    assert recording.manifest["provenance"]["actor"] == ("script" if agent == "recorded" else "agent")


def test_several_at_once_share_nothing(recorded, agents, tmp_path):
    shutil.copytree(recorded, tmp_path / "another")
    done, runs = agents("mine:orders", "several", recorded, tmp_path / "another", "--jobs", 2)
    assert done.returncode == 0 and [run["score"] for run in runs] == [1, 1], runs
    assert {run["recording"] for run in runs} == {recorded.name, "another"}


def test_an_agent_has_its_time(recorded, agents):
    _, (run,) = agents("mine:sleeps", "slow", recorded, "--seconds", 0.5)
    assert run["score"] == 0 and "longer than 0.5 s" in run["reason"]


@pytest.mark.parametrize("name, told", [
    ("mine", "MODULE:FUNCTION"), ("mine:none", "has no none"), ("nowhere:x", "cannot be imported")])
def test_an_agent_that_is_none_is_named(recorded, agents, name, told):
    assert told in agents(name, "none", recorded)[0].stderr


def test_an_environment_is_reset_and_scored_over_http(recorded, tmp_path):
    serving = subprocess.Popen([COMMAND, "replay", "serve", recorded, "--cdp", "0", "--runs", tmp_path / "runs"],
                               stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"})
    try:
        cdp, api = (next(line for line in serving.stdout if line.startswith(name)).split()[1]
                    for name in ("CDP", "API"))

        def ask(path, body=None):
            request = urllib.request.Request(api + path, None if body is None else json.dumps(body).encode(),
                                             {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)

        async def act():
            async with async_playwright() as playwright:
                browser = await playwright.chromium.connect_over_cdp(cdp)
                page = browser.contexts[0].pages[-1]
                await page.get_by_text("Visit 1").wait_for()  # nothing is left of another run
                await order(page)

        assert ask("/goal")["goal"] == "test" and set(ask("/openapi.json")["paths"]) == {
            "/goal", "/reset", "/score"}
        for number in (1, 2):
            asyncio.run(act())
            assert ask("/score", {"answer": ""})["score"] == 1
            assert ask("/reset", {})["run"] == f"run-{number + 1}"
        assert ask("/score", {})["score"] == 0  # nothing was done
        with pytest.raises(urllib.error.HTTPError, match="409"):
            ask("/score", {})
    finally:
        serving.send_signal(signal.SIGINT)
        serving.communicate(timeout=30)
    assert len(Recording(tmp_path / "runs" / "run-1").events) > 3
