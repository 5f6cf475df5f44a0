"""An experiment of BrowserGym with an agent that follows a plan, run in a separate Python environment.

    python browsergym_session.py PLAN ADDRESS FOLDER

Prints, as JSON, its folder and the agent's account: intent, id of the element, value, begin and end of each action.
"""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import browsergym.core
import browsergym.experiments.loop as loop
from browsergym.core.action.highlevel import HighLevelActionSet
from browsergym.experiments import AbstractAgentArgs, Agent, EnvArgs, ExpArgs

_INTENTS = {"fill": "textInput", "select": "change", "check": "click"}
_PLAN: list[list[str]] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")) if len(sys.argv) > 1 else []
_ACCOUNT: list[list[Any]] = []


class _PatientActions(HighLevelActionSet):
    """Half a second, BrowserGym's limit of an action, is too little on a busy machine."""

    def to_python_code(self, action: str) -> str:
        return super().to_python_code(action).replace("timeout=500", "timeout=30_000")


class _PlannedAgent(Agent):
    action_set = _PatientActions(subsets=["bid", "chat"])

    def obs_preprocessor(self, obs: dict[str, Any]) -> dict[str, Any]:
        return dict(obs)

    def get_action(self, obs: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
        now = time.time()
        if _ACCOUNT:
            _ACCOUNT[-1].append(now)
        if len(_ACCOUNT) == len(_PLAN):
            return None, {}
        kind, name, value = _PLAN[len(_ACCOUNT)]
        bid = _bid(obs["dom_object"], name)
        _ACCOUNT.append([_INTENTS.get(kind, kind), name, "" if kind == "check" else value, now])
        call = {"fill": f"fill({bid!r}, {value!r})", "select": f"select_option({bid!r}, {value!r})",
                "press": f"press({bid!r}, {value!r})"}.get(kind, f"click({bid!r})")
        return call, {"think": f"The plan says {kind}."}


def _bid(snapshot: dict[str, Any], name: str) -> str:
    """BrowserGym's number of the element of an id."""
    strings = snapshot["strings"]
    for document in snapshot["documents"]:
        for numbers in document["nodes"]["attributes"]:
            attributes = {strings[key]: strings[value] for key, value in zip(numbers[::2], numbers[1::2], strict=True)}
            if attributes.get("id") == name:
                return str(attributes["bid"])
    raise LookupError(name)


@dataclass
class _PlannedAgentArgs(AbstractAgentArgs):
    def make_agent(self) -> Agent:
        return _PlannedAgent()


def main() -> None:
    loop.count_tokens = loop.count_messages_token = lambda *_, **__: 0  # else it loads a table from the network
    _, _, address, folder = sys.argv
    experiment = ExpArgs(
        agent_args=_PlannedAgentArgs("planned"), env_args=EnvArgs(
            task_name="openended", task_seed=1, max_steps=len(_PLAN) + 2, viewport={"width": 900, "height": 600},
            task_kwargs={"start_url": address, "goal": "Follow the plan"}))
    experiment.prepare(folder)
    experiment.run()
    print(json.dumps({"folder": str(experiment.exp_dir), "account": _ACCOUNT}))


if __name__ == "__main__":
    assert browsergym.core
    main()
