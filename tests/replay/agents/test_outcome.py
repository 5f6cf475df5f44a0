"""Whether the task of a recorded session was done: proposed checks, a task of VisualWebArena, expressions in pages."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.outcomes.checking import check
from pipeline.outcomes.evidence import of_recording
from pipeline.outcomes.expressions import Expressions
from recorder import Recording
from tests.support.services.site import Site

COMMAND = Path(sys.executable).parent / "demotape"
SHOP = """<!DOCTYPE html><title>Shop</title><h1>Shop</h1><img class=lamp src=/lamp.svg width=40 height=40>
<form method=post action=/orders><label>Lamp <input name=lamp></label><button>Order</button></form>"""
DONE = """<!DOCTYPE html><title>Thanks</title><h1>Thanks</h1><p id=told>You ordered a Floor lamp</p>
<script>document.title = "Done by script"; setInterval(() => told.dataset.ticks = Math.random(), 50)</script>"""


async def order(page):
    await page.get_by_label("Lamp").click()
    await page.keyboard.type("Floor lamp")
    await page.get_by_role("button", name="Order").click()
    await page.get_by_text("You ordered").wait_for()


@pytest.fixture(scope="module")
def recorded_site():
    site = Site({"/": SHOP, "/orders": DONE})
    yield site
    site.close()


@pytest.fixture(scope="module")
def recorded(recording_browser, recorded_site):
    return recording_browser.record(order, url=recorded_site.origin + "/", keep={"replayable": True}
                                    ).recording.layout.root


def run(*words):
    return subprocess.run([COMMAND, "outcome", *map(str, words)], capture_output=True, text=True)


def test_checks_are_proposed_and_hold_of_the_person_only(recorded):
    done = run(recorded, "--propose", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["score"] == 1.0 and {each["check"]["kind"] for each in told["checks"]} == {"request", "url", "text"}
    assert "already" in run(recorded, "--propose").stderr
    evidence = of_recording(Recording(recorded))
    assert not any(check(each["check"], evidence.at_start()).holds for each in told["checks"])
    again = run(recorded)
    assert again.returncode == 0 and again.stdout.rstrip().endswith("done")


def test_a_task_of_visual_web_arena(recorded, tmp_path, recorded_site):
    programs = [{"url": "last", "locator": "document.querySelector('#told').innerText", "required_contents": {
                    "must_include": ["floor lamp"]}},
                {"url": "last", "locator": "[...document.querySelectorAll('h1')].length", "required_contents": {
                    "required_values": ["== 1"]}}]
    task = {"task_id": 7, "intent": "Order a lamp", "start_url": "__SHOP__", "eval": {
        "eval_types": ["string_match", "program_html", "url_match"], "reference_answers": {"must_include": ["yes"]},
        "reference_url": "__SHOP__/orders", "program_html": programs}}
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps([task, {"task_id": 8}]))
    site = f"__SHOP__={recorded_site.origin}"
    done = run(recorded, "--task", file, "--task-id", 7, "--site", site, "--answer", "Yes.", "--write-task",
               tmp_path / "written.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert run(recorded, "--task", tmp_path / "written.json", "--answer", "Yes.").returncode == 0
    wrong = run(recorded, "--task", file, "--task-id", 7, "--site", site, "--answer", "No.")
    assert wrong.returncode == 1 and "“yes” is not in “No.”" in wrong.stdout
    assert "--task-id" in run(recorded, "--task", file).stderr
    task["eval"] = {"eval_types": ["program_html"], "program_html": programs[1:]}  # true of the first page, too
    file.write_text(json.dumps(task))
    assert "before any action" in run(recorded, "--task", file).stdout


@pytest.mark.parametrize("expression, before, value", [
    ("document.querySelector('h1').innerText", [], "Thanks"), ("document.querySelector('.none').innerText", [], ""),
    ("location.pathname", [], "/orders"), ("fetch('/').then(() => 'out', () => 'in')", [], "in"),
    ("document.title", ["document.title = 'before'"], "before"), ("1 +", [], ""), ("null", [], "")])
def test_expressions_see_the_page_and_nothing_else(recorded, expressions, expression, before, value):
    assert expressions(of_recording(Recording(recorded)).pages[-1], expression, before) == value


@pytest.fixture(scope="module")
def expressions(recorded):
    with Expressions(Recording(recorded)) as expressions:
        yield expressions


def test_no_checks_and_wrong_ones_are_told(recorded, tmp_path):
    assert "no outcome checks" in run(recorded, "--checks", tmp_path / "none.json").stderr
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps({"format": "demotape/outcome", "version": 1, "checks": [{"kind": "url"}]}))
    assert "checks.0.match" in run(recorded, "--checks", wrong).stderr
    early = {"kind": "text", "match": {"excludes": ["nothing like it"]}}
    wrong.write_text(json.dumps({"format": "demotape/outcome", "version": 1, "checks": [early]}))
    refused = run(recorded, "--checks", wrong)
    assert refused.returncode == 1 and "before any action" in refused.stdout
