"""Recorded tasks for verifiers (verifiers.v1): a taskset, and the environment that plays the user of its tasks.

verifiers finds both by a top-level module that exports them, such as a file of two lines:

    from demotape.trainers.verifiers_tasks import RecordedEnv, RecordedTaskset
    __all__ = ["RecordedEnv", "RecordedTaskset"]
"""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field

from pipeline import extras
from replay.agents.episode import Observation
from replay.agents.pool import EnvironmentPool
from replay.agents.tasks import ALL, read_task, read_task_set

from .observation_text import as_text, pictures

with extras.importing("verifiers"):
    import verifiers.v1 as vf

__all__ = ["RecordedEnv", "RecordedEnvConfig", "RecordedTaskset", "RecordedTasksetConfig"]
_MAX_ATTEMPTS = 256  # that the browser serves at a time; verifiers limits them further (--max-concurrent)
_INTRODUCTION = """You act in a web browser. Answer with one action and nothing else, such as click('a1-7'),
fill('a1-3', 'Paris'), select_option('a1-5', 'Large'), press('a1-3', 'Enter'), scroll(0, 400),
goto('https://shop.example/') or go_back(). Elements are named by the uid in square brackets. When the task is done:
send_msg_to_user('the answer').

Task: {goal}"""


class RecordedTaskData(vf.TaskData):
    """A task as traces contain it."""

    recording: str
    split: str


class RecordedTasksetConfig(vf.TasksetConfig):
    """Which tasks are loaded."""

    recordings: list[str] = Field(default_factory=list)
    """Folders of recordings."""
    splits_of: str | None = None
    """Folder of an export whose splits are used; without one, all tasks are in train."""
    split: str = ALL
    """The split that is loaded."""


class RecordedTaskset(vf.Taskset[vf.Task[RecordedTaskData], RecordedTasksetConfig]):
    """Recorded tasks. Raises InputError for recordings that are no tasks, IndexError for an unknown split."""

    def load(self) -> Iterator[vf.Task[RecordedTaskData]]:
        """The tasks of the split."""
        export = self.config.splits_of
        tasks = read_task_set([Path(path) for path in self.config.recordings], Path(export) if export else None)
        for number, task in enumerate(tasks.tasks(self.config.split)):
            yield vf.Task(RecordedTaskData(idx=number, name=task.id, description=task.goal, split=task.split,
                                           recording=str(task.recording.layout.root)), self.config.task)


class RecordedEnvConfig(vf.EnvConfig):
    """How attempts run."""

    agent: vf.AgentConfig = vf.AgentConfig()
    observe: list[str] = Field(default_factory=lambda: ["axtree"])
    """Content of observations: axtree, dom, screenshot, marks."""
    max_steps: int = 100
    """Number of actions after which an attempt ends."""
    rewards: str = "success"
    """success: 1 when the task is done; checks: the share of outcome checks that pass at the end."""


class RecordedEnv(vf.Env[RecordedEnvConfig]):
    """Shows the page, performs the answer as an action, and so on until the task is done."""

    _pool: EnvironmentPool | None = None

    async def start(self) -> None:
        """Start the browser of all attempts."""
        self._pool = await EnvironmentPool(_MAX_ATTEMPTS).__aenter__()

    async def stop(self) -> None:
        """End it."""
        if self._pool:
            await self._pool.__aexit__(None, None, None)

    async def run(self, task: Any, agents: Any) -> None:
        """One attempt."""
        assert self._pool is not None, "the environment has not been started"
        recorded = read_task(Path(task.data.recording), task.data.split)
        episode, shown = await self._pool.begin(recorded, self.config.observe, self.config.max_steps)
        try:
            said = "".join(f"\ninstructor: {line['utterance']}" for line in recorded.said)
            introduction = _INTRODUCTION.format(goal=recorded.goal) + said
            async with agents.agent.interaction(task) as interaction:
                segment = await interaction.turn(_message(shown, introduction))
                while not segment.terminated:
                    step = await episode.step(segment.last_reply.strip())
                    if step.ended or step.truncated:
                        break
                    segment = await interaction.turn(_message(step.observation))
            trace, done = interaction.trace, episode.score or 0.0
            trace.record_reward("outcome_checks", episode.share if self.config.rewards == "checks" else done)
            trace.record_metrics({"success": done, "share": episode.share, "steps": episode.steps,
                                  "missing_requests": sum(episode.missing.values())})
        finally:
            await self._pool.close(episode)


def _message(shown: Observation, introduction: str = "") -> Any:
    """What the model is sent: text, and pictures where they were requested."""
    text = f"{introduction}\n\n{as_text(shown)}".strip()
    images = [vf.ImageUrlContentPart(image_url=vf.ImageUrlSource(
        url=f"data:image/png;base64,{base64.b64encode(picture).decode()}")) for picture in pictures(shown)]
    return [vf.UserMessage(content=[vf.TextContentPart(text=text), *images])] if images else text
