"""Recorded tasks as a task of Inspect (inspect_ai): a sample a recording, tools that act, a scorer of outcome checks.

All evaluations of a process share one browser, which ends with the run; attempts share no data.
"""

import asyncio
import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipeline import extras
from replay.agents.episode import Action, Episode, Observation, Step
from replay.agents.pool import EnvironmentPool
from replay.agents.tasks import ALL, RecordedTask, read_task_set
from schemas import DemotapeError

from .observation_text import as_text, pictures

with extras.importing("inspect"):
    from inspect_ai import Task, task
    from inspect_ai.agent import react
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.hooks import Hooks, RunEnd, hooks
    from inspect_ai.model import ContentImage, ContentText
    from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer, stderr
    from inspect_ai.solver import Generate, Solver, TaskState, solver
    from inspect_ai.tool import Tool, ToolError, tool
    from inspect_ai.util import store

_MAX_ATTEMPTS = 256  # that one browser serves at a time; Inspect limits them further (--max-samples)
_UNLIMITED = 0  # bytes of a tool's result: a cut accessibility tree would hide what to click
_ATTEMPT = "demotape_attempt"  # key of a sample's store that has the id of its attempt
_PROMPT = "You act in a web browser. Look at the page, then act until the task is done."
Content = list[ContentText | ContentImage]


class _Attempt:
    """The attempt of a sample."""

    def __init__(self, episode: Episode, shown: Observation):
        self.episode, self.shown = episode, shown
        self.last: Step | None = None

    async def act(self, action: Action) -> Observation:
        """Perform an action. Raises ToolError after the end."""
        try:
            self.last = await self.episode.step(action)
        except DemotapeError:
            raise ToolError("the attempt has ended; submit") from None
        self.shown = self.last.observation
        return self.shown


class _Attempts:
    """The attempts of a process, by the uuid of their sample, and the browser that they share."""

    def __init__(self) -> None:
        self.by_sample: dict[str, _Attempt] = {}
        self.pool: EnvironmentPool | None = None
        self._starting = asyncio.Lock()

    async def begin(self, sample: str, recorded: RecordedTask, observe: Sequence[str], max_steps: int) -> _Attempt:
        """Begin the attempt of a sample."""
        async with self._starting:
            if self.pool is None:
                pool = EnvironmentPool(_MAX_ATTEMPTS)
                self.pool = await pool.__aenter__()
                hooks(name="demotape_browser", description="ends the browser of recorded tasks")(_EndOfRun)
        attempt = _Attempt(*await self.pool.begin(recorded, observe, max_steps))
        self.by_sample[sample] = attempt
        return attempt

    async def end(self, sample: str) -> None:
        """End the attempt of a sample, if it has begun."""
        attempt = self.by_sample.pop(sample, None)
        if attempt and self.pool:
            await self.pool.close(attempt.episode)

    async def close(self) -> None:
        """End the browser."""
        pool, self.pool = self.pool, None
        self._starting = asyncio.Lock()  # another run may have another event loop
        if pool:
            await pool.__aexit__(None, None, None)


_attempts = _Attempts()


class _EndOfRun(Hooks):
    """Ends the browser after the last sample of a run. Registered with the first attempt: Inspect prints the hooks that
    are registered when it starts, also where an evaluation has nothing to do with them."""

    def enabled(self) -> bool:
        return _attempts.pool is not None

    async def on_run_end(self, data: RunEnd) -> None:
        await _attempts.close()


@task
def recorded_tasks(recordings: str | list[str], split: str = ALL, splits_of: str = "",
                   observe: str | list[str] = "axtree,screenshot", max_steps: int = 100,
                   agent: Solver | None = None) -> Task:
    """The tasks of recordings (paths, separated by commas). `splits_of`: folder of an export whose `split` is
    evaluated; `observe`: content of observations, as of `demotape env serve`; `agent`: instead of a ReAct agent with
    the tools of `browser_tools`. Raises InputError for recordings that are no tasks, IndexError for an unknown split.
    """
    tasks = read_task_set([Path(path) for path in _listed(recordings)], Path(splits_of) if splits_of else None)
    chosen = {one.id: one for one in tasks.tasks(split)}
    samples = [Sample(id=name, input=_input(one), metadata={"split": one.split, "start_url": one.start_url})
               for name, one in chosen.items()]
    return Task(dataset=MemoryDataset(samples, name="recorded_tasks"),
                setup=begin_attempt(chosen, _listed(observe), max_steps),
                solver=agent or react(prompt=_PROMPT, tools=browser_tools()), scorer=outcome_checks(),
                cleanup=_end_attempt)


