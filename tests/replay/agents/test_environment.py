"""A recorded task for agents: the start state over CDP, goal, reset and score over HTTP; runs share nothing."""

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from distributed import LocalCluster
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import async_playwright
from playwright.sync_api import sync_playwright

from demotape.agents import agent_named, attempt, outcome_of
from pipeline.outcomes import session_checks
from recorder import Recording
from replay.agents.environment import Environment
from schemas import InputError
from schemas.files import dump_json
from tests.support.services.site import Site

COMMAND = Path(sys.executable).parent / "demotape"
SHOP = """<!DOCTYPE html><title>Shop</title><h1>Shop</h1><p id=visits></p><form method=post action=/orders>
<label>Lamp <input name=lamp></label><button>Order</button></form>
<script>localStorage.visits = 1 + +(localStorage.visits || 0); visits.textContent = "Visit " + localStorage.visits;
document.cookie = "seen=yes";</script>"""
DONE = "<!DOCTYPE html><title>Thanks</title><h1>Thanks</h1><p id=told>You ordered a Floor lamp</p>"
AGENT = """
from playwright.async_api import async_playwright


async def orders(task):
    async with async_playwright() as playwright:
        page = (await playwright.chromium.connect_over_cdp(task.cdp)).contexts[0].pages[0]
        assert task.goal == "test" and page.url == task.start_url, (task, page.url)
        await page.get_by_text("Visit 1").wait_for()
        await page.get_by_label("Lamp").fill("Floor lamp")
        await page.get_by_role("button").click()
        await page.get_by_text("You ordered").wait_for()
    return "Done"
"""


def stops(task):
    """An agent that works in a thread."""
    with sync_playwright() as playwright:
        page = playwright.chromium.connect_over_cdp(task.cdp).contexts[0].pages[0]
        page.get_by_text("Visit 1").wait_for()  # nothing is left of the run before
        page.get_by_label("Lamp").fill("Floor lamp")


def breaks(task):
    raise ValueError("out of ideas")


def reports(task):
    return {"answer": "Done", "model": "scripted", "steps": 3, "input_tokens": 100, "output_tokens": 7, "cost": 0.5}


def misreports(task):
    return {"answer": "Done", "price": 1}


def sleeps(task):
    time.sleep(3600)


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


def answers(run):
    """What checks of the answers Done and Undone say of a recorded run."""
    checks = [{"kind": "answer", "match": {"exact": [text]}} for text in ("Done", "Undone")]
    outcome = {"format": "demotape/outcome", "version": 1, "checks": checks}
    return [each["holds"] for each in session_checks.try_on_session(run, outcome, run)["checks"]]


def test_the_recorded_person_is_scored_1(recorded, agents):
    done, (run,) = agents("recorded", "person", recorded)
    assert done.returncode == 0 and (run["score"], run["missing"]) == (1, 0), (run, done.stderr)
    again = Recording(agents.folder / "person" / recorded.name / "run-1")
    assert again.manifest["provenance"]["actor"] == "script" and answers(again) == [None, None]  # nothing was said


def test_an_agent_of_one_s_own_is_scored_in_a_process(recorded, agents):
    done, (run,) = agents("mine:orders", "own", recorded, "--jobs", 2)
    assert done.returncode == 0 and (run["score"], run["recording"], run["missing"]) == (1, recorded.name, 0), run
    kept = Recording(agents.folder / "own" / recorded.name / "run-1")
    assert [(line["speaker"], line["utterance"]) for line in kept.chat()] == [("navigator", "Done")]
    assert answers(kept) == [True, False]
    assert kept.layout.outcome.read_bytes() == dump_json(outcome_of(Recording(recorded)))  # for imports


def test_agents_run_on_a_cluster_and_are_told_by_difficulty(recorded, agents):
    outcome = json.loads((recorded / "outcome.json").read_text())
    (recorded / "outcome.json").write_text(json.dumps(outcome | {"difficulty": "easy"}))
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        words = [COMMAND, "agents", "run", "idle", recorded, "--runs", agents.folder / "far", "--scheduler"]
        done = subprocess.run([*words, cluster.scheduler_address], capture_output=True, text=True, cwd=agents.folder)
    assert done.returncode == 0, done.stderr
    rates = [line for line in done.stdout.splitlines() if line.endswith(" 0 of 1")]
    assert len(rates) >= 2 and rates[-2].startswith("easy ")


