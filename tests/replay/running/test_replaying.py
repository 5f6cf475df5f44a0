"""A session with a login, changes, an API, a WebSocket and an EventSource: recorded, served again offline, run again.

The site is gone by then; the password was never kept.
"""

import asyncio
import copy
import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from curator_web import create_app
from curator_web.demonstrations.library import replay_proofs
from curator_web.demonstrations.library.library import import_recording, listed
from demotape.rerun import run_again
from pipeline import process, proofs, refresh
from pipeline.cache import derived
from pipeline.pages.targets import element_of
from pipeline.turns.edits import apply_edits
from recorder import Recording
from replay.running import running
from replay.running.proof import proof_of
from tests.replay.office import Office

COMMAND = Path(sys.executable).parent / "demotape"
PASSWORD = "Engine-1843-x"


async def act(page):
    await page.get_by_label("Name").click()
    await page.keyboard.type("ada")
    await page.get_by_label("Password").click()
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/")
    await page.get_by_text("News 3").wait_for()
    await page.get_by_label("Lamp").click()
    await page.keyboard.type("Floor lamp")
    await page.locator("select").click()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Order").click()
    await page.get_by_text("Floor lamp (m)").wait_for()
    await page.get_by_text("News 3").wait_for()
    await page.locator("#count").click()
    await page.get_by_text("Counted 1").wait_for()
    await page.locator("#count").click()
    await page.get_by_text("Counted 2").wait_for()
    await page.locator("#ask").click()
    await page.get_by_text("There are 2 orders").wait_for()
    await page.wait_for_timeout(300)
    await page.get_by_text("Sign out").click()
    await page.wait_for_url("**/login")
    await page.wait_for_timeout(200)


@pytest.fixture(scope="module")
def office():
    """What was recorded, and the site, which is closed."""
    return Office()


@pytest.fixture(scope="module")
def recorded(recording_browser, office):
    try:
        return recording_browser.record(act, url=office.origin + "/", keep={"replayable": True})
    finally:
        office.close()


@pytest.fixture(scope="module")
def demonstration(recorded):
    return refresh(recorded.recording.layout.root)[0]


def run(recording_browser, recorded, demonstration, out, *, fast=False):
    return asyncio.run(running.run(Recording(recorded.recording.layout.root), demonstration, out, fast=fast))


@pytest.fixture(scope="module")
def result(recording_browser, recorded, demonstration, tmp_path_factory):
    return run(recording_browser, recorded, demonstration, tmp_path_factory.mktemp("runs") / "run")


def test_it_is_run_again_without_the_site(result, office):
    assert reasons(result) == []
    assert result.verdict == result.last == "same" and result.missing == {}
    assert len(result.outcomes) > 10
    assert office.requests and office.counted == 2  # nobody has asked it again


def test_a_fast_run_has_the_same_verdicts_and_no_pictures(recording_browser, recorded, demonstration, result, tmp_path):
    fast = run(recording_browser, recorded, demonstration, tmp_path / "run", fast=True)
    assert [(outcome.turn, outcome.verdict) for outcome in fast.outcomes] == [
        (outcome.turn, outcome.verdict) for outcome in result.outcomes], reasons(fast)
    assert fast.missing == {} and all(outcome.shown is outcome.picture is None for outcome in fast.outcomes)
    proof = proof_of(demonstration, fast, live=False, save_blob=lambda content: pytest.fail("a picture"))
    assert proof["verdict"] == "same"


def reasons(result):
    return [(outcome.intent, outcome.reason) for outcome in result.outcomes if outcome.reason]


def test_no_secret_is_kept(recorded, office):
    recording = Recording(recorded.recording.layout.root)
    layout = recording.layout
    kept = [path.read_text() for path in (layout.network, layout.messages, layout.events, layout.manifest)]
    kept += [recording.blob(path.name).decode("latin-1") for path in layout.blobs.glob("??/*")]
    for secret in (PASSWORD, office.session, office.token):
        assert not any(secret in text for text in kept), secret
    cookies = {header["value"] for line in recording.exchanges() for header in line["headers"]
               if header["name"].lower() == "cookie"}
    assert len(cookies) == 1 and cookies.pop().startswith("sid=demotape-secret-")  # the same one everywhere


def test_how_it_ended_is_kept(recorded):
    recording = Recording(recorded.recording.layout.root)
    last = recording.manifest["last_state"]
    assert last["url"].endswith("/login") and b"Sign in" in recording.blob(last["dom"]) and last["screenshot"]


def turns_of(demonstration, intent):
    return [turn for turn in demonstration["turns"] if turn.get("intent") == intent]


