"""The commands that run agents on recorded tasks."""

import json
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schemas import DemotapeError, InputError

from .terminal import PATH, console, printable, progress

if TYPE_CHECKING:
    from demotape.agents import Run


@click.group()
def agents() -> None:
    """Run agents on recorded tasks."""


@agents.command("run")
@click.argument("agent")
@click.argument("recordings", nargs=-1, required=True, type=PATH)
@click.option("--runs", type=PATH, required=True, help="Folder for the recordings of the runs; it must not exist.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of tasks that run in "
                                                                                       "parallel.")
@click.option("--scheduler", metavar="ADDRESS", help="Use a Dask cluster whose workers have the same folders, a "
                                                     "Chromium and the agent.")
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), default=300.0, show_default=True,
              help="Time limit of a task.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines, one per task.")
def run(agent: str, recordings: tuple[Path, ...], runs: Path, jobs: int, scheduler: str | None, seconds: float,
        as_json: bool) -> None:
    """Run an AGENT on the tasks of RECORDINGS and score it by their outcome checks.

    AGENT is MODULE:FUNCTION, `recorded` (the recorded person) or `idle` (does nothing). The function receives the
    task, connects to its browser over CDP, acts, and returns its answer. The exit code is 1 if a task could not be
    scored.
    """
    from demotape.agents import agent_named, run_all

    agent_named(agent)
    if runs.exists():
        raise InputError(f"{runs}: already exists; choose another folder with --runs")
    runs_done: list[Run] = []
    with progress("Running", len(recordings)) as step:
        for agent_run in run_all(agent, recordings, runs.resolve(), jobs, seconds, scheduler):
            runs_done.append(agent_run)
            step(agent_run.recording)
            if as_json:
                click.echo(json.dumps(asdict(agent_run)))
            else:
                value = "not decided" if agent_run.score is None else f"{agent_run.score:g}"
                reason = f": {printable(agent_run.reason)}" if agent_run.reason else ""
                console.print(f"{printable(agent_run.recording)}  {value}  {agent_run.seconds:.1f} s{reason}")
    if not as_json:
        _print_table(runs_done)
    if undecided := sum(agent_run.score is None for agent_run in runs_done):
        raise DemotapeError(f"{undecided} of {len(runs_done)} tasks could not be scored")


def _print_table(runs: list["Run"]) -> None:
    """Success by site, by difficulty where that is told, and in all."""
    for grouping in (lambda agent_run: agent_run.site or "?", lambda agent_run: agent_run.difficulty,
                     lambda agent_run: "all"):
        scores = defaultdict(list)
        for agent_run in runs:
            scores[grouping(agent_run)].append(agent_run.score or 0.0)
        for name, of_it in sorted(scores.items()):
            if name:
                console.print(f"{printable(name):40} {sum(of_it):g} of {len(of_it)}")
