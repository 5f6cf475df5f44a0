"""Many attempts at recorded tasks in one browser: a context, a proxy and a session of the archive each."""

import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Collection
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Literal

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import async_playwright

from pipeline.outcomes.evidence import Request
from replay.archive.exchanges import Request as ServedRequest
from replay.running.offline import give_cookies, give_storage
from replay.serving.answering import Answer
from schemas import DemotapeError, InputError

from .browser_contexts import BrowserContexts, PreparedContext
from .episode import Episode, Observation, Scoring, States
from .live_evidence import MAX_REQUESTS, LiveScoring, kinds, served
from .live_states import LiveStates
from .recorded_run import RecordedRun
from .tasks import RecordedTask

Level = Literal["none", "actions", "full"]
_CLOSE_TIMEOUT_S = 60.0  # for an attempt to end; a browser that hangs is replaced


class EnvironmentPool:
    """Serves attempts at recorded tasks, at most `size` at a time; use it with `async with`.

    All share one browser process, which has no way to the network; each has a context of its own, which goes to a proxy
    of its own: no cookies, storage, caches, workers or channels are shared. A browser that has crashed or hangs is
    replaced (`replaced` counts them); the attempts in it fail. `record`: what is kept of each attempt, as a recording
    `TASK-NUMBER` in the folder `runs`: nothing, its actions and states, or also its pictures and video. Tasks with
    expressions in their checks are recorded in any case, as those need a recording. `agent`: its name and version, for
    the recordings. `warm`: contexts that are prepared in advance for each size and language of browser.
    """

    def __init__(self, size: int = 16, *, headless: bool = True, record: Level = "none", runs: Path | None = None,
                 agent: str = "", warm: int = 1):
        if record != "none" and runs is None:
            raise InputError("runs: recording needs a folder")
        self._record, self._runs, self._agent = record, runs, agent
        self._headless, self._warm = headless, warm
        self._numbers: Counter[str] = Counter()
        self._free = asyncio.Semaphore(size)
        self._stack = AsyncExitStack()
        self._open: set[Episode] = set()
        self._closing: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "EnvironmentPool":
        playwright = await self._stack.enter_async_context(async_playwright())
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="demotape-environments-",
                                                                            ignore_cleanup_errors=True)))
        self._contexts = await asyncio.to_thread(BrowserContexts, playwright, folder, headless=self._headless,
                                                 warm=self._warm)
        return self

    async def __aexit__(self, *_: object) -> None:
        for episode in list(self._open):
            await self.close(episode)
        await asyncio.gather(*self._closing)
        await self._contexts.close()
        await self._stack.aclose()

    @property
    def open_episodes(self) -> int:
        """Attempts that have not been closed."""
        return len(self._open)

    @property
    def replaced(self) -> int:
        """How often the browser has been started anew."""
        return self._contexts.replaced

    async def begin(self, task: RecordedTask, observe: Collection[str] = ("axtree",), max_steps: int = 100
                    ) -> tuple[Episode, Observation]:
        """Begin an attempt once fewer than `size` are open; close it with `close`. Raises InputError for a recording
        whose network cannot be read, DemotapeError when no browser can be started."""
        await self._free.acquire()
        async with AsyncExitStack() as begun, AsyncExitStack() as stack:
            begun.callback(self._free.release)
            try:
                episode = await self._opened(task, observe, max_steps, stack)
                observation = await episode.begin()
            except PlaywrightError as error:
                reason = str(error).splitlines()[0][:200]
                raise DemotapeError(f"{task.id}: the attempt cannot begin ({reason})") from None
            episode.stack = stack.pop_all()
            begun.pop_all()
        self._open.add(episode)
        return episode, observation

    async def close(self, episode: Episode) -> None:
        """End an attempt; again, it does nothing. One that is not recorded ends in the background."""
        if episode not in self._open:
            return
        self._open.discard(episode)
        self._free.release()
        work = asyncio.ensure_future(self._close(episode))
        self._closing.add(work)
        work.add_done_callback(self._closing.discard)
        if self._record != "none":
            await work

    async def _close(self, episode: Episode) -> None:
        try:
            async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                await episode.close()
        except TimeoutError:
            await self._contexts.close_browser()

    async def _opened(self, task: RecordedTask, observe: Collection[str], max_steps: int, stack: AsyncExitStack
                      ) -> Episode:
        archive = await asyncio.to_thread(lambda: task.archive)
        prepared = await self._contexts.take(task)
        stack.push_async_callback(prepared.close)
        requests: list[Request] = []
        began = time.monotonic()

        def keep_request(request: ServedRequest, answer: Answer) -> None:
            if len(requests) < MAX_REQUESTS:
                requests.append(served(request, answer, time.monotonic() - began))

        prepared.server.serve(archive)
        prepared.server.on_answer = keep_request
        await give_storage(prepared.context, task.recording)
        await give_cookies(prepared.context, task.recording)
        states, scoring = await self._observers(task, prepared, requests, stack)
        return Episode(task, prepared.context, prepared.server, states, scoring, prepared.folder, observe, max_steps)

    async def _observers(self, task: RecordedTask, prepared: PreparedContext, requests: list[Request],
                         stack: AsyncExitStack) -> tuple[States, Scoring]:
        """What reads and scores an attempt."""
        if self._record == "none" and "script" not in kinds(task.outcome):
            states = LiveStates(prepared.context)
            await states.begin()
            return states, LiveScoring(task, requests)
        self._numbers[task.id] += 1
        run = prepared.folder / "run" if self._record == "none" or self._runs is None else \
            self._runs / f"{task.id}-{self._numbers[task.id]}"
        recorded = RecordedRun(task, prepared.context, run, stills=self._record != "full", agent=self._agent)
        await recorded.begin()
        stack.push_async_callback(recorded.end)
        return recorded, recorded
