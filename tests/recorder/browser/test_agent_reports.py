"""What an agent reports of its steps: recorded with them, joined to their turns, shown, exported, imported."""

import asyncio
import json
import urllib.error
import urllib.request

import pyarrow.parquet
import pytest

from pipeline import process
from pipeline.export import Source, export, format_names
from pipeline.turns.agent_steps import join
from recorder import Recorder, Recording
from recorder.adapters.http import serve_actions
from schemas import InputError
from tests.pipeline.importing.test_own_exports import imported
from tests.support.services.site import Site

PAGE = """<!DOCTYPE html><title>Form</title><label>Name <input id=name></label>
<label>Secret <input id=secret type=password></label><button>Go</button><p></p>"""


def recorded(recording_browser, site, directory, user_actions) -> Recording:
    """`user_actions(recorder, page)` on the page."""
    site.pages["/"] = PAGE

    async def run():
        context = await recording_browser.browser.new_context()
        try:
            page = await context.new_page()
            async with Recorder(context, directory) as recorder:
                await page.goto(site.origin + "/")
                await page.get_by_role("button").wait_for()
                await user_actions(recorder, page)
        finally:
            await context.close()

    recording_browser.run(run())
    return Recording(directory)


def reports(directory) -> list[dict | None]:
    return [turn.get("agent") for turn in process(directory)["turns"] if turn["type"] == "browser"]


def test_reports_are_in_the_turns_of_their_steps(recording_browser, site, tmp_path):
    async def user_actions(recorder, page):
        async with recorder.action(reasoning="The name comes first", model="m-1", input_tokens=900, cost=0.02) as step:
            await page.get_by_label("Name").click()
            await page.keyboard.type("Ann")
            step["output_tokens"], step["reward"] = 12, 0.5
        with pytest.raises(ValueError):
            async with recorder.action(model="m-2"):
                await page.get_by_role("button").click()
                raise ValueError("no such element")

    recording = recorded(recording_browser, site, tmp_path / "rec", user_actions)
    load, click, text, go = reports(tmp_path / "rec")
    assert load is None and click["step"] == 1 and click["reasoning"] == "The name comes first"
    assert (click["model"], click["input_tokens"], click["output_tokens"], click["cost"], click["reward"]) == (
        "m-1", 900, 12, 0.02, 0.5)
    assert click["duration"] > 0 and text == {"step": 1}
    assert go["step"] == 2 and go["error"] == "ValueError: no such element"
    assert len(recording.agent_steps()) == 2


def turn(name: str, time: float) -> dict:
    return {"id": name, "type": "browser", "timestamp": time}


def test_turns_belong_to_the_last_step_that_began_before_them():
    steps = [{"begin": 5.0, "end": 6.0, "model": "b"}, {"begin": 1.0, "end": 1.2, "model": "a"},
             {"begin": 20.0, "end": 30.0, "model": "c"}]
    turns = [turn("before", 0.5), turn("in", 1.1), turn("late", 2.1), turn("after", 4.0), turn("second", 5.0),
             {"id": "say", "type": "chat", "timestamp": 5.5}]
    joined = join({"turns": turns}, steps)
    assert [turn.get("agent") for turn in joined["turns"]] == [
        None, {"step": 1, "model": "a", "duration": 0.2}, {"step": 1}, None,
        {"step": 2, "model": "b", "duration": 1.0}, None]
    assert joined["unmatched_steps"] == [3]
    assert "unmatched_steps" not in join({"turns": [*turns, turn("third", 29.0)]}, steps)


def test_a_report_is_without_secrets_and_not_of_a_pause(recording_browser, site, tmp_path):
    async def user_actions(recorder, page):
        await page.get_by_label("Secret").click()
        await page.keyboard.type("hunter22secret")
        async with recorder.action(reasoning="I typed hunter22secret into the field"):
            await page.get_by_role("button").click()
        recorder.pause()
        async with recorder.action(reasoning="unseen"):
            await page.get_by_role("button").click()
        recorder.resume()

    recording = recorded(recording_browser, site, tmp_path / "rec", user_actions)
    [step] = recording.agent_steps()
    assert "hunter22secret" not in json.dumps(step) and step["reasoning"].startswith("I typed ")