@solver
def begin_attempt(tasks: dict[str, RecordedTask], observe: Sequence[str], max_steps: int) -> Solver:
    """Begins the attempt of a sample, whose id is that of its task."""
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.store.set(_ATTEMPT, state.uuid)
        await _attempts.begin(state.uuid, tasks[str(state.sample_id)], observe, max_steps)
        return state

    return solve


def browser_tools() -> list[Tool]:
    """The tools of an agent: look at the page, act in a notation, act as with a computer tool."""
    return [observe_page(), act(), computer()]


@tool(max_output=_UNLIMITED)
def observe_page() -> Tool:
    """Shows the page."""
    async def execute() -> Content:
        """The page as it is now: address, open tabs, accessibility tree, and a screenshot where it is offered."""
        return _content(_current().shown)

    return execute


@tool(max_output=_UNLIMITED)
def act() -> Tool:
    """Acts in the notation of BrowserGym and others."""
    async def execute(action: str) -> Content:
        """Perform one action, such as click('a1-7'), fill('a1-3', 'Paris'), select_option('a1-5', 'Large'),
        press('a1-3', 'Enter'), scroll(0, 400), goto('https://shop.example/'), go_back(), tab_focus(1); then the page as
        it is now.

        Args:
            action: The action; elements are named by the uid in square brackets of the accessibility tree.
        """
        return _content(await _current().act(action))

    return execute


@tool(max_output=_UNLIMITED)
def computer() -> Tool:
    """Acts with calls of a computer tool."""
    async def execute(call: dict[str, Any]) -> Content:
        """Perform a call of Anthropic's or OpenAI's computer tool; then the page as it is now.

        Args:
            call: The call, such as {"action": "left_click", "coordinate": [10, 20]}.
        """
        return _content(await _current().act(call))

    return execute


@scorer(metrics=[accuracy(), stderr()])
def outcome_checks() -> Scorer:
    """1 if all outcome checks of the task pass at the end, with what was submitted as the answer."""
    async def score(state: TaskState, target: Target) -> Score:
        attempt = _attempts.by_sample[state.uuid]
        answer = state.output.completion
        if not attempt.episode.ended:
            await attempt.act(f"send_msg_to_user({answer!r})")
        checks = list(attempt.last.checks) if attempt.last else []
        missing = sum(attempt.episode.missing.values())
        return Score(value=attempt.episode.score or 0.0, answer=answer,
                     explanation="\n".join(f"{check['kind']}: {check['reason']}" for check in checks),
                     metadata={"share": attempt.episode.share, "steps": attempt.episode.steps, "checks": checks,
                               "undecided": attempt.episode.score is None, "missing": missing})

    return score


async def _end_attempt(state: TaskState) -> None:
    await _attempts.end(state.uuid)


def _current() -> _Attempt:
    """The attempt of the sample whose tool is called."""
    return _attempts.by_sample[store().get(_ATTEMPT, "")]


def _input(recorded: RecordedTask) -> str:
    return "\n".join([recorded.goal, *(f"instructor: {line['utterance']}" for line in recorded.said)])


def _content(shown: Observation) -> Content:
    images = [ContentImage(image=f"data:image/png;base64,{base64.b64encode(picture).decode()}")
              for picture in pictures(shown)]
    return [ContentText(text=as_text(shown)), *images]


def _listed(values: str | Sequence[str]) -> list[str]:
    """The values of an argument that is a list, or a text with commas as a command line has it."""
    return [value for value in values.split(",") if value] if isinstance(values, str) else list(values)
