"""The command that says whether the task of a recorded session was done."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schemas import VERSIONS, DemotapeError, InputError

from . import outcome_tasks
from .outcome_tasks import TASK_FORMATS, placeholders
from .terminal import PATH, complain, console, printable

if TYPE_CHECKING:
    from pipeline.outcomes.checking import CheckResult
    from pipeline.outcomes.evidence import Evidence
    from recorder import Recording
    from schemas.types.outcome import Outcome, OutcomeCheck
    from schemas.types.recordings import Demonstration

_WORDS = {True: "holds", False: "does not hold", None: "not decided"}


@click.command()
@click.argument("recording", type=PATH)
@click.option("--checks", type=PATH, help="File with the outcome checks.  [default: outcome.json in RECORDING]")
@click.option("--task", type=PATH, help="File with a task, or a list of tasks, of VisualWebArena or WebArena-Verified.")
@click.option("--task-id", metavar="ID", help="Id of the task in the list, or of the written task.")
@click.option("--site", "sites", multiple=True, metavar="NAME=URL", help="Address of the site for a placeholder such "
                                                                         "as __SHOPPING__, in tasks that are read or "
                                                                         "written; repeatable.")
@click.option("--answer", help="Final answer.  [default: the navigator's last utterance]")
@click.option("--propose", is_flag=True, help="Propose checks from the changes of the session, and write outcome.json.")
@click.option("--without-run", is_flag=True, help="With --propose: do not replay the demonstration to verify the "
                                                  "proposals.")
@click.option("--write-task", type=PATH, help="Write the checks as a task to this file.")
@click.option("--task-format", type=click.Choice(TASK_FORMATS), default=TASK_FORMATS[0], show_default=True,
              help="Format of the task that --write-task writes.")
@click.option("--write-run", type=PATH, help="Write the files from which WebArena-Verified scores a run, "
                                             "agent_response.json and network.har, to this folder.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def outcome(recording: Path, checks: Path | None, task: Path | None, task_id: str | None, sites: tuple[str, ...],
            answer: str | None, propose: bool, without_run: bool, write_task: Path | None, task_format: str,
            write_run: Path | None, as_json: bool) -> None:
    """Evaluate outcome checks on the end of a RECORDING: was its task done?

    The exit code is 1 if the task was not done, if the result is undecided, or if a check passes before any action.
    """
    from pipeline.outcomes.evidence import of_recording
    from pipeline.outcomes.responses import spoken_answer
    from recorder import Recording

    if sum(map(bool, (checks, task, propose))) > 1:
        raise click.UsageError("--checks, --task and --propose cannot be combined")
    opened = Recording(recording)
    evidence = of_recording(opened, answer)
    for note in evidence.notes:
        complain("note", note)
    if propose:
        wanted = _propose(opened, evidence, run=not without_run)
    elif task:
        wanted = outcome_tasks.read(task, task_id, placeholders(sites), opened)
    else:
        wanted = _read(checks or opened.layout.outcome)
    if write_task:
        outcome_tasks.write(task_format, wanted, opened, evidence, write_task, placeholders(sites), task_id)
    if write_run:
        outcome_tasks.write_run(wanted, opened, evidence, write_run)
    if opened.manifest.get("provenance", {}).get("actor") != "agent":
        evidence = replace(evidence, answer=spoken_answer(evidence.answer, wanted))
    _evaluate(wanted, opened, evidence, as_json, all_must_hold=not task)


def _evaluate(wanted: "Outcome", recording: "Recording", evidence: "Evidence", as_json: bool, *,
              all_must_hold: bool) -> None:
    """Print what came of the checks. `each_alone`: none may hold at the start; else it suffices that not all do."""
    from pipeline.outcomes.isolated_evaluation import examine_session

    result, early = examine_session(recording, wanted, evidence.answer)
    if not all_must_hold and not all(early):
        early = [""] * len(early)
    if as_json:
        click.echo(json.dumps({"score": result.value, "reached": result.reached, "checks": [
            _as_json(check_result) | ({"refused": why} if why else {}) for check_result, why in zip(result.checks,
                                                                                                    early,
                                                                                                    strict=True)]},
            indent=1))
    else:
        for number, (check_result, why) in enumerate(zip(result.checks, early, strict=True), 1):
            console.print(f"{number:3} {_WORDS[check_result.holds]}: {_named(check_result)}")
            for reason in filter(None, (check_result.reason, why and f"refused: {why}")):
                console.print(f"      {printable(reason)}")
        console.print("done" if result.value == 1 else "not done" if result.value == 0 else "not decided")
        if result.reached is not None:
            console.print(f"checkpoints reached: {result.reached:.2f}")
    if result.value != 1 or any(early):
        raise DemotapeError({0.0: "the task was not done", None: "the result is undecided"}.get(
            result.value, "an outcome check passes before any action, so it is meaningless"))


def _as_json(check_result: "CheckResult") -> dict[str, Any]:
    return {"check": check_result.check, "holds": check_result.holds, "reason": check_result.reason} | (
        {"parts": [_as_json(part) for part in check_result.parts]} if check_result.parts else {})


def _named(check_result: "CheckResult") -> str:
    """A check in a line."""
    check = {name: value for name, value in check_result.check.items() if name not in ("kind", "checks")}
    return printable(f"{check_result.check['kind']} {json.dumps(check, ensure_ascii=False)}"[:200])


def _read(path: Path) -> "Outcome":
    from schemas.files import read_json
    from schemas.formats.outcome import OutcomeSchema

    if not path.is_file():
        raise InputError(f"{path}: no outcome checks; write the file, or create it with --propose")
    outcome: Outcome = read_json(path, OutcomeSchema())
    return outcome


def _propose(recording: "Recording", evidence: "Evidence", *, run: bool) -> "Outcome":
    """Proposed checks, written beside the recording; none that are there are replaced. With `run`, those that hold when
    the demonstration is run again."""
    from pipeline.batch import refreshed
    from schemas.files import dump_json, write_atomically
    from schemas.formats.outcome import FORMAT

    layout = recording.layout
    if layout.outcome.exists():
        raise InputError(f"{layout.outcome}: already exists; move it away first")
    checks = proposed(recording, evidence, refreshed(layout.root), run=run)
    wanted: Outcome = {"format": FORMAT, "version": VERSIONS[FORMAT], "checks": checks}
    write_atomically(layout.outcome, dump_json(wanted))
    return wanted


def proposed(recording: "Recording", evidence: "Evidence", demonstration: "Demonstration", *, run: bool
             ) -> "list[OutcomeCheck]":
    """Checks that a session suggests; with `run`, and where its network was kept, those that hold when its
    demonstration is run again, too. Raises InputError when there are none, or it cannot be run."""
    from pipeline.outcomes.isolated_evaluation import confirm_checks, propose_checks

    checks = propose_checks(recording, demonstration["turns"], evidence.answer)
    if run and checks and recording.layout.network.exists():
        with tempfile.TemporaryDirectory(prefix="demotape-run-") as folder:
            replayed = _run_again(recording, demonstration, Path(folder) / "run")
            checks = confirm_checks(recording, checks, replayed, evidence.answer)
    if not checks:
        raise InputError(f"{recording.layout.root}: no check distinguishes the end of the session from earlier "
                         "states, including in a replay; write outcome.json yourself")
    return checks


def _run_again(recording: "Recording", demonstration: "Demonstration", run: Path) -> "Recording":
    """Replay the demonstration offline; returns the recording of that."""
    import asyncio

    from recorder import Recording
    from replay.running import running

    result = asyncio.run(running.run(recording, demonstration, run, replayable=True))
    if failed := next((turn_outcome for turn_outcome in result.outcomes if turn_outcome.verdict == "failed"), None):
        raise InputError(f"{recording.layout.root}: the replay failed ({failed.intent}: {printable(failed.reason)}); "
                         "pass --without-run to propose checks without a replay")
    return Recording(run)
