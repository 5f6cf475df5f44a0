"""Reports in an agent's own log, joined to a recording of the same session."""

import json
import random
import shutil
import time

import pytest

from demotape.agent_logs import join_log
from pipeline import process
from pipeline.export import export
from pipeline.export.source import Source
from pipeline.turns.step_matching import match_steps
from recorder import Recorder, Recording
from schemas import InputError
from tests.support.services.site import Site

PAGE = """<!DOCTYPE html><title>Order</title>
<form onsubmit="event.preventDefault()"><label>Name <input id=name name=name></label>
<label>Code <input type=password id=code></label>
<label>Colour <select id=colour><option>red<option>blue</select></label>
<label><input type=checkbox id=gift> Gift</label><button type=button id=more>More</button>
<button id=send>Send</button></form>"""


def browser_use_step(thought, action, element=None, error=None):
    """A step of browser-use's history that ends now."""
    return {"model_output": {"thinking": thought, "action": [action]}, "result": [{"error": error}],
            "state": {"url": "", "title": "", "interacted_element": [element]},
            "metadata": {"step_start_time": time.time() - 0.2, "step_end_time": time.time()}}


def element(tag, **attributes):
    return {"node_name": tag, "attributes": attributes, "x_path": ""}


@pytest.fixture(scope="module")
def session(recording_browser, tmp_path_factory):
    """A recording of an agent that announces nothing, and the history that it wrote."""
    folder = tmp_path_factory.mktemp("session")
    site, history = Site(), []
    site.pages["/"] = PAGE

    async def run():
        context = await recording_browser.browser.new_context()
        page = await context.new_page()
        async with Recorder(context, folder / "rec"):
            await page.goto(site.origin + "/")
            history.append(browser_use_step("Go there", {"navigate": {"url": site.origin + "/"}}))
            await page.get_by_label("Name").click()
            await page.keyboard.type("Ann")
            history.append(browser_use_step("Type the name", {"input": {"index": 1, "text": "Ann"}},
                                            element("INPUT", id="name", name="name")))
            await page.get_by_label("Code").click()
            await page.keyboard.type("wachtel-9471")
            history.append(browser_use_step("The code is wachtel-9471, I am sure",
                                            {"input": {"index": 2, "text": "wachtel-9471"}},
                                            element("INPUT", id="code", type="password")))
            history.append(browser_use_step("More? It cannot be clicked", {"click": {"index": 9}},
                                            element("BUTTON", id="gone")))
            await page.get_by_label("Colour").select_option("blue")
            history.append(browser_use_step("Choose blue", {"select_dropdown": {"index": 3, "text": "blue"}},
                                            element("SELECT", id="colour")))
            await page.get_by_role("button", name="Send").click()
            history.append(browser_use_step("Send it", {"click": {"index": 5}}, element("BUTTON", id="send")))
        await context.close()

    recording_browser.run(run())
    site.close()
    (folder / "history.json").write_text(json.dumps({"history": history}))
    process(folder / "rec")
    return folder


@pytest.fixture
def copy(session, tmp_path):
    """The same, to be changed."""
    return shutil.copytree(session, tmp_path / "copy")


def reports(demonstration):
    """What turns did, and the reasoning at them."""
    return {(turn["intent"], (turn["element"] or {"attributes": {}})["attributes"].get("id")):
            turn["agent"].get("reasoning") for turn in demonstration["turns"]
            if turn["type"] == "browser" and "agent" in turn and "reasoning" in turn["agent"]}


def test_the_steps_of_a_log_are_at_their_turns(copy):
    joined = join_log(copy / "rec", copy / "history.json")
    assert (joined.importer, joined.steps) == ("browser-use", 6)
    assert [step.partition(":")[0] for step in joined.unmatched] == ["4"]
    demonstration = json.loads((copy / "rec" / "demonstration.json").read_text())
    at = reports(demonstration)
    assert at[("change", "colour")] == "Choose blue" and at[("click", "send")] == "Send it"
    assert at[("textInput", "name")] == "Type the name" and ("load", None) in at
    assert demonstration["unmatched_steps"] == [4]
    assert "wachtel" not in json.dumps(demonstration)
    assert "wachtel" not in (copy / "rec" / "agent_steps.jsonl").read_text()


