"""Many attempts at a recorded task at a time: memory, resets and steps, beside one browser for each and BrowserGym.

    python -m benchmarks.environments [--sizes 1,8,16,32] [--resets N] [--separate N] [--peer]

A person's session on a MiniWoB page is recorded. `EnvironmentPool` holds 1 to 32 attempts at it at a time, observed by
screenshot and accessibility tree: memory (PSS of this process and all that it started, less what it was before the
pool) for each attempt, seconds of a reset (the old attempt closed and a new one begun, one after the other while the
others stay open), and steps a second of all of them at once. In the same run `Environment`, one browser for each
attempt, does so for a few; with `--peer` BrowserGym's own MiniWoB task does the same steps alone. Then resets one after
the other, with the memory after the first and the last hundred; and every attempt's score must be 1 for the recorded
actions and 0 for none. Exit code 1 where a score is wrong.
"""

import argparse
import asyncio
import json
import os
import re
import statistics
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import psutil

from demotape.agents import outcome_of
from demotape.site import miniwob_folder, serve
from recorder import Recording
from replay.agents.environment import Environment
from replay.agents.episode import Episode, Observation
from replay.agents.pool import EnvironmentPool
from replay.agents.tasks import RecordedTask, read_task

from .browsergym import _COVER, _PACKAGES, _PAGE, _PRESSED, _ROOT, browsers_for, done, record
from .loaders import environment

_OBSERVED = ("axtree", "screenshot")
_SAMPLES = 20  # resets and rounds of steps that are timed
_HUNDRED = 100  # resets between two readings of memory


def pss() -> float:
    """MiB of memory of this process and all that it has started, shared pages by their share."""
    total = 0
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        try:
            rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
            total += int(re.search(r"^Pss:\s+(\d+)", rollup, re.M)[1])
        except (OSError, TypeError):  # it has ended
            continue
    return total / 1024


async def do_task(episode: Episode, shown: Observation) -> float | None:
    """The recorded person's presses, by the uids of the recording; the score."""
    uids = {element["attributes"].get("id"): uid for uid, element in episode.task.recorded_elements.items()}
    for selector in (_COVER, *_PRESSED):
        step = await episode.step(f'click(uid="{uids[selector[1:]]}")')
        if step.ended:
            break
    return step.score


async def at_size(task: RecordedTask, size: int) -> dict[str, Any]:
    """Figures of so many attempts at a time."""
    before = pss()
    async with EnvironmentPool(size) as pool:
        attempts = list(await asyncio.gather(*(pool.begin(task, _OBSERVED, 10_000) for _ in range(size))))
        memory = (pss() - before) / size
        resets = []
        for number in range(_SAMPLES):
            began = time.perf_counter()
            await pool.close(attempts[number % size][0])
            attempts[number % size] = await pool.begin(task, _OBSERVED, 10_000)
            resets.append(time.perf_counter() - began)
        began = time.perf_counter()
        rounds = max(2, _SAMPLES // size)
        for _ in range(rounds):
            await asyncio.gather(*(episode.step("noop(0)") for episode, _ in attempts))
        steps = rounds * size / (time.perf_counter() - began)
        idle = [episode.score for episode, _ in attempts]
        scores = await asyncio.gather(*(do_task(*attempt) for attempt in attempts))
    return {"size": size, "pss_mib_each": round(memory, 1), "reset_s": round(statistics.median(resets), 3),
            "steps_per_s": round(steps, 2), "scores_1": scores.count(1.0), "idle_scores_0": idle.count(0.0)}


async def separate(recording: Recording, folder: Path, size: int) -> dict[str, Any]:
    """The same with one browser for each attempt, as `agents run` has it."""
    before = pss()
    async with AsyncExitStack() as stack:
        environments = []
        for number in range(size):
            environments.append(await stack.enter_async_context(
                Environment(recording, outcome_of(recording), folder / str(number))))
            await environments[-1].reset()
        memory = (pss() - before) / size
        resets = []
        for number in range(max(4, size)):
            began = time.perf_counter()
            await environments[number % size].reset()
            resets.append(time.perf_counter() - began)
    return {"size": size, "pss_mib_each": round(memory, 1), "reset_s": round(statistics.median(resets), 3)}


async def growth(task: RecordedTask, resets: int) -> dict[str, Any]:
    """Memory after the first and the last hundred of many resets, in MiB."""
    readings = []
    async with EnvironmentPool(1) as pool:
        for number in range(resets):
            episode, _ = await pool.begin(task)
            await pool.close(episode)
            if (number + 1) % _HUNDRED == 0:
                readings.append(round(pss()))
    return {"resets": resets, "mib_after_first_hundred": readings[:1], "mib_after_last_hundred": readings[-1:]}


def peer(options: argparse.Namespace, folder: Path, site: str) -> dict[str, Any]:
    """Steps a second of BrowserGym's own task of the page."""
    python = environment(options.installed / "browsergym", _PACKAGES)
    surroundings = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8",
                    "MINIWOB_URL": f"{site}/miniwob/",
                    "PYTHONPATH": str(_ROOT / "examples" / "environments"),
                    "PLAYWRIGHT_BROWSERS_PATH": str(browsers_for(python, folder / "browsers"))}
    found = done(python, ["6", "--miniwob", _PAGE, *_PRESSED], surroundings)
    return {"steps_per_s": round(1 / statistics.fmean(found["steps"]), 2),
            "reset_s": round(statistics.median(found["resets"]), 3)}


async def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    task, figures = read_task(folder / "recorded"), dict[str, Any]()
    figures["pool"] = [await at_size(task, size) for size in options.sizes]
    if options.separate:
        figures["separate"] = await separate(task.recording, folder / "runs", options.separate)
    if options.resets:
        figures["growth"] = await growth(task, options.resets)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=[1, 8, 16, 32])
    parser.add_argument("--resets", type=int, default=1000, help="how often one attempt is begun anew")
    parser.add_argument("--separate", type=int, default=4, help="attempts with a browser each")
    parser.add_argument("--peer", action="store_true", help="also BrowserGym's MiniWoB task")
    parser.add_argument("--installed", type=Path, default=Path.home() / ".cache" / "demotape-applications",
                        help="folder of the installed environment of the peer")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="demotape-benchmark-", ignore_cleanup_errors=True) as name, \
            serve(miniwob_folder()) as site:
        folder = Path(name)
        asyncio.run(record(folder / "recorded", site))
        figures = asyncio.run(measure(options, folder))
        if options.peer:
            figures["browsergym"] = peer(options, folder, site)
    print(json.dumps({"benchmark": "environments"} | figures))
    sys.exit(any(size["scores_1"] != size["size"] or size["idle_scores_0"] != size["size"]
                 for size in figures["pool"]))


if __name__ == "__main__":
    main()
