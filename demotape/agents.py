"""Run agents on recorded tasks, each in a separate environment, scored by the task's outcome checks."""

import asyncio
import importlib
import inspect
import math
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pipeline.batch import refreshed, unlimited_executor
from pipeline.outcomes.checking import Score
from pipeline.outcomes.responses import spoken_answer
from pipeline.workers import WorkLost
from recorder.reader import Recording
from replay.agents.environment import Environment, keep_checks, scored, start_of
from replay.running import running
from schemas import DemotapeError, InputError
from schemas.addresses import split_address
from schemas.files import read_json
from schemas.formats.outcome import OutcomeSchema
from schemas.types.outcome import Outcome

_OVERHEAD_S = 300.0  # seconds for all besides the agent: to start a browser, to begin the run, to score it
RECORDED, IDLE = "recorded", "idle"  # agents of our own: the recorded person, and one that does nothing


@dataclass(frozen=True)
class Task:
    """What an agent is given: the goal, where it begins, what the instructor said, and the `http:` and `ws:` addresses
    of its browser, to which it connects over CDP; the page is the first one of the first context."""

    goal: str
    start_url: str
    said: list[dict[str, Any]]
    cdp: str
    cdp_websocket: str


# Does a task, and returns what it answers, or a dictionary with that as `answer` and any of REPORTED; it may be a
# coroutine function.
Agent = Callable[[Task], Any]
REPORTED: Mapping[str, type | tuple[type, ...]] = {
    "model": str, "steps": int, "input_tokens": int, "output_tokens": int, "cost": (int, float)}


@dataclass(frozen=True)
class Run:
    """The result of an agent on a task. `score`: None where it was not decided; `reason`: why it is not 1; `attempt`:
    from 1; `reported`: what the agent says of itself, see REPORTED."""

    recording: str
    site: str
    score: float | None
    reached: float | None
    seconds: float
    reason: str = ""
    missing: int = 0
    difficulty: str = ""
    agent: str = ""
    attempt: int = 1
    reported: dict[str, Any] = field(default_factory=dict)


def agent_named(name: str) -> Agent | None:
    """The function of `MODULE:FUNCTION`, in the current folder, too; None for one of our own. Raises InputError."""
    if name in (RECORDED, IDLE):
        return None
    module, colon, function = name.partition(":")
    if not colon or not module or not function:
        raise InputError(f"{name}: is not MODULE:FUNCTION, {RECORDED} or {IDLE}")
    if (folder := os.getcwd()) not in sys.path:
        sys.path.insert(0, folder)
    try:
        candidate = getattr(importlib.import_module(module), function)
    except ImportError as error:
        raise InputError(f"{name}: module {module} cannot be imported ({error})") from None
    except AttributeError:
        raise InputError(f"{name}: module {module} has no {function}") from None
    if not callable(candidate):
        raise InputError(f"{name}: is no function")
    agent: Agent = candidate
    return agent


def outcome_of(recording: Recording) -> Outcome:
    """The outcome checks beside a recording; raises InputError when there are none."""
    path = recording.layout.outcome
    if not path.exists():
        raise InputError(f"{path}: has no outcome checks; propose some with: demotape outcome "
                         f"{recording.layout.root} --propose")
    outcome: Outcome = read_json(path, OutcomeSchema())
    return outcome


def run_all(name: str, recordings: Sequence[Path], runs: Path, jobs: int, seconds: float,
            scheduler: str | None = None, *, repeat: int = 1, finished: Collection[tuple[str, int]] = ()
            ) -> Iterator[Run]:
    """Run an agent on recordings, `repeat` times on each, in a folder of its own below `runs` for each, several at once
    in processes or on a Dask cluster; the results, in order. One that fails stops no other. `seconds`: that an agent
    has for a task; `finished`: names of recordings with the number of an attempt, which are left out.

    Raises what `cluster.connect` does.
    """
    attempts = [(path, number) for number in range(1, repeat + 1) for path in recordings
                if (path.resolve().name, number) not in finished]
    with unlimited_executor(jobs, scheduler) as chosen:
        futures = [chosen.submit(_run_one, name, path, attempt_folder(runs, path, number), seconds)
                   for path, number in attempts]
        for (path, number), future in zip(attempts, futures, strict=True):
            try:
                run = future.result()
            except WorkLost as error:
                run = Run(path.resolve().name, "", None, None, 0.0, f"{path}: {error}")
            except (DemotapeError, BrokenExecutor) as error:
                run = Run(path.resolve().name, "", None, None, 0.0, str(error) or "its process died")
            yield replace(run, agent=name, attempt=number)


def attempt_folder(runs: Path, recording: Path, number: int) -> Path:
    """The folder of an attempt's recording: the first one has the recording's name."""
    name = recording.resolve().name
    return runs / (name if number == 1 else f"{name}-{number}")


