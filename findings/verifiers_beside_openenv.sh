#!/bin/sh
# verifiers 0.4.0 and openenv 0.10.0 cannot be installed together: the one requires mcp 2.0.0, the other fastmcp 3 with
# mcp below 2. Asked for verifiers beside openenv 0.10.0 without a version, installers take verifiers 0.3.1, whose
# commands and interface are others (no `verifiers.v1`), and do not say so.
#
# Needs python3 with venv. Fails if the behaviour changes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv tools
tools/bin/pip install --quiet --disable-pip-version-check uv
tools/bin/uv venv --quiet --python python3 env
if tools/bin/uv pip install --quiet --dry-run --python env/bin/python verifiers==0.4.0 openenv==0.10.0 2>log; then
  echo "installable"; exit 1
fi
tr '\n' ' ' <log | grep -o 'verifiers==0.4.0 depends on[ ]*mcp==2.0.0' | head -1
tools/bin/uv pip install --dry-run --python env/bin/python 'verifiers<=0.4.0' openenv==0.10.0 2>&1 | grep -o 'verifiers==.*' >seen
cat seen
[ "$(cat seen)" = "verifiers==0.3.1" ]
