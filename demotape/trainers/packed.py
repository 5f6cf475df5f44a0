"""The application of a folder that `demotape env pack` wrote, for `uvicorn server.app:app`."""

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from replay.agents.pool import EnvironmentPool
from replay.agents.tasks import TaskSet, read_task
from schemas import InputError

from .openenv_app import make_app


def packed_app(tasks: Path, *, observe: Sequence[str], max_steps: int, sessions: int, rewards: str) -> "PackedApp":
    """The application of a folder `tasks` with a folder for each split, which has the recordings. Raises InputError for
    one that is not whole."""
    packed = [read_task(recording, split.name) for split in sorted(tasks.iterdir()) if split.is_dir()
             for recording in sorted(split.iterdir())]
    if not packed:
        raise InputError(f"{tasks}: contains no tasks")
    options = {"observe": observe, "max_steps": max_steps, "sessions": sessions, "partial": rewards == "checks"}
    return PackedApp(TaskSet(packed), options)


class PackedApp:
    """An ASGI application that starts its browser with the server and ends it with it."""

    def __init__(self, tasks: TaskSet, options: dict[str, Any]):
        self._tasks, self._options = tasks, options
        self._stack = AsyncExitStack()
        self._app: Callable[..., Awaitable[None]] | None = None

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """Handle the server's start and end, and pass on everything else."""
        if scope["type"] != "lifespan":
            assert self._app is not None, "the server has not called the lifespan"
            await self._app(scope, receive, send)
            return
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await self._start()
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self._stack.aclose()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _start(self) -> None:
        pool = await self._stack.enter_async_context(EnvironmentPool(self._options["sessions"]))
        self._app = make_app(self._tasks, pool, loopback=False, **self._options)
