"""The commands that serve recorded tasks to trainers and agents."""

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schemas import InputError

from .terminal import PATH, complain, console, progress

if TYPE_CHECKING:
    from collections.abc import Iterator
    from socket import socket

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
    from demotape.trainers.openenv_app import make_app

    with _listening(host, port) as listener:
        async with pool:
            app = make_app(tasks, pool, loopback=host in _LOOPBACK_HOSTS, **options)
            await _run_app(app, listener, host, "OpenEnv", "", f"Tasks: {len(tasks.tasks())} "
                                                               f"(splits: {', '.join(tasks.splits)})")


@contextmanager
def _listening(host: str, port: int) -> "Iterator[socket]":
    """A socket that listens. Raises InputError for a port that is in use."""
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen()  # before the address is printed: who connects at once has to wait, and is not refused
        except OSError as error:
            raise InputError(f"port {port} of {host} cannot be used ({error.strerror}); choose another with --port"
                             ) from None
        if host not in _LOOPBACK_HOSTS:
            complain("network", f"anyone who reaches {host} can use these recordings")
        yield listener


async def _run_app(app: Any, listener: "socket", host: str, name: str, path: str, *more: str) -> None:
    """Serve an ASGI application until it is interrupted, and print its address, then the lines `more`."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on"))
    address = f"[{host}]" if ":" in host else host
    console.print(f"{name}: http://{address}:{listener.getsockname()[1]}{path}", soft_wrap=True)
    for line in more:
        console.print(line)
    await server.serve(sockets=[listener])


@environments.command("mcp")
@click.argument("recording", type=PATH)
@_observed_options
@_recorded_options
@click.option("--results", type=PATH, help="JSON file for the score of the attempt.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --port: address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), help="Serve over HTTP on this port; 0 selects a free port.  "
                                                            "[default: standard input and output]")
def mcp(recording: Path, observe: tuple[str, ...], max_steps: int, record: str, runs: Path | None, window: bool,
        results: Path | None, host: str, port: int | None) -> None:
    """Serve the task of a RECORDING as an MCP server on standard input and output, or over HTTP.

    Its tools describe the task, show the page, act and finish. The agent does not see the score, which is in the file
    of --results. Needs the extra mcp.
    """
    import asyncio

    from pipeline import extras
    from replay.agents.tasks import read_task

    extras.require("mcp")
    from demotape.trainers.mcp_server import make_server

    pool = _pool(1, record, runs, window)
    server = make_server(read_task(recording), pool, observe=observe, max_steps=max_steps, results=results)
    asyncio.run(_serve_tools(server, pool, host, port))


async def _serve_tools(server: Any, pool: "EnvironmentPool", host: str, port: int | None) -> None:
    from demotape.trainers.mcp_server import http_app

    if port is None:
        async with pool:
            await server.run_stdio_async()
        return
    with _listening(host, port) as listener:
        async with pool:
            await _run_app(http_app(server, loopback=host in _LOOPBACK_HOSTS), listener, host, "MCP", "/mcp")


@environments.command("pack")
@click.argument("recordings", nargs=-1, required=True, type=PATH)
@click.argument("out", type=PATH)
@click.option("--format", "format_", type=click.Choice(("openenv", "harbor")), default="openenv", show_default=True,
              help="openenv: one environment; harbor: a task folder for each recording.")
@click.option("--name", default="recorded_tasks", show_default=True, help="Name of the environment, or organisation of "
                                                                          "the tasks.")
@_served_options
@_observed_options
def pack(recordings: tuple[Path, ...], out: Path, format_: str, name: str, splits_of: Path | None, sessions: int,
         rewards: str, observe: tuple[str, ...], max_steps: int) -> None:
    """Write the tasks of RECORDINGS as a folder OUT for the tools of OpenEnv or Harbor.

    It contains copies of the recordings without videos, and what serves them. For OpenEnv these are a server, a
    Dockerfile and a card; for Harbor a folder for each task with instruction, containers, test and, of a processed
    recording, the recorded actions as its solution.
    """
    from demotape import environment_folder, harbor_folder
    from replay.agents.tasks import read_task_set

    from .new_folders import new_folder

    tasks = read_task_set(recordings, splits_of)
    settings: dict[str, Any] = {"observe": observe, "max_steps": max_steps, "sessions": sessions, "rewards": rewards}
    writer = environment_folder if format_ == "openenv" else harbor_folder
    with new_folder(out), progress("Packing", len(recordings)) as step:
        writer.pack(tasks, out, name, settings, step)
    console.print(f"{out}: {len(recordings)} tasks", soft_wrap=True)


def _pool(size: int, record: str, runs: Path | None, window: bool) -> "EnvironmentPool":
    """The pool that attempts run in. Raises InputError for --record without --runs."""
    from replay.agents.pool import EnvironmentPool

    if record != "none" and runs is None:
        raise InputError("--record needs a folder for the recordings; pass --runs")
    level: Any = record
    return EnvironmentPool(size, headless=not window, record=level, runs=runs and runs.resolve())
