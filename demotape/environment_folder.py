"""Writes recorded tasks as a folder that the openenv tools build and publish: server, settings, tasks and card."""

import re
import shutil
import textwrap
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from replay.agents.tasks import ALL, RecordedTask, TaskSet
from schemas import InputError

_LEFT_OUT = ("video.*", "derived", "demonstration*.json", "processed.json", "proof.json", "*.lock", "*-runs")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_MAX_LISTED = 200  # tasks in the card
_MAX_GOAL_CHARS = 120
_BROWSER_MIB, _ATTEMPT_MIB = 1024, 128  # of memory, as the card declares it


def pack(tasks: TaskSet, out: Path, name: str, settings: dict[str, Any], on_task: Callable[[str], None]) -> None:
    """Write the folder `out`, which must not exist. `settings`: `observe`, `max_steps`, `sessions` and `rewards` as of
    `demotape env serve`; `on_task` is called with each task's id. Raises InputError for a folder that exists, and for a
    name that the tools refuse."""
    if out.exists():
        raise InputError(f"{out}: already exists; choose another folder")
    if not _NAME.fullmatch(name):
        raise InputError(f"name {name[:40]!r}: must be a small letter, then up to 39 small letters, digits and _")
    for path, text in _files(tasks, name, settings).items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_text(textwrap.dedent(text).lstrip(), encoding="utf-8")
    for task in tasks.tasks(ALL):
        copy_recording(task, out / "tasks" / task.split / task.id)
        on_task(task.id)


def copy_recording(task: RecordedTask, target: Path) -> None:
    """Copy the recording of a task without its video and what was derived from it."""
    shutil.copytree(task.recording.layout.root, target, ignore=shutil.ignore_patterns(*_LEFT_OUT))


def _files(tasks: TaskSet, name: str, settings: dict[str, Any]) -> dict[str, str]:
    """Paths and contents of what is not a task."""
    arguments = ", ".join(f"{option}={value!r}" for option, value in settings.items())
    counts = ", ".join(f"{split}: {len(tasks.tasks(split))}" for split in tasks.splits)
    requirement = f"demotape[openenv]=={demotape_version()}"
    return {
        "openenv.yaml": f"""
            spec_version: 1
            name: {name}
            type: space
            runtime: fastapi
            app: server.app:app
            port: 8000
            validation:
              reward:
                range: [0.0, 1.0]
                oracle_tolerance: 0.0
                floor_margin: 0.1
              resources:
                cpu: 2.0
                memory_mb: {_BROWSER_MIB + _ATTEMPT_MIB * settings["sessions"]}
                disk_mb: 4096
                episode_timeout_s: 600.0
              network:
                mode: no-network
              capabilities:
                verifier:
                  kind: reward_channel
                rubric_tree: true
                task_api: true
                declared_task_count: {{{counts}}}
              types:
                tags: [web]
            """,
        "pyproject.toml": f"""
            [build-system]
            requires = ["setuptools>=77"]
            build-backend = "setuptools.build_meta"

            [project]
            name = "openenv-{name.replace("_", "-")}"
            version = "0.1.0"
            description = "Recorded web tasks, replayed offline"
            requires-python = ">=3.11"
            dependencies = ["{requirement}", "openenv>=0.10,<0.11"]

            [project.scripts]
            server = "{name}.server.app:main"

            [tool.setuptools]
            packages = ["{name}", "{name}.server"]
            package-dir = {{ "{name}" = ".", "{name}.server" = "server" }}
            """,
        "__init__.py": '"""Recorded web tasks as an OpenEnv environment."""\n',
        "server/__init__.py": '"""The server."""\n',
        "server/app.py": f'''
            """Serves the tasks of this folder: uvicorn server.app:app"""

            from pathlib import Path

            from demotape.trainers.packed import packed_app

            app = packed_app(Path(__file__).resolve().parents[1] / "tasks", {arguments})


            def main() -> None:
                """Serve on port 8000."""
                import uvicorn

                uvicorn.run(app, host="0.0.0.0", port=8000)


            if __name__ == "__main__":
                main()
            ''',
        "server/Dockerfile": f"""
            FROM python:3.11-slim-bookworm
            RUN apt-get update && apt-get install -y --no-install-recommends chromium fonts-liberation \\
                && rm -rf /var/lib/apt/lists/*
            RUN pip install --no-cache-dir "{requirement}"
            RUN useradd --create-home runner
            COPY --chown=runner . /app/env
            WORKDIR /app/env
            USER runner
            EXPOSE 8000
            HEALTHCHECK CMD python -c "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health')"
            CMD ["uvicorn", "server.app:app", "--host", "0.0.0.0", "--port", "8000"]
            """,
        "README.md": _card(tasks, name),
    }


def _card(tasks: TaskSet, name: str) -> str:
    every = tasks.tasks(ALL)
    counts = ", ".join(f"{split} {len(tasks.tasks(split))}" for split in tasks.splits if split != ALL)
    lines = [f"| `{task.id}` | {task.split} | {_cell(task.goal)} |" for task in every[:_MAX_LISTED]]
    more = f"\n\n{len(every) - _MAX_LISTED} more." if len(every) > _MAX_LISTED else ""
    return "\n".join([
        "---", f"title: {name}", "sdk: docker", "app_port: 8000", "tags:", "  - openenv", "---", "",
        f"# {name}", "", f"{len(every)} recorded web tasks ({counts}), replayed offline without the sites, and scored "
        "by outcome checks. Made by demotape.", "",
        "Reset with `split` and `index`, or with `task_id`; a step is an action such as `click('a1-7')`.", "",
        "The folder `tasks` contains the recordings: pages, network, pictures and what the person said. Publish it "
        "only with the consent that `recording.json` names.", "",
        "| task | split | goal |", "|---|---|---|", *lines]) + more + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")[:_MAX_GOAL_CHARS]


def demotape_version() -> str:
    """Version of demotape that containers install."""
    try:
        return version("demotape")
    except PackageNotFoundError:
        return "0.3.0"

