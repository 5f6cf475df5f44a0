"""Recorded tasks as an OpenEnv environment (openenv 0.10): reset, step, state and tasks, over HTTP and WebSocket.

Over HTTP, OpenEnv makes an environment for each call and closes it, so only a WebSocket session keeps an attempt.
"""

import asyncio
import base64
from collections.abc import Sequence
from typing import Any

from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
from openenv.core.rubrics.base import Rubric
from pydantic import Field

from replay.agents import episode as episodes
from replay.agents.episode import Episode
from replay.agents.pool import EnvironmentPool
from replay.agents.tasks import ALL, RecordedTask, TaskSet
from schemas import InputError

from .same_origin import SameOrigin

NAME = "demotape"
_NO_ATTEMPT = ("no attempt has begun in this session; call reset first (only WebSocket sessions keep an attempt "
               "between calls)")


class WebAction(Action):
    """One action: a text in a grammar of WebLINX, BrowserGym, WebVoyager or Mind2Web, or a call of a computer tool."""

    action: str = Field("", max_length=20_000, description="such as click('a1-7') or send_msg_to_user('It is done.')")
    computer: dict[str, Any] | None = Field(None, description="a call of Anthropic's or OpenAI's computer tool")


class WebObservation(Observation):
    """What the agent is shown; fields that were not asked for are null. Pictures are PNG files in Base64."""

    goal: str = ""
    url: str = ""
    title: str = ""
    tabs: list[str] = Field(default_factory=list)
    active_tab: int = 0
    viewport: list[int] = Field(default_factory=list, description="width and height in CSS pixels")
    error: str = Field("", description="why the last action was not performed")
    axtree: str | None = None
    dom: str | None = None
    screenshot: str | None = None
    marked_screenshot: str | None = None
    marks: dict[str, Any] | None = None


class WebState(State):
    """The attempt of a session."""

    task_id: str = ""
    split: str = ""
    score: float | None = None
    missing_requests: int = 0
    ended: bool = False


class CheckRubric(Rubric):
    """The share of a task's outcome checks that pass: partial credit, 1 exactly when the task is done."""

    def forward(self, action: Any, observation: Any) -> float:
        """The share after the last action, from 0 to 1."""
        return float(observation.metadata.get("share") or 0.0)


