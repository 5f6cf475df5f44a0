"""demotape env mcp, used by the protocol's own client."""

import asyncio
import json
import os
import re
import sys
from pathlib import Path

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.replay.agents.lamp_shop import shop_task
from tests.support.checkout import ROOT
from tests.support.processes import parse_trap


@pytest.fixture(scope="module")
def recording(recording_browser) -> Path:
    return shop_task(recording_browser).recording.layout.root


def use(recording, work, *options):
    async def inside():
        parameters = StdioServerParameters(
            command=sys.executable, args=[parse_trap.__file__, "env", "mcp", str(recording), *map(str, options)],
            env=os.environ | {"TRAP": str(trap), "PYTHONPATH": str(ROOT)})
        async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
            await session.initialize()

            async def call(name, **arguments):
                result = await session.call_tool(name, arguments)
                return result.content

            return await work(session, call)

    trap = recording.parent / "trap"
    result = asyncio.run(inside())
    assert not trap.exists(), trap.read_text()  # no page was parsed in the server's own process
    return result


def uid_of(content, words):
    return re.search(rf"\[([\w-]+)\] {words}", content[0].text)[1]


def test_an_agent_does_the_task_and_does_not_see_its_score(recording, tmp_path):
    async def work(session, call):
        assert {tool.name for tool in (await session.list_tools()).tools} == {
            "task_description", "observe_page", "act", "computer", "finish"}
        described = await call("task_description")
        assert described[0].text.startswith("test\nStart page: http://127.0.0.1:")
        page = await call("observe_page")
        assert "Visit 1" in page[0].text and page[1].type == "image"
        page = await call("act", action=f"fill('{uid_of(page, 'textbox')}', 'Floor lamp')")
        wrong = await call("act", action="clik('1')")
        assert wrong[0].text.startswith("Error: the action is invalid at character 1")
        assert json.loads((tmp_path / "score.json").read_text())["score"] == 0
        page = await call("act", action=f"click('{uid_of(page, 'button')}')")
        assert "You ordered a Floor lamp" in page[0].text and "score" not in page[0].text
        assert "ended" in (await call("finish"))[0].text
        assert "ended" in (await call("act", action="go_back()"))[0].text

    use(recording, work, "--observe", "axtree", "--observe", "screenshot", "--results", tmp_path / "score.json")
    result = json.loads((tmp_path / "score.json").read_text())
    assert result == {"task": recording.name, "score": 1.0, "share": 1.0, "steps": 3, "ended": True, "missing": 0}


def test_an_attempt_that_is_left_has_a_score(recording, tmp_path):
    async def work(session, call):
        await call("computer", call={"action": "screenshot"})

    use(recording, work, "--results", tmp_path / "score.json")
    assert json.loads((tmp_path / "score.json").read_text())["score"] == 0
