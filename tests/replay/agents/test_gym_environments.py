"""examples/environments: a recorded task in gymnasium and BrowserGym, in an environment of their own."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from benchmarks.browsergym import browsers_for, served
from recorder import Recording
from tests.pipeline.importing.test_own_exports import imported
from tests.support.own_environment import make_environment
from tests.support.services.site import Site

EXAMPLES = Path(__file__).parents[3] / "examples" / "environments"
SHOP = """<!DOCTYPE html><title>Shop</title><p id=visits></p><form method=post action=/orders>
<input name=lamp aria-label=Lamp style="position:absolute; left:20px; top:100px; width:200px; height:30px">
<button style="position:absolute; left:20px; top:200px; width:200px; height:30px">Order</button></form>
<script>localStorage.visits = 1 + +(localStorage.visits || 0);
visits.textContent = "Visit " + localStorage.visits</script>"""
DONE = "<!DOCTYPE html><title>Thanks</title><p id=told>You ordered a Floor lamp</p>"
CHECKS = [{"kind": "text", "css": "#told", "match": {"includes": [["Floor lamp"]]}},
          {"kind": "answer", "match": {"includes": [["ordered"]]}}]
BROWSERGYM = """
from browsergym.core.action.highlevel import HighLevelActionSet
import gymnasium
from demotape_environments.browsergym import register
written = HighLevelActionSet().to_python_code

def patient(action):  # an action may take half a second: on a busy machine that is too little
    assert "timeout=500" in written(action) or "send_msg" in action
    return written(action).replace("timeout=500", "timeout=60_000")

def step(action):
    shown, reward, ended, *_ = env.step(action)
    assert not shown["last_action_error"], shown["last_action_error"]
    return reward, ended

(name,) = register({"order": address})
assert name == "browsergym/demotape.order"
env = gymnasium.make(name, pre_observation_delay=0.1, action_mapping=patient)
for ordered in (True, False):
    shown, info = env.reset(seed=1)
    page = env.unwrapped.page
    assert page.locator("#visits").inner_text() == "Visit 1" and shown["goal"] == "test", shown["goal"]
    if ordered:
        page.locator("input").click()
        rewards = [step(f"fill('{page.locator('input').get_attribute('bid')}', 'Floor lamp')")]
        rewards += [step(f"click('{page.locator('button').get_attribute('bid')}')")]
    rewards += [step("send_msg_to_user('It is ordered.')")]
env.close()
"""
GYMNASIUM = """
import gymnasium
from demotape_environments.gym import KINDS, RecordedTaskEnv
env = RecordedTaskEnv(address)
shown, info = env.reset(seed=1)
assert env.observation_space.contains(shown) and shown["goal"] == "test", shown["url"]
rewards = []
for kind, x, y, text in (("click", 120, 115, ""), ("type", 0, 0, "Floor lamp"), ("press", 0, 0, "no key"),
                         ("click", 120, 215, ""), ("answer", 0, 0, "It is ordered.")):
    action = {"kind": KINDS.index(kind), "x": np.float32(x), "y": np.float32(y), "text": text}
    assert env.action_space.contains(action), action
    shown, reward, ended, _, info = env.step(action)
    rewards.append((reward, ended))
    assert bool(info["error"]) == (text == "no key"), info