def test_runs_are_repeated_continued_and_kept_in_a_file(recorded, agents):
    results = agents.folder / "several" / "results.jsonl"
    done, runs = agents("idle", "several", recorded, "--repeat", 2)
    assert done.returncode == 0 and [(run["attempt"], run["score"], run["agent"]) for run in runs] == [
        (1, 0, "idle"), (2, 0, "idle")]
    assert [json.loads(line) for line in results.read_text().splitlines()] == runs
    assert {path.name for path in results.parent.iterdir()} == {"results.jsonl", recorded.name, f"{recorded.name}-2"}
    done, more = agents("idle", "several", recorded, "--repeat", 3)
    assert [run["attempt"] for run in more] == [3] and len(results.read_text().splitlines()) == 3
    done, none = agents("mine:orders", "several", recorded)
    assert done.returncode == 2 and "contains runs of idle" in done.stderr and not none
    results.write_text("{}\n")
    done, none = agents("idle", "several", recorded)
    assert done.returncode == 2 and "results.jsonl: line 1" in done.stderr
    results.unlink()
    done, none = agents("idle", "several", recorded)
    assert done.returncode == 2 and "already exists" in done.stderr


def test_whoever_does_not_do_it_is_scored_0(recorded, tmp_path):
    recording = Recording(recorded)

    async def attempts():
        async with Environment(recording, outcome_of(recording), tmp_path, agent="mine") as environment:
            return [await attempt(agent, environment, 60 if agent is not sleeps else 0.5)
                    for agent in (None, stops, stops, breaks, sleeps, reports, misreports)]

    found = asyncio.run(attempts())
    assert [(score, missing) for score, _, _, missing, _ in found] == [(0, 0)] * 7, found
    reasons = [reason for _, _, reason, *_ in found]
    assert [reported for *_, reported in found] == [{}] * 5 + [
        {"model": "scripted", "steps": 3, "input_tokens": 100, "output_tokens": 7, "cost": 0.5}, {}]
    assert "field price: unknown" in reasons[6]
    assert "no request was like that" in reasons[1] and "out of ideas" in reasons[3] and "longer than 0.5" in reasons[4]
    assert Recording(tmp_path / "run-2").manifest["provenance"] == {"actor": "agent", "agent": "mine"}


def test_an_agent_gets_no_file_of_the_machine(recorded, tmp_path):
    (tmp_path / "private.txt").write_text("private words")
    addresses = [form.format(tmp_path / "private.txt") for form in (
        "file://{}", "file://localhost{}", "view-source:file://{}", "FILE:{}", "file:///proc/self/root{}")]

    async def act(cdp):
        async with async_playwright() as playwright:
            browser = await playwright.chromium.connect_over_cdp(cdp)
            session = await browser.new_browser_cdp_session()
            for context in (browser.contexts[0], await browser.new_context()):
                for url in addresses:
                    page = await context.new_page()
                    with pytest.raises(PlaywrightError, match="ERR_ACCESS_DENIED"):
                        await page.goto(url)
            for url in addresses:  # a tab that is opened with an address
                await session.send("Target.createTarget", {"url": url})
            pages = [page for context in browser.contexts for page in context.pages]
            for page in pages:
                await page.wait_for_load_state()
            texts = [await page.evaluate("() => document.documentElement.innerText") for page in pages]
            assert not [text for text in texts if "private words" in text]

    async def attempts():
        async with Environment(Recording(recorded), None, tmp_path / "runs") as environment:
            await environment.reset()
            await act(environment.cdp)
            refused = environment.missing
            await environment.reset()
            return refused, environment.missing

    refused, of_next_run = asyncio.run(attempts())
    url = f"file://{tmp_path}/private.txt"
    assert refused[("GET", url)] >= 8 and not [url for _, url in of_next_run if url.startswith("file:")]


def assert_admits_programs_only(api):
    """Requests of pages, for other hosts, without the token or without JSON are refused, and end no run."""
    parts = urlsplit(api)
    json_type = {"Content-Type": "application/json"}

    def status(method, path, headers, body="{}"):
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
        with closing(connection):
            connection.request(method, path, body if method == "POST" else None, {"Host": parts.netloc} | headers)
            return connection.getresponse().status

    for path in ("/score", "/reset"):
        assert status("POST", parts.path + path, json_type | {"Origin": "https://evil.example"}) == 403
        assert status("POST", parts.path + path, json_type | {"Sec-Fetch-Site": "same-origin"}) == 403
        assert status("POST", parts.path + path, json_type | {"Host": f"rebound.example:{parts.port}"}) == 421
        assert status("POST", parts.path + path, json_type | {"Host": "127.0.0.1"}) == 421
        assert status("POST", parts.path + path, {"Content-Type": "text/plain"}) == 415
        assert status("POST", parts.path + path, {}) == 415
        assert status("POST", path, json_type) == 404
    assert status("GET", parts.path + "/goal", {"Host": "rebound.example"}) == 421
    assert status("GET", parts.path + "/goal", {"Sec-Fetch-Site": "cross-site"}) == 403
    assert status("GET", "/goal", {}) == status("GET", "/openapi.json", {}) == 404