@pytest.mark.parametrize(("report", "field"), [({"tokens": 3}, "tokens"), ({"input_tokens": -1}, "input_tokens"),
                                               ({"cost": float("inf")}, "cost"), ({"reasoning": 7}, "reasoning")])
def test_a_report_that_is_not_valid_is_refused_by_field(recording_browser, site, tmp_path, report, field):
    async def user_actions(recorder, page):
        with pytest.raises(InputError, match=field):
            async with recorder.action(**report):
                raise AssertionError("it has begun")

    recorded(recording_browser, site, tmp_path / "rec", user_actions)


def test_a_report_over_http(recording_browser, site, tmp_path):
    def send(address: str, method: str, content: bytes) -> tuple[int, str]:
        request = urllib.request.Request(address, content, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    async def user_actions(recorder, page):
        async with serve_actions(recorder) as address:
            assert await asyncio.to_thread(send, address, "POST", b'{"reasoning": "Go on", "model": "m"}') == (204, "")
            await page.get_by_role("button").click()
            assert await asyncio.to_thread(send, address, "DELETE", b'{"output_tokens": 4}') == (204, "")
            status, reason = await asyncio.to_thread(send, address, "POST", b'{"cost": "much"}')
            assert status == 400 and "cost" in reason
            assert (await asyncio.to_thread(send, address, "POST", b"{"))[0] == 400

    recorded(recording_browser, site, tmp_path / "rec", user_actions)
    _, click = reports(tmp_path / "rec")
    assert click | {"duration": 0} == {"step": 1, "reasoning": "Go on", "model": "m", "output_tokens": 4, "duration": 0}


@pytest.fixture(scope="module")
def with_reports(recording_browser, tmp_path_factory) -> Source:
    """A demonstration whose agent reported two steps."""
    directory, site = tmp_path_factory.mktemp("reports") / "rec", Site()

    async def user_actions(recorder, page):
        async with recorder.action(reasoning="Namely Zebrafink", model="m-1", cost=0.25):
            await page.get_by_label("Name").click()
            await page.keyboard.type("Ann")
        async with recorder.action(reasoning="Go with Zebrafink", error="slow Zebrafink"):
            await page.get_by_role("button").click()

    recording = recorded(recording_browser, site, directory, user_actions)
    site.close()
    return Source(process(directory), recording)


WITH_REPORTS = ("weblinx", "webdataset", "parquet", "trajectories", "atif", "adp", "agentnet")


def has_reports(folder) -> bool:
    tables = [str(pyarrow.parquet.read_table(path).to_pydict()) for path in folder.rglob("*.parquet")]
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return any("Zebrafink" in table for table in tables) or any(b"Zebrafink" in content for content in files)


@pytest.mark.parametrize("format", format_names())
def test_exports_omit_reports_on_demand(with_reports, tmp_path, format):
    export([with_reports], tmp_path / "whole", format)
    export([with_reports], tmp_path / "without", format, without_reports=True)
    assert not has_reports(tmp_path / "without")
    assert has_reports(tmp_path / "whole") == (format in WITH_REPORTS)


@pytest.mark.parametrize("format", ["webdataset", "parquet", "trajectories", "atif", "adp"])
def test_reports_come_back_from_an_export(with_reports, tmp_path, format):
    export([with_reports], tmp_path / "export", format)
    source, = imported(tmp_path / "export", tmp_path / "imported").values()
    wanted = [turn["agent"] for turn in with_reports.turns if "reasoning" in turn.get("agent", {})]
    reported = [turn["agent"] for turn in source.turns if "reasoning" in turn.get("agent", {})]
    assert [(report["reasoning"], report.get("model"), report.get("cost")) for report in reported] == [
        (report["reasoning"], report.get("model"), report.get("cost")) for report in wanted]
    assert len(wanted) == 2
