"""Do proposed outcome checks, accepted unseen, tell who did a task from who did not?

    python -m benchmarks.outcome [--seed N] [--solved N] [--mutated N] [--only NAME] [--from DIR] [--keep DIR]

MiniWoB tasks are solved by scripts, each page as many times as --solved says, and the third-party applications of
`benchmarks.replay` are used (or with --from, sessions that were kept). Checks are proposed for each, as by
`demotape outcome --propose`. Printed: the score of the recorded person, whose demonstration is run again once more, of
one who does nothing, and, of demonstrations with one fault (a turn less, another target, another text, two turns
swapped) and of those that stop early, how often the score says what the site says: MiniWoB's own reward, as much as
the person's, elsewhere that the last state is the recorded one.
"""

import argparse
import asyncio
import copy
import random
import shutil
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import async_playwright

from demotape.commands.outcome_commands import proposed
from demotape.site import serve
from pipeline import refresh
from pipeline.outcomes.checking import score
from pipeline.outcomes.evidence import Evidence, of_recording
from recorder import Recording
from recorder.browser import launch
from replay.running import running
from schemas import VERSIONS, InputError
from schemas.formats.outcome import FORMAT
from schemas.types.outcome import Outcome

from .driving.miniwob_solving import SOLVERS, solve, unhurried
from .replay.run import GOOD, in_folder, of_sessions, record_all, spoil
from .replay.sessions import record

_SOLVED = "miniwob-"  # begins the names of sessions that MiniWoB gave a reward
_REWARD = "#reward-last"
_TRIES = 4  # recordings of one task until it is solved


@dataclass(frozen=True)
class Task:
    """A recorded session with its demonstration and proposed checks."""

    recording: Recording
    demonstration: Any
    outcome: Outcome


async def solve_all(folder: Path, times: int) -> list[Path]:
    """Record every MiniWoB task that there is a script for, so many times."""
    made = []
    with serve(unhurried(folder / "site")) as site:
        async with async_playwright() as playwright:
            browser = await launch(playwright, headless=True)
            for number in range(times):
                for name in SOLVERS:
                    made.append(folder / f"{_SOLVED}{name}-{number}")
                    rewards: list[str] = []

                    async def act(page: Any, name: str = name, rewards: list[str] = rewards) -> None:
                        rewards.append(await solve(page, site, name))

                    while not rewards or float(rewards[-1]) <= 0:  # buttons may lie over each other
                        if len(rewards) == _TRIES:
                            raise SystemExit(f"outcome: {made[-1].name} was not solved: rewards {', '.join(rewards)}")
                        shutil.rmtree(made[-1], ignore_errors=True)
                        await record(browser, made[-1], act, None)
            await browser.close()
    return made


def reward(evidence: Evidence) -> float:
    """What MiniWoB's page gives in the end; a part of it for a task that is done in part."""
    told = [element.text.strip() for element in evidence.pages[-1].elements(_REWARD)]
    with suppress(ValueError, IndexError):
        return float(told[0])
    return 0.0  # "-": it did not end


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
    """The score of a demonstration that is run again, and whether the site says that the task was done."""
    result = asyncio.run(running.run(task.recording, demonstration, run, replayable=True))
    evidence = of_recording(Recording(run))
    found = score(task.outcome, evidence)
    solved = task.recording.layout.root.name.startswith(_SOLVED)
    done = reward(evidence) >= reward(of_recording(task.recording)) if solved else result.last in GOOD
    shutil.rmtree(run)
    return found.value, done


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
        paths = asyncio.run(solve_all(folder, options.solved)) if options.only in "miniwob" else []
        options.pages = 0  # nobody acts at random here
        paths += [session.path for session in asyncio.run(record_all(folder, options))]
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
            value, done = run_again(task, demonstration, runs / f"mutated-{tried.total()}")
            tried[fault] += 1
            agreed[fault] += (value == 1) == done
            if (value == 1) != done:
                print(f"  {task.recording.layout.root.name}, {fault}: score {value}, the site says "
                      f"{'done' if done else 'not done'}", flush=True)
    return {"benchmark": "outcome", "seed": options.seed, "sessions": len(paths), "tasks": len(tasks),
            "person": round(scores["person"] / max(1, len(tasks)), 4),
            "idle_zero": round(scores["idle"] / max(1, len(tasks)), 4), "mutated": tried.total(),
            "agreement": round(agreed.total() / max(1, tried.total()), 4),
            "by_fault": {fault: f"{agreed[fault]} of {tried[fault]}" for fault in sorted(tried)}}


def main() -> None:
    parser = of_sessions(__doc__.splitlines()[0])
    parser.add_argument("--solved", type=int, default=4, help="times that each MiniWoB task is solved")
    parser.add_argument("--mutated", type=int, default=300, help="runs with a fault")
    parser.add_argument("--from", dest="recorded", type=Path, help="recordings that benchmarks.replay kept")
    options = parser.parse_args()
    in_folder(options, lambda folder: run(options, folder))


if __name__ == "__main__":
    main()
