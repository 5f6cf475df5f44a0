"""A trajectory of WebArena's environment that follows a plan, run in a separate Python environment.

    python webarena_session.py PLAN ADDRESS FOLDER

Elements are found by role and name in WebArena's own text of the page. Prints, as JSON, the account: intent, name of
the element, value of each action. Its package for PyPI lacks the prompts that it imports, so the program replaces them.
"""

import importlib
import json
import os
import re
import sys
import types
from pathlib import Path
from typing import Any

_SITES = "REDDIT SHOPPING SHOPPING_ADMIN GITLAB WIKIPEDIA MAP HOMEPAGE"
_NAMES = {"f1": "textbox 'Search'", "f2": "textbox 'Note'", "c2": "checkbox 'News'", "b1": "button 'Go'",
          "b2": "button 'Save'"}
_KINDS = ("fill", "check", "click", "press")


def main() -> None:
    plan, address, folder = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), sys.argv[2], Path(sys.argv[3])
    os.environ.update({f"WA_{site}": address for site in _SITES.split()})
    _replace_prompts()
    actions, envs, helpers = (importlib.import_module(f"webarena.browser_env.{name}") for name in (
        "actions", "envs", "helper_functions"))
    folder.mkdir(parents=True)
    config = folder / "config.json"
    config.write_text(json.dumps({"task_id": 0, "start_url": address, "storage_state": None, "geolocation": None,
                                  "intent": "Follow the plan"}))
    env = envs.ScriptBrowserEnv(observation_type="accessibility_tree", current_viewport_only=True,
                                viewport_size={"width": 900, "height": 600})
    helper = helpers.RenderHelper(str(config), str(folder), "id_accessibility_tree")
    observed, info = env.reset(options={"config_file": str(config)})
    account, history = [], ["None"]
    for kind, name, value in plan:
        if kind not in _KINDS or name not in _NAMES:
            continue
        number = _number(observed["text"], _NAMES[name])
        text = {"fill": f"type [{number}] [{value}] [0]", "press": f"press [{value}]"}.get(kind, f"click [{number}]")
        try:
            action = actions.create_id_based_action(text)
        except KeyError:  # a sign that is not in WebArena's table
            continue
        action["raw_prediction"] = text
        helper.render(action, {"observation": observed, "info": info}, {"action_history": history}, True)
        history.append(helpers.get_action_description(
            action, info["observation_metadata"], "id_accessibility_tree", None))
        observed, _, _, _, info = env.step(action)
        intent = {"fill": "textInput", "check": "click"}.get(kind, kind)
        label = "" if kind == "press" else _NAMES[name].split("'")[1]
        account.append([intent, label, value if kind in ("fill", "press") else ""])
    helper.close()
    env.close()
    print(json.dumps(account))


def _number(page: str, described: str) -> str:
    match = re.search(rf"\[(\d+)\] {re.escape(described)}", page)
    assert match, (described, page)
    return match[1]


def _replace_prompts() -> None:
    prompts: Any = types.ModuleType("webarena.agent.prompts")
    prompts.PromptConstructor = type("PromptConstructor", (), {})
    agent: Any = types.ModuleType("webarena.agent")
    agent.prompts = prompts
    sys.modules |= {"webarena.agent": agent, "webarena.agent.prompts": prompts}


if __name__ == "__main__":
    main()