assert env.render().shape == (720, 1280, 3)
env.close()
"""


@pytest.fixture(scope="module")
def recorded(recording_browser):
    site = Site({"/": SHOP, "/orders": DONE})

    async def order(page):
        await page.mouse.click(120, 115)
        await page.keyboard.type("Floor lamp")
        await page.mouse.click(120, 215)
        await page.locator("#told").wait_for()

    session = recording_browser.record(order, url=site.origin + "/", keep={"replayable": True})
    site.close()
    root = session.recording.layout.root
    (root / "outcome.json").write_text(json.dumps({"format": "demotape/outcome", "version": 1, "checks": CHECKS}))
    return root


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    return make_environment(tmp_path_factory.mktemp("environment"), f"{EXAMPLES}[browsergym]")


@pytest.mark.parametrize("program, wanted", [
    (BROWSERGYM, [(0, False), (0, False), (1, True), (0, True)]),
    (GYMNASIUM, [(0, False)] * 4 + [(1, True)])], ids=["browsergym", "gymnasium"])
def test_the_recorded_task_is_done_and_rewarded(recorded, python, tmp_path, program, wanted):
    surroundings = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8",
                    "PLAYWRIGHT_BROWSERS_PATH": str(browsers_for(python, tmp_path / "browsers"))}
    with served(recorded, tmp_path / "runs") as address:
        done = subprocess.run([python, "-c", f"import numpy as np\naddress = {address!r}\nrewards = []\n{program}\n"
                               "print([(float(reward), bool(ended)) for reward, ended in rewards])"],
                              env=surroundings, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str([(float(reward), ended) for reward, ended in wanted]), done.stdout
    assert Recording(tmp_path / "runs" / "run-1").manifest["provenance"]["actor"] == "agent"


EXPERIMENT = """
from dataclasses import dataclass
import browsergym.experiments.loop as loop
from browsergym.experiments import AbstractAgentArgs, Agent, ExpArgs
from demotape_environments.agentlab import benchmark
loop.count_tokens = loop.count_messages_token = lambda *_, **__: 0  # else it loads a table from the network
tasks = benchmark({"order": address})

class Ordering(Agent):
    action_set = tasks.high_level_action_set_args.make_action_set()

    def obs_preprocessor(self, obs):
        return dict(obs)

    def get_action(self, obs):
        strings, page = obs["dom_object"]["strings"], obs["dom_object"]["documents"][0]["nodes"]
        bids = {}
        for name, numbers in zip(page["nodeName"], page["attributes"]):
            values = dict(zip([strings[n] for n in numbers[::2]], [strings[n] for n in numbers[1::2]]))
            bids[strings[name]] = values.get("bid")
        typed = "Floor lamp" in strings
        if "P" in bids and "BUTTON" not in bids:
            return "send_msg_to_user('It is ordered.')", {"think": "done"}
        action = f"click('{bids['BUTTON']}')" if typed else f"fill('{bids['INPUT']}', 'Floor lamp')"
        return action, {"think": "The lamp first"}

@dataclass
class Args(AbstractAgentArgs):
    def make_agent(self):
        return Ordering()

assert list(tasks.task_metadata["task_name"]) == ["demotape.order"]
experiment = ExpArgs(agent_args=Args("ordering"), env_args=tasks.env_args_list[0])
experiment.prepare(folder)
experiment.run()
"""


@pytest.fixture(scope="module")
def experiments(tmp_path_factory):
    return make_environment(tmp_path_factory.mktemp("experiments"), f"{EXAMPLES}[agentlab]")


def test_a_benchmark_of_recorded_tasks_is_run_and_its_results_come_back(recorded, experiments, tmp_path):
    surroundings = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8",
                    "PLAYWRIGHT_BROWSERS_PATH": str(browsers_for(experiments, tmp_path / "browsers"))}
    with served(recorded, tmp_path / "runs") as address:
        done = subprocess.run([experiments, "-c", f"address, folder = {address!r}, {str(tmp_path / 'study')!r}\n"
                               f"{EXPERIMENT}"], env=surroundings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    summary, = (tmp_path / "study").glob("*/summary_info.json")
    assert json.loads(summary.read_text())["cum_reward"] == 1, done.stderr[-3000:]
    source, = imported(tmp_path / "study", tmp_path / "imported").values()
    assert [turn.get("intent", "say") for turn in source.turns][-3:] == ["textInput", "click", "say"]
    assert source.turns[-3]["agent"]["reasoning"] == "The lamp first"
