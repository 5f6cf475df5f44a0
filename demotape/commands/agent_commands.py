"""The commands that run agents on recorded tasks."""

import json
import shlex
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schemas import DemotapeError, InputError

from .terminal import PATH, console, hint, printable, progress

if TYPE_CHECKING:
    from demotape.agents import Run

RESULTS = "results.jsonl"


@click.group()
def agents() -> None:
    """Run agents on recorded tasks."""


@agents.command("run")
@click.argument("agent")
@click.argument("recordings", nargs=-1, required=True, type=PATH)
@click.option("--runs", type=PATH, required=True, help="Folder for the recordings of the runs and results.jsonl; one "
                                                       "of an interrupted command is continued.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of tasks that run in "
                                                                                       "parallel.")
@click.option("--scheduler", metavar="ADDRESS", help="Use a Dask cluster whose workers have the same folders, a "
                                                     "Chromium and the agent.")
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), default=300.0, show_default=True,
              help="Time limit of a task.")
@click.option("--repeat", type=click.IntRange(min=1), default=1, show_default=True, help="Number of runs of each task.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines, one per run.")
def run(agent: str, recordings: tuple[Path, ...], runs: Path, jobs: int, scheduler: str | None, seconds: float,
        repeat: int, as_json: bool) -> None:
    """Run an AGENT on the tasks of RECORDINGS and score it by their outcome checks.

    AGENT is MODULE:FUNCTION, `recorded` (the recorded person) or `idle` (does nothing). The function receives the
    task, connects to its browser over CDP, acts, and returns its answer. The exit code is 1 if a task could not be
    scored.
    """
    from demotape.agents import agent_named, attempt_folder, run_all

    agent_named(agent)
    runs_done = _finished(runs, agent)
    finished = {(agent_run.recording, agent_run.attempt) for agent_run in runs_done}
    with progress("Running", len(recordings) * repeat) as step:
        for agent_run in run_all(agent, recordings, runs.resolve(), jobs, seconds, scheduler, repeat=repeat,
                                 finished=finished):
            runs_done.append(agent_run)
            if attempt_folder(runs, Path(agent_run.recording), agent_run.attempt).exists():
                _append(runs / RESULTS, agent_run)
            step(agent_run.recording)
            if as_json:
                click.echo(json.dumps(asdict(agent_run)))
            else:
                value = "not decided" if agent_run.score is None else f"{agent_run.score:g}"
                reason = f": {printable(agent_run.reason)}" if agent_run.reason else ""
                console.print(f"{printable(agent_run.recording)}  {value}  {agent_run.seconds:.1f} s{reason}")
    if not as_json:
        _print_table(runs_done)
    if not as_json and runs.exists():
        hint(f"Review the runs: demotape import --create {shlex.quote(str(runs))}", to=console)
    if undecided := sum(agent_run.score is None for agent_run in runs_done):
        raise DemotapeError(f"{undecided} of {len(runs_done)} tasks could not be scored")


def _finished(runs: Path, agent: str) -> list["Run"]:
    """Results of an earlier command with the same folder. Raises InputError for a folder of something else, or of
    another agent."""
    from demotape.agents import Run

    if not runs.exists():
        return []
    if not (runs / RESULTS).exists():
        raise InputError(f"{runs}: already exists and has no {RESULTS}; choose another folder with --runs")
    results = []
    for number, line in enumerate((runs / RESULTS).read_text(encoding="utf-8").splitlines(), 1):
        try:
            results.append(Run(**json.loads(line)))
        except (ValueError, TypeError):
            raise InputError(f"{runs / RESULTS}: line {number} is not a result; delete it to repeat its run") from None
    if other := next((result.agent for result in results if result.agent != agent), None):
        raise InputError(f"{runs}: contains runs of {other}; choose another folder with --runs")
    return [result for result in results if result.score is not None]


def _append(path: Path, agent_run: "Run") -> None:
    """Add a result to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(agent_run)) + "\n")


def _print_table(runs: list["Run"]) -> None:
    """Success by site, by difficulty where that is known, and in all; with repeated runs, also the standard error of
    the success rate over tasks (clustered by task: Miller 2024, "Adding error bars to evals")."""
    for grouping in (lambda agent_run: agent_run.site or "?", lambda agent_run: agent_run.difficulty,
                     lambda agent_run: "all"):
        groups: dict[str, list[Run]] = defaultdict(list)
        for agent_run in runs:
            groups[grouping(agent_run)].append(agent_run)
        for name, members in sorted(groups.items()):
            if name:
                console.print(f"{printable(name):40} {sum(member.score or 0.0 for member in members):g} of "
                              f"{len(members)}{_error_bar(members)}")
    for name in ("input_tokens", "output_tokens", "cost"):
        if total := sum(agent_run.reported.get(name, 0) for agent_run in runs):
            console.print(f"{name.replace('_', ' '):40} {total:g}")


def _error_bar(runs: list["Run"]) -> str:
    """The success rate with its standard error, where a task was run more than once."""
    by_task: dict[str, list[float]] = defaultdict(list)
    for agent_run in runs:
        by_task[agent_run.recording].append(agent_run.score or 0.0)
    if all(len(scores) == 1 for scores in by_task.values()):
        return ""
    rate = sum(agent_run.score or 0.0 for agent_run in runs) / len(runs)
    squares = sum(sum(score - rate for score in scores) ** 2 for scores in by_task.values())
    return f"  {rate:.2f} ± {squares ** 0.5 / len(runs):.2f}"


@agents.command("join-log")
@click.argument("recording", type=PATH)
@click.argument("log", type=PATH)
@click.option("--from", "importer", metavar="IMPORTER", help="Kind of the log; detected by default.")
@click.option("--session", metavar="NAME", help="Name of the session, if the log contains several.")
@click.option("--replace", is_flag=True, help="Replace the reports that the recording has.")
def join_log(recording: Path, log: Path, importer: str | None, session: str | None, replace: bool) -> None:
    """Add the reports in an agent's own LOG to a RECORDING of the same session.

    LOG is anything that `demotape import` accepts: a history of browser-use, results of AgentLab, ATIF, ADP, AgentNet.
    Its steps are matched with the recorded turns; steps without a match are listed.
    """
    from demotape import agent_logs

    joined = agent_logs.join_log(recording, log, importer, session, replace=replace)
    console.print(f"{joined.steps - len(joined.unmatched)} of {joined.steps} steps matched ({joined.importer})")
    for step in joined.unmatched:
        console.print(f"  no turn for step {printable(step)}")
    for reason, count in joined.left_out.items():
        console.print(f"  not in the log's steps: {printable(reason)} ({count})")