def _run_one(name: str, path: Path, runs: Path, seconds: float) -> Run:
    began, site, difficulty = time.monotonic(), "", ""
    try:
        agent_named(name)  # on a cluster, another machine has to know it
        recording = Recording(path)
        outcome = outcome_of(recording)
        difficulty = outcome.get("difficulty", "")
        site = split_address(start_of(recording)[0]).netloc.rpartition("@")[2]
        shutil.rmtree(runs, ignore_errors=True)  # of an attempt that was broken off
        value, reached, reason, missing, reported = asyncio.run(
            _recorded(recording, outcome, runs) if name == RECORDED else
            _acted(name, recording, outcome, runs, seconds))
    except DemotapeError as error:
        return Run(path.resolve().name, site, None, None, round(time.monotonic() - began, 1), str(error), 0, difficulty)
    return Run(path.resolve().name, site, value, reached, round(time.monotonic() - began, 1), reason, missing,
               difficulty, reported=reported)


Scored = tuple[float | None, float | None, str, int, dict[str, Any]]  # score, reached, reason, missing, reported


async def _recorded(recording: Recording, outcome: Outcome, runs: Path) -> Scored:
    """What the recorded person did, done again."""
    demonstration = await asyncio.to_thread(refreshed, recording.layout.root)
    result = await running.run(recording, demonstration, runs / "run-1", replayable=True)
    failed = next((turn_outcome.reason for turn_outcome in result.outcomes if turn_outcome.verdict == "failed"), "")
    answer = next((turn["utterance"] for turn in reversed(demonstration["turns"])
                   if turn["type"] == "chat" and turn["speaker"] == "navigator" and not turn["dropped"]), "")
    keep_checks(outcome, runs / "run-1")
    score = await asyncio.to_thread(scored, outcome, runs / "run-1", spoken_answer(answer, outcome))
    return *_score_columns(score, failed), sum(result.missing.values()), {}


async def _acted(name: str, recording: Recording, outcome: Outcome, runs: Path, seconds: float) -> Scored:
    agent = agent_named(name)
    try:
        async with asyncio.timeout(seconds + _OVERHEAD_S):
            async with Environment(recording, outcome, runs, agent=name) as environment:
                return await attempt(agent, environment, seconds)
    except TimeoutError:
        raise DemotapeError(f"its environment did not respond for {_OVERHEAD_S:g} s; the machine may be too busy for "
                            "this number of parallel tasks") from None


async def attempt(agent: Agent | None, environment: Environment, seconds: float) -> Scored:
    """One run of an agent, none does nothing: its score, the share of checkpoints, why the score is not 1, how many
    requests were not recorded, and what the agent reports of itself."""
    answer, failed, reported = "", "", dict[str, Any]()
    await environment.reset()
    if agent:
        task = Task(environment.goal, environment.start_url, environment.said, environment.cdp,
                    environment.cdp_websocket)
        try:
            async with asyncio.timeout(seconds):
                answer, reported = _answer_and_report(await _called(agent, task))
        except TimeoutError:
            failed = f"the agent took longer than {seconds:g} s"
        except Exception as error:  # it is somebody else's
            failed = f"the agent failed: {type(error).__name__}: {str(error)[:200]}"
    return *_score_columns(await environment.score(answer), failed), sum(environment.missing.values()), reported


def _answer_and_report(returned: Any) -> tuple[str, dict[str, Any]]:
    """What an agent answers, and what it reports. Raises InputError, naming the field, for what is neither."""
    if not isinstance(returned, Mapping):
        return str(returned or ""), {}
    if unknown := [str(name) for name in returned if name != "answer" and name not in REPORTED]:
        raise InputError(f"field {unknown[0][:40]}: unknown; an agent may return answer, {', '.join(REPORTED)}")
    for name, kind in REPORTED.items():
        value = returned.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, kind)
                                  or (isinstance(value, int | float) and not 0 <= value < math.inf)):
            raise InputError(f"field {name}: {value!r:.40} is not valid")
    reported = {name: returned[name] for name in REPORTED if returned.get(name) is not None}
    return str(returned.get("answer") or ""), reported


async def _called(agent: Agent, task: Task) -> Any:
    """What an agent answers; one that is no coroutine works in a thread, for which nobody waits beyond its time."""
    if inspect.iscoroutinefunction(agent):
        return await agent(task)
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[Any] = loop.create_future()

    def resolve(set_: Callable[[Any], None], value: Any) -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(lambda: None if answered.done() else set_(value))

    def work() -> None:
        try:
            answer = agent(task)
        except Exception as error:
            resolve(answered.set_exception, error)
        else:
            resolve(answered.set_result, answer)

    threading.Thread(target=work, daemon=True, name="agent").start()
    return await answered


def _score_columns(score: Score, failed: str) -> tuple[float | None, float | None, str]:
    reasons = [failed, *(check.reason for check in score.checks if not check.holds)]
    return score.value, score.reached, "; ".join(filter(None, reasons))[:500]
