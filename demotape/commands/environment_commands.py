"""The commands that serve recorded tasks to trainers and agents."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schemas import InputError

from .terminal import PATH, complain, console, progress

if TYPE_CHECKING:
    from replay.agents.pool import EnvironmentPool
    from replay.agents.tasks import TaskSet

_LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
_OBSERVATIONS = ("axtree", "screenshot", "dom", "marks")


@click.group("env")
def environments() -> None:
    """Serve recorded tasks as environments to trainers."""


def _all(*options):
    """A decorator that adds options to a command, in this order."""
    def decorate(command):
        for option in reversed(options):
            command = option(command)
        return command
    return decorate


_observed_options = _all(
    click.option("--observe", multiple=True, type=click.Choice(_OBSERVATIONS), default=("axtree",),
                 show_default=True, help="Content of observations; can be repeated."),
    click.option("--max-steps", type=click.IntRange(min=1), default=100, show_default=True,
                 help="Number of actions after which an attempt ends."))
_served_options = _all(
    click.option("--splits-of", metavar="EXPORT", type=PATH, help="Folder of an export whose splits are used.  "
                                                                  "[default: all tasks are in train]"),
    click.option("--sessions", type=click.IntRange(1, 256), default=16, show_default=True, help="Number of attempts "
                                                                                                "that run in "
                                                                                                "parallel."),
    click.option("--rewards", type=click.Choice(("success", "checks")), default="success", show_default=True,
                 help="success: 1 when the task is done; checks: by the share of outcome checks that pass."))
_recorded_options = _all(
    click.option("--record", type=click.Choice(("none", "actions", "full")), default="none", show_default=True,
                 help="What is recorded of each attempt; actions: without video and with pictures only when they are "
                      "observed."),
    click.option("--runs", type=PATH, help="Folder for the recordings of the attempts."),
    click.option("--window", is_flag=True, help="Show the browser's windows."))


@environments.command("serve")
@click.argument("recordings", nargs=-1, required=True, type=PATH)
@_served_options
@_observed_options
@_recorded_options
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="Port; 0 selects a free "
                                                                                             "port.")
def serve(recordings: tuple[Path, ...], splits_of: Path | None, observe: tuple[str, ...], max_steps: int, record: str,
          runs: Path | None, window: bool, host: str, port: int, sessions: int, rewards: str) -> None:
    """Serve the tasks of RECORDINGS as an OpenEnv environment, until Ctrl-C.

    Each recording must be replayable and have outcome checks. Tasks are chosen with reset(split, index); attempts
    share one browser, but no data. Needs the extra openenv.
    """
    import asyncio

    from pipeline import extras
    from replay.agents.tasks import read_task_set

    extras.require("openenv")
    tasks = read_task_set(recordings, splits_of)
    pool = _pool(sessions, record, runs, window)
    asyncio.run(_serve(tasks, pool, host, port, {"observe": observe, "max_steps": max_steps, "sessions": sessions,
                                                 "partial": rewards == "checks"}))


async def _serve(tasks: "TaskSet", pool: "EnvironmentPool", host: str, port: int, options: dict[str, Any]) -> None:
    import socket

    import uvicorn

    from demotape.trainers.openenv_app import make_app

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise InputError(f"port {port} of {host} cannot be used ({error.strerror}); choose another with --port"
                             ) from None
        loopback = host in _LOOPBACK_HOSTS
        if not loopback:
            complain("network", f"anyone who reaches {host} can use these recordings")
        async with pool:
            app = make_app(tasks, pool, loopback=loopback, **options)
            server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on"))
            address = f"[{host}]" if ":" in host else host
            console.print(f"OpenEnv: http://{address}:{listener.getsockname()[1]}", soft_wrap=True)
            console.print(f"Tasks: {len(tasks.tasks())} (splits: {', '.join(tasks.splits)})")
            await server.serve(sockets=[listener])


@environments.command("mcp")
@click.argument("recording", type=PATH)
@_observed_options
@_recorded_options
@click.option("--results", type=PATH, help="JSON file for the score of the attempt.")
def mcp(recording: Path, observe: tuple[str, ...], max_steps: int, record: str, runs: Path | None, window: bool,
        results: Path | None) -> None:
    """Serve the task of a RECORDING as an MCP server on standard input and output.

    Its tools describe the task, show the page, act and finish. The agent does not see the score, which is in the file
    of --results. Needs the extra mcp.
    """
    from pipeline import extras
    from replay.agents.tasks import read_task

    extras.require("mcp")
    from demotape.trainers.mcp_server import serve_stdio

    serve_stdio(read_task(recording), _pool(1, record, runs, window), observe=observe, max_steps=max_steps,
                results=results)


@environments.command("pack")
@click.argument("recordings", nargs=-1, required=True, type=PATH)
@click.argument("out", type=PATH)
@click.option("--name", default="recorded_tasks", show_default=True, help="Name of the environment.")
@_served_options
@_observed_options
def pack(recordings: tuple[Path, ...], out: Path, name: str, splits_of: Path | None, sessions: int, rewards: str,
         observe: tuple[str, ...], max_steps: int) -> None:
    """Write the tasks of RECORDINGS as an OpenEnv folder OUT that `openenv build` and `openenv push` take.

    It contains a server, a Dockerfile, a card and copies of the recordings without videos.
    """
    from demotape.environment_folder import pack
    from replay.agents.tasks import read_task_set

    from .new_folders import new_folder

    tasks = read_task_set(recordings, splits_of)
    settings = {"observe": observe, "max_steps": max_steps, "sessions": sessions, "rewards": rewards}
    with new_folder(out), progress("Packing", len(recordings)) as step:
        pack(tasks, out, name, settings, step)
    console.print(f"{out}: {len(recordings)} tasks", soft_wrap=True)


def _pool(size: int, record: str, runs: Path | None, window: bool) -> "EnvironmentPool":
    """The pool that attempts run in. Raises InputError for --record without --runs."""
    from replay.agents.pool import EnvironmentPool

    if record != "none" and runs is None:
        raise InputError("--record needs a folder for the recordings; pass --runs")
    level: Any = record
    return EnvironmentPool(size, headless=not window, record=level, runs=runs and runs.resolve())
