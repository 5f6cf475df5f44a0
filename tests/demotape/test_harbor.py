"""Task folders of Harbor: held against its models, and solved by the recorded actions over MCP."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from pipeline import process
from tests.replay.agents.lamp_shop import shop_task
from tests.support.checkout import ROOT
from tests.support.own_environment import find_python, make_environment

HARBOR = """
import sys
from pathlib import Path
from harbor.models.task.task import Task

folder = Path(sys.argv[1])
assert Task.is_valid_dir(folder)
task = Task(folder)
assert task.instruction.startswith("test\\n") and task.config.agent.user == "agent", task.instruction
[server] = task.config.environment.mcp_servers
assert (server.name, server.transport) == ("browser", "streamable-http")
assert task.paths.discovered_test_path and task.paths.discovered_solve_path
print(task.name)
"""


def demotape(*words):
    return [sys.executable, "-m", "demotape", *map(str, words)]


@pytest.fixture(scope="module")
def folder(recording_browser, tmp_path_factory):
    """The packed folder of one task."""
    recording = shop_task(recording_browser).recording.layout.root
    process(recording)
    out = tmp_path_factory.mktemp("harbor") / "packed"
    words = demotape("env", "pack", recording, out, "--format", "harbor", "--name", "shop", "--observe", "axtree")
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    [folder] = out.iterdir()
    return folder


@contextmanager
def served(folder, results):
    """The browser's server as its container starts it; its address."""
    words = demotape("env", "mcp", folder / "environment" / "browser" / "recording", "--port", 0, "--results", results)
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as server:
        line = server.stdout.readline()
        assert line.startswith("MCP: http://127.0.0.1:"), (line, server.poll() and server.stderr.read())
        try:
            yield line.split()[1]
            server.send_signal(2)
            assert server.communicate(timeout=60)[1] == "stopped\n"
        finally:
            server.kill()


def reward(folder, tmp_path):
    reward = tmp_path / "logs" / "reward.txt"
    environment = os.environ | {"RESULTS": str(tmp_path / "score.json"), "REWARD": str(reward)}
    subprocess.run([folder / "tests" / "test.sh"], check=True, timeout=60, env=environment)
    return float(reward.read_text())


def test_recorded_actions_reach_1_and_idle_0(folder, tmp_path):
    assert reward(folder, tmp_path) == 0
    with served(folder, tmp_path / "score.json") as address:
        asyncio.run(look(address))
        assert reward(folder, tmp_path) == 0
        done = subprocess.run([folder / "solution" / "solve.sh"], capture_output=True, text=True, timeout=120,
                              env=os.environ | {"BROWSER_URL": address})
        assert done.returncode == 0, done.stderr
    assert reward(folder, tmp_path) == 1
    assert (tmp_path / "score.json").stat().st_mode & 0o77 == 0  # the agent's user cannot read it


async def look(address):
    async with streamable_http_client(address) as streams, ClientSession(*streams[:2]) as session:
        await session.initialize()
        assert {tool.name for tool in (await session.list_tools()).tools} >= {"observe_page", "act", "finish"}
        assert "Visit 1" in (await session.call_tool("observe_page", {})).content[0].text


@pytest.mark.parametrize("headers", [{"Origin": "http://other.example"}, {"Host": "other.example"}])
def test_pages_of_other_origins_are_refused(folder, tmp_path, headers):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    with served(folder, tmp_path / "score.json") as address:
        with urllib.request.urlopen(urllib.request.Request(address, body, usual), timeout=60) as answer:
            assert json.load(answer)["result"]["tools"]
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(urllib.request.Request(address, body, usual | headers), timeout=60)
        assert refused.value.code == 403


def test_harbor_reads_the_task(folder, tmp_path):
    python = make_environment(tmp_path / "harbor", "harbor", python=find_python("3.12"))
    done = subprocess.run([python, "-c", HARBOR, folder], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"shop/{folder.name}"


def test_the_folder_has_what_its_containers_copy(folder):
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
                  and "recording" not in path.relative_to(folder).parts) == [
        "environment/Dockerfile", "environment/browser/Dockerfile", "environment/docker-compose.yaml",
        "instruction.md", "solution/actions.json", "solution/solve.py", "solution/solve.sh", "task.toml",
        "tests/test.sh"]
    assert (folder / "environment" / "browser" / "recording" / "outcome.json").is_file()
    assert not (folder / "environment" / "browser" / "recording" / "demonstration.json").exists()
    assert tomllib.loads((folder / "task.toml").read_text())["metadata"]["split"] == "train"
    actions = json.loads((folder / "solution" / "actions.json").read_text())
    assert [action.partition("(")[0] for action in actions] == ["goto", "click", "fill", "click"]


@pytest.mark.parametrize("goal", ['Say "hi" \\ and\nleave\x7f', "Kaffee für zwei ☕"])
def test_texts_of_the_task_stay_what_they_are(folder, tmp_path, goal):
    recording = tmp_path / "rec"
    shutil.copytree(folder / "environment" / "browser" / "recording", recording)
    manifest = json.loads((recording / "recording.json").read_text())
    (recording / "recording.json").write_text(json.dumps(manifest | {"task": goal}))
    words = demotape("env", "pack", recording, tmp_path / "out", "--format", "harbor", "--name", "shop")
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    [packed] = (tmp_path / "out").iterdir()
    assert tomllib.loads((packed / "task.toml").read_text())["task"]["description"] == goal
    assert (packed / "instruction.md").read_text().startswith(goal) and not (packed / "solution").exists()