def test_reports_are_replaced_on_demand_only(copy):
    join_log(copy / "rec", copy / "history.json")
    before = (copy / "rec" / "agent_steps.jsonl").read_bytes()
    with pytest.raises(InputError, match="--replace"):
        join_log(copy / "rec", copy / "history.json")
    join_log(copy / "rec", copy / "history.json", replace=True)
    assert (copy / "rec" / "agent_steps.jsonl").read_bytes() == before


@pytest.mark.parametrize(("content", "message"), [
    ("{}", "not recognised"), (json.dumps({"history": [{"model_output": {"action": [
        {"go_back": {}}]}, "result": [{}], "state": {}}]}), "no step has a report")])
def test_a_log_without_reports_changes_nothing(copy, content, message):
    (copy / "history.json").write_text(content)
    with pytest.raises(InputError, match=message):
        join_log(copy / "rec", copy / "history.json")
    assert not (copy / "rec" / "agent_steps.jsonl").exists()


def test_an_exported_trajectory_is_joined_to_the_same_turns(copy, tmp_path):
    """ATIF has actions and targets of every turn: all are matched, each with itself."""
    join_log(copy / "rec", copy / "history.json")
    demonstration = json.loads((copy / "rec" / "demonstration.json").read_text())
    export([Source(demonstration, Recording(copy / "rec"))], tmp_path / "atif", "atif")
    before = reports(demonstration)
    (copy / "rec" / "agent_steps.jsonl").unlink()
    joined = join_log(copy / "rec", tmp_path / "atif")
    assert joined.unmatched == []
    assert reports(json.loads((copy / "rec" / "demonstration.json").read_text())) == before


def turn(name, intent, number, **fields):
    return {"id": name, "type": "browser", "intent": intent, "timestamp": float(number), "dropped": False,
            "arguments": {}, "element": None, **fields}


def target(name):
    return {"name": name, "tag": "button", "attributes": {}, "xpath": "", "bbox": None}


@pytest.mark.parametrize("seed", range(20))
def test_gaps_on_both_sides_shift_no_report(seed):
    chance = random.Random(seed)
    session = [turn(f"t{number}", "click", 10 * number, element=target(f"Item {chance.randrange(8)}"))
               for number in range(60)]
    logged = [one | {"agent": {"step": 1}} for one in session if chance.random() < 0.8]
    recorded = [one for one in session if chance.random() < 0.8]
    both = {one["id"] for one in recorded} & {one["id"] for one in logged}
    right = 0
    for step, ids in zip(logged, match_steps(logged, recorded, 0.0), strict=True):
        for name in ids:
            assert next(one for one in recorded if one["id"] == name)["element"] == step["element"]
            right += name == step["id"]
    assert right >= 0.9 * len(both)  # with the same button pressed again and again


def test_nothing_is_matched_by_its_kind_alone():
    logged = [turn("a", "click", 0, agent={"step": 1}), turn("b", "textInput", 1, arguments={"text": "x"},
                                                            agent={"step": 2})]
    recorded = [turn("c", "click", 500, element=target("Send")), turn("d", "textInput", 501, arguments={"text": "y"})]
    assert match_steps(logged, recorded, None) == [[], []]
    assert match_steps(logged, recorded, 500.0) == [["c"], []]


def test_what_a_step_caused_belongs_to_it():
    logged = [turn("a", "click", 0, element=target("Send"), agent={"step": 1})]
    recorded = [turn("c", "click", 5, element=target("Send")), turn("d", "load", 5.6), turn("e", "hover", 9)]
    assert match_steps(logged, recorded, None) == [["c", "d"]]
