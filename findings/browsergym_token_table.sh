#!/bin/sh
# browsergym-experiments 0.14.3: after each action of an agent the experiment loop counts the tokens of the observation
# (`StepInfo.make_stats`), with a table that tiktoken loads from the network. Where that cannot be reached, the first
# action of every experiment raises, and the run ends with `err_msg` and no second step, even if the agent uses no
# model. The package also imports tqdm, which it does not require, so that tqdm is installed beside it here.
#
# Needs python3 with venv. The network is taken away by a proxy that is not there. Fails if the behaviour changes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check browsergym-experiments==0.14.3 tqdm==4.67.1
cd "$folder"
export HTTPS_PROXY=http://127.0.0.1:9 TIKTOKEN_CACHE_DIR="$folder/none"
env/bin/python -W ignore - <<'PYTHON'
from browsergym.experiments.loop import StepInfo

step = StepInfo(step=0, obs={"goal": "Order a lamp"}, action="noop()")
try:
    step.make_stats()
except Exception as error:
    print(type(error).__name__, "at", str(error)[:90])
    assert "openaipublic.blob.core.windows.net" in str(error), error
else:
    raise SystemExit("changed: tokens are counted without the network")
PYTHON
