"""A recorded task as tools of an MCP server over standard input and output: for agents and harnesses that speak MCP."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from replay.agents.episode import Action, Episode, Observation
from replay.agents.pool import EnvironmentPool
from replay.agents.tasks import RecordedTask
from schemas import DemotapeError
from schemas.files import dump_json, write_atomically

from .observation_text import as_text, pictures

_INSTRUCTIONS = ("A web browser with a task. Call task_description first, act until the task is done, then call "
                 "finish. Elements are named by the uid in square brackets of the accessibility tree.")
Content = list[str | Image]


@dataclass
class _Attempt:
    """The attempt of this process: begun with the first call of a tool."""

    task: RecordedTask
    pool: EnvironmentPool
    observe: Sequence[str]
    max_steps: int
    results: Path | None
    episode: Episode | None = None
    last: Observation | None = None
    ended: bool = False

    async def observed(self) -> Observation:
        """What the agent is shown now. Raises ToolError where the attempt cannot begin."""
        if self.episode is None or self.last is None:
            try:
                self.episode, self.last = await self.pool.begin(self.task, self.observe, self.max_steps)
            except DemotapeError as error:
                raise ToolError(str(error)) from None
            self._write()
        return self.last

    async def act(self, action: Action) -> Observation:
        """Perform an action. Raises ToolError after the end."""
        await self.observed()
        if self.ended or self.episode is None:
            raise ToolError("the attempt has ended")
        step = await self.episode.step(action)
        self.last, self.ended = step.observation, step.ended or step.truncated
        self._write()
        return step.observation

    def _write(self) -> None:
        """Keep the result so far, which the agent does not see."""
        if self.results and self.episode:
            missing = sum(self.episode.missing.values())
            write_atomically(self.results, dump_json({
                "task": self.task.id, "score": self.episode.score, "share": self.episode.share,
                "steps": self.episode.steps, "ended": self.ended, "missing": missing}))


def serve_stdio(task: RecordedTask, pool: EnvironmentPool, *, observe: Sequence[str] = ("axtree",),
                max_steps: int = 100, results: Path | None = None) -> None:
    """Serve a task until standard input ends. `results`: a JSON file that always has the attempt's score so far."""
    attempt = _Attempt(task, pool, observe, max_steps, results)

    @asynccontextmanager
    async def lifespan(_: MCPServer[Any]) -> AsyncIterator[None]:
        async with pool:
            yield

    server = MCPServer[Any]("demotape", instructions=_INSTRUCTIONS, lifespan=lifespan, log_level="ERROR")

    @server.tool()
    async def task_description() -> str:
        """The task, the address of its first page, and what the instructor has said."""
        said = "".join(f"\ninstructor: {line['utterance']}" for line in task.said)
        return f"{task.goal}\nStart page: {task.start_url}{said}"

    @server.tool(structured_output=False)
    async def observe_page() -> Content:
        """The page as it is now: address, open tabs, accessibility tree, and a screenshot where it is offered."""
        return _content(await attempt.observed())

    @server.tool(structured_output=False)
    async def act(action: str) -> Content:
        """Perform one action, such as click('a1-7'), fill('a1-3', 'Paris'), select_option('a1-5', 'Large'),
        press('a1-3', 'Enter'), scroll(0, 400), goto('https://shop.example/'), go_back(), tab_focus(1); then the page as
        it is now."""
        return _content(await attempt.act(action))

    @server.tool(structured_output=False)
    async def computer(call: dict[str, Any]) -> Content:
        """Perform a call of Anthropic's or OpenAI's computer tool, such as {"action": "left_click", "coordinate":
        [10, 20]}; then the page as it is now."""
        return _content(await attempt.act(call))

    @server.tool()
    async def finish(answer: str = "") -> str:
        """End the attempt, with the answer to the task if it asks for one."""
        if not attempt.ended:
            await attempt.act(f"send_msg_to_user({answer!r})")
        return "The attempt has ended."

    server.run("stdio")


def _content(shown: Observation) -> Content:
    return [as_text(shown), *(Image(data=picture, format="png") for picture in pictures(shown))]
