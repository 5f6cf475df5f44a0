"""Writes recorded tasks as task folders of Harbor: instruction, containers, test, and the recorded actions as solution.

The archive is in a container of its own, which serves the browser's tools over MCP and keeps the score in a volume that
the agent's user cannot read.
"""

import json
import re
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.export.grammars import browsergym
from pipeline.export.grammars.acts import NoForm, Session
from pipeline.export.source import Source
from pipeline.privacy.redacting import Redactor
from replay.agents.tasks import ALL, RecordedTask, TaskSet
from schemas import DemonstrationSchema, InputError
from schemas.files import dump_json, read_json

from .environment_folder import copy_recording, demotape_version

_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{0,39}")
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9._-]+")
_BROWSER_MIB = 1536
_ATTEMPT_TIMEOUT_S = 1800
_AGENT_UID, _BROWSER_UID = 1000, 1001
_SCORES = {"success": "score", "checks": "share"}


def pack(tasks: TaskSet, out: Path, name: str, settings: dict[str, Any], on_task: Callable[[str], None]) -> None:
    """Write the folder `out`, which must not exist, with a folder for each task. `name`: the organisation in the tasks'
    names; `settings`: `observe`, `max_steps` and `rewards` as of `demotape env serve`; `on_task` is called with each
    task's id. Raises InputError for a folder that exists, and for a name that Harbor refuses."""
    if out.exists():
        raise InputError(f"{out}: already exists; choose another folder")
    if not _NAME.fullmatch(name):
        raise InputError(f"name {name[:40]!r}: must be a letter or digit, then up to 39 letters, digits, '.', '_' and "
                         "'-'")
    for task in tasks.tasks(ALL):
        folder = out / task.id
        copy_recording(task, folder / "environment" / "browser" / "recording")
        for path, text in {**_files(task, name, settings), **_solution(task)}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(textwrap.dedent(text).lstrip(), encoding="utf-8", errors="replace")
            if path.endswith(".sh"):
                (folder / path).chmod(0o755)
        on_task(task.id)


def recorded_actions(task: RecordedTask) -> list[str]:
    """What the person did and said, in BrowserGym's notation with the recorded uids; actions without a form in it are
    left out. Empty for a recording that was not processed."""
    path = task.recording.layout.demonstration
    if not path.exists():
        return []
    source = Source(read_json(path, DemonstrationSchema()), task.recording)
    session = Session(source.turns, task.recording, Redactor({}))
    actions = []
    for index, turn in enumerate(source.turns):
        element = turn["element"] if turn["type"] == "browser" else None
        act = replace(session.act(index, None, None), uid=element["uid"] if element else None)
        if turn["type"] == "browser" or turn["speaker"] == "navigator":
            try:
                actions.append(browsergym.write(act))
            except NoForm:
                continue
    return actions


def _files(task: RecordedTask, organisation: str, settings: dict[str, Any]) -> dict[str, str]:
    """Paths and contents of what is not the recording."""
    name = _NOT_IN_NAMES.sub("-", task.id).lstrip("._-") or "task"
    observed = " ".join(f"--observe {kind}" for kind in settings["observe"])
    said = "".join(f"\n\ninstructor: {line['utterance']}" for line in task.said)
    return {
        "instruction.md": f"{task.goal}{said}\n\nThe web browser is available as the tools of the MCP server "
                          "`browser`: `observe_page` shows the page, `act` and `computer` perform an action. Call "
                          "`finish` when the task is done, with the answer if the task asks for one.\n",
        "task.toml": f"""
            schema_version = "1.4"

            [task]
            name = {_toml(f"{organisation}/{name}")}
            description = {_toml(task.goal)}
            keywords = ["web"]

            [metadata]
            recording = {_toml(task.id)}
            split = {_toml(task.split)}
            start_url = {_toml(task.start_url)}

            [agent]
            timeout_sec = {_ATTEMPT_TIMEOUT_S}
            user = "agent"

            [verifier]
            timeout_sec = 60
            user = "root"

            [environment]
            cpus = 2
            memory_mb = {_BROWSER_MIB}

            [[environment.mcp_servers]]
            name = "browser"
            transport = "streamable-http"
            url = "http://browser:8000/mcp"
            """,
        "environment/Dockerfile": f"""
            FROM python:3.11-slim-bookworm
            RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates curl git \\
                && rm -rf /var/lib/apt/lists/*
            RUN useradd --create-home --uid {_AGENT_UID} agent
            WORKDIR /home/agent
            """,
        "environment/docker-compose.yaml": """
            services:
              main:
                depends_on:
                  browser:
                    condition: service_healthy
                volumes:
                  - results:/results:ro
              browser:
                build:
                  context: ./browser
                volumes:
                  - results:/results
            volumes:
              results:
            """,
        "environment/browser/Dockerfile": f"""
            FROM python:3.11-slim-bookworm
            RUN apt-get update && apt-get install -y --no-install-recommends chromium fonts-liberation \\
                && rm -rf /var/lib/apt/lists/*
            RUN pip install --no-cache-dir "demotape[mcp]=={demotape_version()}"
            RUN useradd --create-home --uid {_BROWSER_UID} runner && install -d -o runner -m 700 /results
            COPY --chown=runner recording /recording
            USER runner
            EXPOSE 8000
            HEALTHCHECK --interval=2s --start-period=60s \\
                CMD python -c "import socket; socket.create_connection(('127.0.0.1', 8000), 5)"
            CMD demotape env mcp /recording --host 0.0.0.0 --port 8000 --results /results/score.json {observed} \\
                --max-steps {settings["max_steps"]}
            """,
        "tests/test.sh": f"""
            #!/bin/sh
            # Writes the score that the browser's container has kept, 0 for an agent that never used the browser.
            results=${{RESULTS:-/results/score.json}}
            reward=${{REWARD:-/logs/verifier/reward.txt}}
            mkdir -p "$(dirname "$reward")"
            python3 - "$results" > "$reward" <<'END'
            import json, pathlib, sys
            path = pathlib.Path(sys.argv[1])
            results = json.loads(path.read_text()) if path.exists() else {{}}
            print(float(results.get("{_SCORES[settings["rewards"]]}") or 0))
            END
            """,
    }


def _solution(task: RecordedTask) -> dict[str, str]:
    """The recorded actions, and what performs them; nothing for a recording that was not processed."""
    actions = recorded_actions(task)
    if not actions:
        return {}
    return {
        "solution/actions.json": dump_json(actions).decode(),
        "solution/solve.sh": """
            #!/bin/sh
            exec python3 "$(dirname "$0")/solve.py"
            """,
        "solution/solve.py": '''
            """Performs the recorded actions with the tools of the MCP server."""

            import json
            import os
            import pathlib
            import urllib.request

            ADDRESS = os.environ.get("BROWSER_URL", "http://browser:8000/mcp")
            HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


            def call(name, **arguments):
                """The result of a tool."""
                body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                        "params": {"name": name, "arguments": arguments}}
                request = urllib.request.Request(ADDRESS, json.dumps(body).encode(), HEADERS)
                with urllib.request.urlopen(request, timeout=120) as answer:
                    return json.load(answer)["result"]


            for action in json.loads((pathlib.Path(__file__).parent / "actions.json").read_text()):
                print(action)
                result = call("act", action=action)
                if result.get("isError"):  # the task is done
                    break
            call("finish")
            ''',
    }


def _toml(text: str) -> str:
    """A basic string of TOML."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
