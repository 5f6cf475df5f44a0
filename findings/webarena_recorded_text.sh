#!/bin/sh
# WebArena's own record of a run loses two things and cannot be written at all from its package on PyPI.
#
# Needs python3 with venv. Fails if the behaviour changes. libwebarena 0.0.5:
# 1. `webarena.browser_env.helper_functions`, which has RenderHelper, imports `webarena.agent.prompts`, and the package
#    does not contain that module: ModuleNotFoundError.
# 2. `action2str` writes the line break that stands for Enter as a space. "type, then Enter" and "type with a space at
#    the end" have the same text; only the list of characters in the action tells them apart.
# 3. RenderHelper escapes nothing: the text of a page with a tag in it becomes a tag of its HTML file.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check libwebarena==0.0.5 playwright==1.44.0
cd "$folder"
for site in REDDIT SHOPPING SHOPPING_ADMIN GITLAB WIKIPEDIA MAP HOMEPAGE; do
  export "WA_$site=http://127.0.0.1:1"
done
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import importlib
import json
import sys
import types
from pathlib import Path

try:
    importlib.import_module("webarena.browser_env.helper_functions")
except ModuleNotFoundError as error:
    print("1.", error)
    assert error.name == "webarena.agent.prompts", error
else:
    raise SystemExit("changed: the module can be imported")

prompts = types.ModuleType("webarena.agent.prompts")
prompts.PromptConstructor = type("PromptConstructor", (), {})
sys.modules["webarena.agent"] = types.ModuleType("webarena.agent")
sys.modules["webarena.agent.prompts"] = prompts
actions = importlib.import_module("webarena.browser_env.actions")
helpers = importlib.import_module("webarena.browser_env.helper_functions")

texts = []
for typed in ("type [7] [lamp] [1]", "type [7] [lamp ] [0]"):
    action = actions.create_id_based_action(typed)
    texts.append(actions.action2str(action, "id_accessibility_tree", "a field"))
    print("2.", typed, "->", texts[-1], action["text"])
assert texts[0] == texts[1] == "type [7] [lamp ] where [7] is a field", texts

Path("config.json").write_text(json.dumps({"task_id": 1, "intent": "x"}))
helper = helpers.RenderHelper("config.json", ".", "id_accessibility_tree")
action["raw_prediction"] = "x"
page = types.SimpleNamespace(url="http://127.0.0.1/")
info = {"page": page, "observation_metadata": {"text": {"obs_nodes_info": {}}}}
helper.render(action, {"observation": {"text": "[7] button 'a <b> c'"}, "info": info}, {"action_history": ["None"]})
helper.close()
written = Path("render_1.html").read_text()
print("3.", [line for line in written.splitlines() if "button" in line])
assert "[7] button 'a <b> c'" in written and "&lt;b&gt;" not in written, written
PYTHON