def another_text(demonstration):
    turns_of(demonstration, "textInput")[-1]["arguments"]["text"] = "Ceiling lamp"


def another_target(demonstration):
    count, ask = turns_of(demonstration, "click")[-3], turns_of(demonstration, "click")[-2]
    count["element"] = ask["element"]


def without_the_last(demonstration):
    turns_of(demonstration, "click")[-1]["dropped"] = True


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("spoil", [another_text, another_target, without_the_last])
def test_a_demonstration_with_a_fault_is_not_called_the_same(recording_browser, recorded, demonstration, tmp_path,
                                                            spoil, fast):
    spoiled = copy.deepcopy(demonstration)
    spoil(spoiled)
    result = run(recording_browser, recorded, spoiled, tmp_path / "run", fast=fast)
    assert result.verdict != "same", result.outcomes


def test_an_action_added_by_hand_is_run_as_a_recorded_one(recording_browser, recorded, demonstration, tmp_path):
    heard = turns_of(demonstration, "click")[-1]
    target = element_of(Recording(recorded.recording.layout.root), heard["state"], heard["element"]["uid"])
    added = heard | {"id": "n", "events": [], "element": target}
    turns = apply_edits(demonstration["turns"], [
        {"op": "drop", "turn": heard["id"]}, {"op": "add", "turn": "n", "after": heard["id"], "added": added}])
    result = run(recording_browser, recorded, demonstration | {"turns": turns}, tmp_path / "run")
    assert result.outcomes[-1].turn == "n" and result.last == "same" and result.verdict == "equivalent"
    assert [each.reason for each in result.outcomes if each.verdict != "same"] == [f"{heard['id']}, click, is dropped"]


def test_a_proof_is_of_what_was_run(recorded, demonstration, result):
    root = recorded.recording.layout.root
    proofs.write(root, proof_of(demonstration, result, live=False,
                                save_blob=partial(derived.store_derived, recorded.recording.layout)))
    proof = proofs.read(root, demonstration)
    assert proof["verdict"] == "same"
    derived.clear(recorded.recording.layout, demonstration)  # as when it is processed again
    assert all(recorded.recording.blob(turn["shown"]) for turn in proof["turns"])
    edited = copy.deepcopy(demonstration)
    another_text(edited)
    assert proofs.read(root, edited) is None


def test_the_command_says_what_came_of_it(recorded):
    done = subprocess.run([COMMAND, "replay", "run", "--json",
                           str(recorded.recording.layout.root)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    proof, = json.loads(done.stdout)
    assert proof["verdict"] == "same" and not proof["missing"] and not proof["live"]


def test_the_review_app_runs_it_again(recorded, tmp_path):
    app = create_app(data_dir=tmp_path / "data", run_again=run_again)
    services, name = app.extensions["demotape"], recorded.recording.id
    process(recorded.recording.layout.root)
    import_recording(services.db, services.store, recorded.recording.layout.root)
    client = app.test_client()
    answer = client.post(f"/api/demonstrations/{name}/proof",
                         headers={"X-CSRFToken": client.get("/api/token").json["token"]})
    services.jobs.close()
    job = services.jobs.get(answer.json["id"])
    assert (job.state, job.result["verdicts"]) == ("done", {"same": 1}), job.note
    assert listed(services.db, name).proof == "same"
    shown = replay_proofs.stored_proof(services.db, name).content["turns"][-1]["shown"]
    assert client.get(f"/blobs/{name}/{shown}").status_code == 200
    services.db.close()


def test_a_recording_whose_network_was_not_kept_is_refused(recording_browser, site, tmp_path):
    site.pages["/"] = "<button>Press</button>"

    async def press(page):
        await page.locator("button").click()

    plain = recording_browser.record(press, url=site.origin + "/").recording.layout.root
    done = subprocess.run([COMMAND, "replay", "run", str(plain)],
                          capture_output=True, text=True)
    assert done.returncode == 2 and "--replayable" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("action, said", [
    ("[button] Sign in -> CLICK", "click: "), ("click('nothing')", "no visible element"), ("click(", "click"),
    ("[button] Sign out -> CLICK", "no visible elements")])
def test_what_an_agent_answers_is_done_or_its_fault_is_named(recorded, action, said):
    done = subprocess.run([COMMAND, "replay", "act", "--turn", "2", str(recorded.recording.layout.root), action],
                          capture_output=True, text=True)
    assert said in done.stdout + done.stderr and "Traceback" not in done.stderr
    assert (done.returncode == 0) == (action == "[button] Sign in -> CLICK")
