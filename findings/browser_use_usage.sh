#!/bin/sh
# browser-use 0.13.14: an agent's history has the tokens and costs of its run (`AgentHistoryList.usage`), but
# `save_to_file` and `model_dump` write only the steps, and no step has them either: whoever keeps histories as files
# loses what the run cost. `model_dump_json` writes both.
#
# Needs python3 (3.11 or newer) with venv. Fails if the behaviour changes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check browser-use==0.13.14
cd "$folder"
export ANONYMIZED_TELEMETRY=false BROWSER_USE_LOGGING_LEVEL=result HOME="$folder"
env/bin/python -W ignore - <<'PYTHON'
import json

from browser_use.agent.views import AgentHistoryList
from browser_use.tokens.views import UsageSummary

numbers = {name: 0 for name, field in UsageSummary.model_fields.items() if field.annotation in (int, float)}
usage = UsageSummary(**numbers | {"total_prompt_tokens": 900, "total_cost": 0.02}, by_model={})
history = AgentHistoryList(history=[], usage=usage)
history.save_to_file("history.json")
saved = json.load(open("history.json"))
print("save_to_file:", sorted(saved), "; model_dump:", sorted(history.model_dump()),
      "; model_dump_json:", sorted(json.loads(history.model_dump_json())))
assert history.usage.total_prompt_tokens == 900
assert "usage" not in saved and "900" not in json.dumps(saved), "changed: the file has the usage"
assert "usage" not in history.model_dump(), "changed: model_dump has the usage"
PYTHON
