"""Recorded tasks evaluated by Inspect with a scripted model, in an environment of their own."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.replay.agents.lamp_shop import shop_task
from tests.support.own_environment import make_environment

ROOT = Path(__file__).parents[2]
EVALUATION = r"""
import json, re, sys
from inspect_ai import Task, eval, task
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from demotape.trainers.inspect_task import recorded_tasks

recording, logs = sys.argv[1:]


@task
def shop() -> Task:
    return recorded_tasks([recording])


def call(name, **arguments):
    output = ModelOutput.for_tool_call("mockllm/model", name, arguments)
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def uid(messages, words):
    shown = next(message.text for message in reversed(messages) if message.role == "tool")
    return re.search(rf"\[([\w-]+)\] {words}", shown)[1]


def ordering(messages, tools, choice, config):
    steps = sum(message.role == "tool" for message in messages)
    if steps == 0:
        return call("observe_page")
    if steps == 1:
        return call("act", action=f"fill('{uid(messages, 'textbox')}', 'Floor lamp')")
    if steps == 2:
        return call("act", action=f"click('{uid(messages, 'button')}')")
    return call("act", action="noop(1)") if steps == 3 else call("submit", answer="It is ordered.")


def idle(messages, tools, choice, config):
    return call("submit", answer="Done")


results = []
for outputs in (ordering, idle):
    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    [log] = eval(shop(), model=model, log_dir=logs, display="none", epochs=2)
    assert log.status == "success", log.error
    for sample in log.samples:
        [score] = sample.scores.values()
        images = [part for message in sample.messages if isinstance(message.content, list)
                  for part in message.content if part.type == "image"]
        errors = [message.error.message for message in sample.messages if message.role == "tool" and message.error]
        results.append([score.value, score.metadata["steps"], score.metadata["missing"], len(images), errors,
                        score.explanation, sample.input])
print(json.dumps(results))
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    return make_environment(tmp_path_factory.mktemp("inspect"), f"{ROOT}[inspect]")


@pytest.fixture(scope="module")
def recording(recording_browser):
    return shop_task(recording_browser).recording.layout.root


def test_recorded_actions_reach_1_and_idle_0(python, recording, tmp_path):
    done = subprocess.run([python, "-c", EVALUATION, recording, tmp_path], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr and "never retrieved" not in done.stderr, done.stderr
    ordered, again, *idle = json.loads(done.stdout)
    assert ordered == again and ordered[:5] == [1, 2, 0, 3, ["the attempt has ended; submit"]] and ordered[6] == "test"
    assert "Floor lamp" in ordered[5]
    assert [attempt[:4] for attempt in idle] == [[0, 1, 0, 0], [0, 1, 0, 0]]


def test_the_command_of_inspect_finds_the_tasks(python, recording, tmp_path):
    words = [python.parent / "inspect", "eval", "demotape/recorded_tasks", "-T", f"recordings={recording}", "--model",
             "mockllm/model", "--message-limit", "4", "--log-dir", tmp_path / "logs", "--display", "plain"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "hooks enabled" not in done.stdout and list((tmp_path / "logs").glob("*.eval"))
    wrong = subprocess.run([*words[:4], f"recordings={tmp_path}", *words[5:]], capture_output=True, text=True,
                           timeout=120, cwd=tmp_path)
    assert wrong.returncode and "recording.json is missing" in wrong.stderr.splitlines()[-1]
