"""A recorded task as tools of an MCP server, over standard input and output or HTTP, for agents that speak MCP."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings

from replay.agents.episode import Action, Episode, Observation
from replay.agents.pool import EnvironmentPool
from replay.agents.tasks import RecordedTask
from schemas import DemotapeError
from schemas.files import dump_json, write_atomically

from .observation_text import as_text, pictures
from .same_origin import SameOrigin

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
    beginning: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def observed(self) -> Observation:
        """What the agent is shown now. Raises ToolError where the attempt cannot begin."""
        async with self.beginning:
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


def make_server(task: RecordedTask, pool: EnvironmentPool, *, observe: Sequence[str] = ("axtree",),
                max_steps: int = 100, results: Path | None = None) -> MCPServer[Any]:
    """The server of one attempt at a task in a pool that is open while it is used. `results`: a JSON file that always
    has the attempt's score so far."""
    attempt = _Attempt(task, pool, observe, max_steps, results)
    server = MCPServer[Any]("demotape", instructions=_INSTRUCTIONS, log_level="ERROR")

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

    return server


def http_app(server: MCPServer[Any], *, loopback: bool) -> SameOrigin:
    """The server as an ASGI application at `/mcp`; `loopback`: refuse host names that are not this machine's. Clients
    may do without sessions, as there is one attempt."""
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # SameOrigin does it
    app = server.streamable_http_app(stateless_http=True, json_response=True, transport_security=unchecked)
    return SameOrigin(app, loopback=loopback)


def _content(shown: Observation) -> Content:
    return [as_text(shown), *(Image(data=picture, format="png") for picture in pictures(shown))]
