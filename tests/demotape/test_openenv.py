"""demotape env serve, used by OpenEnv's own client and validator in an environment of their own."""

import json
import socket
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.replay.agents.lamp_shop import shop_task
from tests.support.own_environment import make_environment
from tests.support.waiting import wait_until

ROOT = Path(__file__).parents[2]
CLIENT = r"""
import re, sys
from concurrent.futures import ThreadPoolExecutor
from openenv.core.generic_client import GenericEnvClient


def uid(result, words):
    return re.search(rf"\[([\w-]+)\] {words}", result.observation["axtree"])[1]


def attempt(ordered):
    with GenericEnvClient(base_url=sys.argv[1]).sync() as env:
        result = env.reset(split="train", index=0)
        assert result.observation["goal"] == "test" and "Visit 1" in result.observation["axtree"]
        actions = [lambda: f"fill('{uid(result, 'textbox')}', 'Floor lamp')",
                   lambda: f"click('{uid(result, 'button')}')"]
        for action in actions if ordered else [lambda: "noop(10)"]:
            result = env.step({"action": action()})
        return result.reward, result.done, env.state()["step_count"]


def refused(call):
    try:
        call()
    except Exception as error:
        return str(error)
    raise AssertionError("not refused")


with ThreadPoolExecutor(4) as threads:
    attempts = list(threads.map(attempt, (True, False, True, True)))
assert attempts == [(1, True, 2), (0, False, 1), (1, True, 2), (1, True, 2)], attempts
with GenericEnvClient(base_url=sys.argv[1]).sync() as env:
    assert "call reset first" in refused(lambda: env.step({"action": "noop()"}))
    assert "splits: train, all" in refused(lambda: env.reset(split="trian"))
    assert "it has 1" in refused(lambda: env.reset(index=-1)) and "task_id" in refused(lambda: env.reset(indx=0))
    env.reset(seed=7)
    assert "exactly one" in refused(lambda: env.step({"action": ""}))
    wrong = env.step({"action": "clik('a')"})
    assert "invalid at character 1" in wrong.observation["error"] and not wrong.done
    picture = env.step({"computer": {"action": "screenshot"}}).observation
    assert picture["screenshot"].startswith("iVBOR") and picture["metadata"]["share"] == 0
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    return make_environment(tmp_path_factory.mktemp("openenv"), f"{ROOT}[openenv]")


@pytest.fixture(scope="module")
def server(python, recording_browser):
    """Address of the served task, and the process."""
    recording = shop_task(recording_browser).recording.layout.root
    words = [python.parent / "demotape", "env", "serve", recording, "--port", "0", "--observe", "axtree", "--observe",
             "screenshot"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline()
        assert line.startswith("OpenEnv: http://127.0.0.1:"), (line, process.poll() and process.stderr.read())
        yield line.split()[1]
        process.send_signal(2)
        out, error = process.communicate(timeout=60)
        assert error == "stopped\n" and "Traceback" not in out


def test_the_public_client_does_the_task(python, server):
    done = subprocess.run([python, "-c", CLIENT, server], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr


def test_tasks_are_listed(server):
    def ask(path, **body):
        request = urllib.request.Request(f"{server}/demotape/{path}", json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    facts = ask("task", split="train", index=0)["task"]
    assert facts["goal"] == "test" and facts["split"] == "train" and facts["start_url"].startswith("http://127.0.0.1:")
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask("num_tasks", split="trian")
    assert refused.value.code == 400


@pytest.mark.parametrize("headers", [{"Origin": "http://other.example"}, {"Host": "other.example"}, {"Origin": "null"}])
def test_pages_of_other_origins_are_refused(server, headers):
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(f"{server}/health", headers=headers), timeout=60)
    assert refused.value.code == 403
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
               "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(f"{server}/ws", headers=headers | upgrade), timeout=60)
    assert refused.value.code == 403


def test_what_cannot_be_served_is_refused_before_anything_starts(python, tmp_path):
    words = [python.parent / "demotape", "env", "serve", tmp_path / "missing"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "missing" in done.stderr and "Traceback" not in done.stderr


def test_a_packed_folder_is_valid_and_serves_the_task(python, recording_browser, tmp_path):
    recording = shop_task(recording_browser).recording.layout.root
    folder = tmp_path / "packed"
    words = [python.parent / "demotape", "env", "pack", recording, folder, "--name", "lamp_shop", "--observe", "axtree",
             "--observe", "screenshot"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    again = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert again.returncode == 2 and "already exists" in again.stderr and (folder / "openenv.yaml").exists()
    assert not list(folder.rglob("video.*")) and "1 recorded web tasks (train 1)" in (folder / "README.md").read_text()
    validator = [python.parent / "openenv", "validate", folder, "--level", "static", "--skip-build", "--json"]
    report = json.loads(subprocess.run(validator, capture_output=True, text=True, timeout=120).stdout)
    manifest = next(result for result in report["results"] if result["check_id"] == "static.manifest")
    assert manifest["status"] == "pass", report
    port = free_port()
    server = [python.parent / "uvicorn", "server.app:app", "--port", str(port), "--log-level", "warning"]
    with subprocess.Popen(server, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        address = f"http://127.0.0.1:{port}"
        wait_until(lambda: process.poll() is None and answers(f"{address}/health"))
        client = subprocess.run([python, "-c", CLIENT, address], capture_output=True, text=True, timeout=240)
        process.send_signal(2)
        assert process.wait(60) in (0, -2, 130), process.stderr.read()
    assert client.returncode == 0, client.stderr


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except OSError:
        return False
