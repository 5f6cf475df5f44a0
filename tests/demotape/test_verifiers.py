"""Recorded tasks evaluated by verifiers with a scripted model, in an environment of their own."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.replay.agents.lamp_shop import shop_task
from tests.support.own_environment import make_environment
from tests.support.services.model_server import Answer, model_server

ROOT = Path(__file__).parents[2]
TASKSET = """
from demotape.trainers.verifiers_tasks import RecordedEnv, RecordedTaskset
__all__ = ["RecordedEnv", "RecordedTaskset"]
"""
SETTINGS = """
model = "scripted"
num_rollouts = 2
push = false
[client]
base_url = "{url}"
api_key_var = "NO_KEY"
[env.taskset]
id = "order_tasks"
recordings = ["{recording}"]
[env.agent]
harness.id = "null"
runtime.type = "subprocess"
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    return make_environment(tmp_path_factory.mktemp("verifiers"), f"{ROOT}[verifiers]")


@pytest.fixture(scope="module")
def recording(recording_browser):
    return shop_task(recording_browser).recording.layout.root


def streamed(text):
    """An answer as a stream of events."""
    choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [choice],
             "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
    return Answer(body=f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode(),
                  headers={"Content-Type": "text/event-stream"})


def ordering(body):
    shown = next(message["content"] for message in reversed(body["messages"]) if message["role"] == "user")
    if len(body["messages"]) == 1:
        assert "Task: test" in shown
        return streamed(f"fill('{uid(shown, 'textbox')}', 'Floor lamp')")
    return streamed(f"click('{uid(shown, 'button')}')")


def uid(shown, words):
    return re.search(rf"\[([\w-]+)\] {words}", shown)[1]


def idle(body):
    return streamed("send_msg_to_user('Done')")


@pytest.mark.parametrize("model, reward, steps", [(ordering, 1.0, 2.0), (idle, 0.0, 1.0)], ids=["ordering", "idle"])
def test_recorded_actions_reach_1_and_idle_0(python, recording, tmp_path, model, reward, steps):
    (tmp_path / "order_tasks.py").write_text(TASKSET)
    with model_server(choose=model) as server:
        (tmp_path / "settings.toml").write_text(SETTINGS.format(url=server.url, recording=recording))
        words = [python.parent / "vf-eval", "@", "settings.toml", "--no-rich", "--output-dir", "out"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, cwd=tmp_path, env=os.environ | {
            "PYTHONPATH": str(tmp_path), "NO_KEY": "none", "PATH": f"{python.parent}:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stdout + done.stderr
    [traces] = (tmp_path / "out").rglob("traces.jsonl")
    results = [trace for line in traces.read_text().splitlines() for trace in json.loads(line)["traces"]]
    assert len(results) == 2, done.stdout
    for result in results:
        assert result["rewards"]["outcome_checks"]["score"] == reward, result
        assert result["metrics"]["steps"] == steps and result["metrics"]["missing_requests"] == 0