class RecordedEnvironment(Environment[WebAction, WebObservation, WebState]):
    """A session's attempts at recorded tasks, one after the other."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, tasks: TaskSet, pool: EnvironmentPool, loop: asyncio.AbstractEventLoop,
                 observe: Sequence[str], max_steps: int, *, partial: bool = False):
        super().__init__(rubric=CheckRubric())
        self._tasks, self._pool, self._loop = tasks, pool, loop
        self._observe, self._max_steps, self._partial = observe, max_steps, partial
        self._episode: Episode | None = None
        self._episode_id: str | None = None
        self._share = 0.0

    # The task API.

    def list_splits(self) -> list[str]:
        """Names of the splits."""
        return self._tasks.splits

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """Facts of the tasks of a split."""
        return [task.facts for task in self._tasks.tasks(split)]

    def num_tasks(self, split: str) -> int:
        """How many tasks a split has."""
        return len(self._tasks.tasks(split))

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Facts of a task."""
        return self._tasks.task(split, index).facts

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, Any]]:
        """Facts of some tasks of a split."""
        return self.list_tasks(split)[start:stop]

    # An attempt.

    async def reset_async(self, seed: int | None = None, episode_id: str | None = None, *, split: str = ALL,
                          index: int | None = None, task_id: str | None = None, **unknown: Any) -> WebObservation:
        """Begin an attempt at a task: by `task_id`, or by `split` and `index`; without, `seed` chooses (the first one
        without that)."""
        if unknown:
            raise ValueError(f"reset: unknown argument {sorted(unknown)[0][:40]!r}; it takes seed, episode_id, split, "
                             "index and task_id")
        task = self._chosen(split, index, task_id, seed)
        await self._close_episode()
        self._episode, observation = await self._in_loop(self._pool.begin(task, self._observe, self._max_steps))
        self._episode_id, self._share = episode_id, self._episode.share
        await self._reset_rubric_async()
        return self._observation(observation, self._metadata(), None, done=False)

    async def step_async(self, action: WebAction, timeout_s: float | None = None, **_: Any) -> WebObservation:
        """Perform an action. The reward is 1 on the step that completes the task and 0 on others; with partial rewards,
        by how much the share of checks that pass has grown."""
        if self._episode is None:
            raise RuntimeError(_NO_ATTEMPT)
        if bool(action.action) == (action.computer is not None):
            raise ValueError("a step needs exactly one of the fields action and computer")
        step = await self._in_loop(self._episode.step(action.action or action.computer or {}))
        reward = step.share - self._share if self._partial else step.reward
        self._share = step.share
        metadata = self._metadata() | {"checks": list(step.checks), "truncated": step.truncated}
        observation = self._observation(step.observation, metadata, reward, done=step.ended or step.truncated)
        await self._apply_rubric_async(action, observation)
        return observation

    def reset(self, seed: int | None = None, episode_id: str | None = None, **arguments: Any) -> WebObservation:
        """As `reset_async`, from another thread than the server's."""
        work = self.reset_async(seed, episode_id, **arguments)
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def step(self, action: WebAction, timeout_s: float | None = None, **arguments: Any) -> WebObservation:
        """As `step_async`, from another thread than the server's."""
        return asyncio.run_coroutine_threadsafe(self.step_async(action, timeout_s, **arguments), self._loop).result()

    def close(self) -> None:
        """End the session's attempt; the browser goes on with others."""
        if self._episode:
            asyncio.run_coroutine_threadsafe(self._close_episode(), self._loop)

    @property
    def state(self) -> WebState:
        """The attempt so far."""
        if self._episode is None:
            return WebState(episode_id=self._episode_id, step_count=0)
        return WebState(episode_id=self._episode_id, step_count=self._episode.steps, task_id=self._episode.task.id,
                        split=self._episode.task.split, score=self._episode.score, ended=self._episode.ended,
                        missing_requests=sum(self._episode.missing.values()))

    def get_metadata(self) -> EnvironmentMetadata:
        """What the environment is."""
        return EnvironmentMetadata(name=NAME, version="1", description=(
            f"{self.num_tasks(ALL)} recorded web tasks, replayed offline and scored by outcome checks"))

    def _chosen(self, split: str, index: int | None, task_id: str | None, seed: int | None) -> RecordedTask:
        tasks = self._tasks.tasks(split)
        if task_id is not None:
            for task in tasks:
                if task.id == task_id:
                    return task
            raise IndexError(f"unknown task {task_id[:80]!r} in split {split}")
        if index is None:
            index = (seed or 0) % len(tasks)
        return self._tasks.task(split, index)

    async def _close_episode(self) -> None:
        episode, self._episode = self._episode, None
        if episode:
            await self._in_loop(self._pool.close(episode))

    async def _in_loop(self, work: Any) -> Any:
        """Run work in the loop of the pool; OpenEnv may call from a loop of its own."""
        if asyncio.get_running_loop() is self._loop:
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def _metadata(self) -> dict[str, Any]:
        episode = self._episode
        assert episode is not None
        missing = [{"method": method, "url": url, "count": count} for (method, url), count in episode.missing.items()]
        return {"task_id": episode.task.id, "split": episode.task.split, "said": episode.task.said,
                "score": episode.score, "share": episode.share, "step": episode.steps, "missing": missing,
                "diverged": bool(missing)}

    def _observation(self, shown: episodes.Observation, metadata: dict[str, Any], reward: float | None, *, done: bool
                     ) -> WebObservation:
        marked, marks = shown.marks or (None, None)
        return WebObservation(
            goal=shown.goal, url=shown.url, title=shown.title, tabs=list(shown.tabs), active_tab=shown.active_tab,
            viewport=list(shown.viewport), error=shown.error, axtree=shown.axtree, dom=shown.dom,
            screenshot=_base64(shown.screenshot), marked_screenshot=_base64(marked), marks=marks, metadata=metadata,
            reward=reward, done=done)


def _base64(picture: bytes | None) -> str | None:
    return None if picture is None else base64.b64encode(picture).decode()


def make_app(tasks: TaskSet, pool: EnvironmentPool, *, observe: Sequence[str] = ("axtree",), max_steps: int = 100,
             sessions: int = 16, partial: bool = False, loopback: bool = True) -> Any:
    """The ASGI application; for the event loop that runs now. `partial`: rewards by the share of checks that pass;
    `loopback`: refuse requests for other host names than this machine's. Raises InputError for an unknown
    observation."""
    if unknown := [name for name in observe if name not in episodes.OBSERVATIONS]:
        raise InputError(f"unknown observation {unknown[0][:40]!r}; choose from {', '.join(episodes.OBSERVATIONS)}")
    loop = asyncio.get_running_loop()

    class DemotapeEnvironment(RecordedEnvironment):
        """The environment of one session."""

        def __init__(self) -> None:
            super().__init__(tasks, pool, loop, observe, max_steps, partial=partial)

    app = create_app(DemotapeEnvironment, WebAction, WebObservation, env_name=NAME, max_concurrent_envs=sessions,
                     state_cls=WebState)
    return SameOrigin(app, loopback=loopback)