@pytest.mark.parametrize("name, told", [
    ("mine", "MODULE:FUNCTION"), ("json:none", "has no none"), ("nowhere:x", "cannot be imported"),
    ("json:__name__", "no function")])
def test_an_agent_that_is_none_is_named(name, told):
    with pytest.raises(InputError, match=told):
        agent_named(name)


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("chosen", [False, True], ids=["free port", "chosen port"])
def test_an_environment_is_reset_and_scored_over_http(recorded, tmp_path, chosen):
    port = free_port() if chosen else 0
    serving = subprocess.Popen([COMMAND, "replay", "serve", recorded, "--cdp", str(port), "--runs", tmp_path / "runs"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=os.environ | {"PYTHONUNBUFFERED": "1"})
    try:
        cdp, websocket, api = (next(line for line in serving.stdout if line.startswith(name)).split()[1]
                               for name in ("CDP", "WebSocket", "API"))
        assert not chosen or cdp == f"http://127.0.0.1:{port}"

        def ask(path, body=None):
            request = urllib.request.Request(api + path, None if body is None else json.dumps(body).encode(),
                                             {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)

        async def act(work, address):
            async with async_playwright() as playwright:
                browser = await playwright.chromium.connect_over_cdp(address)
                page = browser.contexts[0].pages[-1]
                await page.get_by_text("Visit 1").wait_for()  # nothing is left of another run
                await work(page)

        async def stray(page):
            await page.evaluate("() => fetch('/elsewhere?x=1').then(answer => answer.text())")
            await page.evaluate("() => fetch('/further', {method: 'POST', body: 'x'}).then(answer => answer.text())")

        token = urlsplit(api).path
        goal = ask("/goal")
        assert goal["goal"] == "test" and (goal["cdp"], goal["cdp_websocket"]) == (cdp, websocket)
        assert websocket.startswith("ws://127.0.0.1:")
        assert set(ask("/openapi.json")["paths"]) == {token + path for path in ("/goal", "/reset", "/score")}
        assert_admits_programs_only(api)
        for number, address in enumerate((cdp, websocket), 1):
            asyncio.run(act(order, address))
            scored = ask("/score", {"answer": ""})
            assert scored["score"] == 1 and not scored["diverged"] and scored["missing"] == []
            assert all(check["reason"] for check in scored["checks"])
            assert ask("/reset", {})["run"] == f"run-{number + 1}"
        scored = ask("/score", {})  # nothing was done
        assert scored["score"] == 0 and not scored["diverged"]
        ask("/reset", {})
        asyncio.run(act(stray, cdp))
        scored = ask("/score", {})
        assert scored["score"] == 0 and scored["diverged"]
        site = goal["start_url"].rstrip("/")
        assert scored["missing"] == [{"method": "GET", "url": f"{site}/elsewhere?x=1", "count": 1},
                                     {"method": "POST", "url": f"{site}/further", "count": 1}]
        with pytest.raises(urllib.error.HTTPError, match="409"):
            ask("/score", {})
    finally:
        serving.send_signal(signal.SIGINT)
        _, errors = serving.communicate(timeout=60)
    assert len(Recording(tmp_path / "runs" / "run-1").events) > 3
    assert "Traceback" not in errors and "never retrieved" not in errors, errors


@pytest.mark.parametrize("option", ["--cdp", "--api"])
def test_a_port_in_use_is_named(recorded, tmp_path, option):
    with closing(socket.socket()) as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        words = {"--cdp": "0"} | {option: str(port)}
        done = subprocess.run([COMMAND, "replay", "serve", recorded, "--runs", tmp_path / "runs",
                               *(word for pair in words.items() for word in pair)],
                              capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and f"port {port} cannot be used (Address already in use)" in done.stderr, done
    assert "Traceback" not in done.stderr and not (tmp_path / "runs").exists()
