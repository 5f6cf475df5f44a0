"""Do proposed outcome checks, accepted unseen, tell who did a task from who did not?

    python -m benchmarks.outcome [--seed N] [--pages N] [--mutated N] [--only NAME] [--from DIR] [--keep DIR]

Sessions as those of `benchmarks.replay` (or those that it kept, with --from). Checks are proposed for each, as by
`demotape outcome --propose`. Printed: the score of the recorded person, whose demonstration is run again once more, of
one who does nothing, and, of demonstrations with one fault (a turn less, another target, another text, two turns
swapped) and of those that stop early, how often the score says what the last state says: that it is the recorded one.
"""

import argparse
import asyncio
import copy
import random
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demotape.outcome_commands import proposed
from pipeline import refresh
from pipeline.outcomes.checking import score
from pipeline.outcomes.evidence import of_recording
from recorder import Recording
from replay import running
from schemas import VERSIONS, InputError
from schemas.outcome import FORMAT
from schemas.outcome_types import Outcome

from .replay import GOOD, in_folder, of_sessions, record_all, spoil


@dataclass(frozen=True)
class Task:
    """A recorded session with its demonstration and proposed checks."""

    recording: Recording
    demonstration: Any
    outcome: Outcome


def task_of(path: Path) -> Task | None:
    """A session with what is proposed of it; None where nothing is."""
    recording, (demonstration, _) = Recording(path), refresh(path)
    try:
        checks = proposed(recording, of_recording(recording), demonstration, run=True)
    except InputError as error:
        print(f"  {path.name}: {error}", flush=True)
        return None
    return Task(recording, demonstration, {"format": FORMAT, "version": VERSIONS[FORMAT], "checks": checks})


def run_again(task: Task, demonstration: Any, run: Path) -> tuple[float | None, bool]:
    """The score of a demonstration that is run again, and whether it ended in the recorded state."""
    result = asyncio.run(running.run(task.recording, demonstration, run, replayable=True))
    found = score(task.outcome, of_recording(Recording(run)))
    shutil.rmtree(run)
    return found.value, result.last in GOOD


def mutated(task: Task, chance: random.Random) -> tuple[str, Any] | None:
    """A demonstration with a fault, or one that stops early."""
    if chance.random() < 0.8:
        return spoil(task.demonstration, task.recording, chance)
    stopped = copy.deepcopy(task.demonstration)
    turns = [turn for turn in stopped["turns"] if turn["type"] == "browser" and not turn["dropped"]]
    if len(turns) < 2:
        return None
    for turn in turns[chance.randrange(1, len(turns)):]:
        turn["dropped"] = True
    return "stopped early", stopped


def run(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """All figures."""
    if options.recorded:
        paths = sorted(each.parent for each in options.recorded.glob("*/network.jsonl") if options.only in str(each))
    else:
        paths = [session.path for session in asyncio.run(record_all(folder, options))]
    tasks = [task for path in paths if (task := task_of(path))]
    runs, scores = folder / "runs", Counter[str]()
    for number, task in enumerate(tasks):
        value, _ = run_again(task, task.demonstration, runs / f"person-{number}")
        idle = score(task.outcome, of_recording(task.recording).at_start()).value
        scores["person"] += value == 1
        scores["idle"] += idle == 0
        if value != 1 or idle != 0:
            print(f"  {task.recording.layout.root.name}: person {value}, idle {idle}", flush=True)
    chance, tried, agreed = random.Random(options.seed), Counter[str](), Counter[str]()
    while tasks and tried.total() < options.mutated:
        task = chance.choice(tasks)
        if found := mutated(task, chance):
            fault, demonstration = found
            value, as_recorded = run_again(task, demonstration, runs / f"mutated-{tried.total()}")
            tried[fault] += 1
            agreed[fault] += (value == 1) == as_recorded
            if (value == 1) != as_recorded:
                print(f"  {task.recording.layout.root.name}, {fault}: score {value}, last state "
                      f"{'as recorded' if as_recorded else 'another'}", flush=True)
    return {"benchmark": "outcome", "seed": options.seed, "sessions": len(paths), "tasks": len(tasks),
            "person": round(scores["person"] / max(1, len(tasks)), 4),
            "idle_zero": round(scores["idle"] / max(1, len(tasks)), 4), "mutated": tried.total(),
            "agreement": round(agreed.total() / max(1, tried.total()), 4),
            "by_fault": {fault: f"{agreed[fault]} of {tried[fault]}" for fault in sorted(tried)}}


def main() -> None:
    parser = of_sessions(__doc__.splitlines()[0])
    parser.add_argument("--mutated", type=int, default=300, help="runs with a fault")
    parser.add_argument("--from", dest="recorded", type=Path, help="recordings that benchmarks.replay kept")
    options = parser.parse_args()
    in_folder(options, lambda folder: run(options, folder))


if __name__ == "__main__":
    main()
