"""Many attempts at recorded tasks in one browser: a context, a proxy and a session of the archive each."""

import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Collection
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any, Literal

from playwright.async_api import Browser, BrowserContext, async_playwright
from playwright.async_api import Error as PlaywrightError

from pipeline.outcomes.evidence import Request
from recorder.browser import launch
from replay.running.offline import context_options, give_cookies, give_storage, without_location
from replay.serving.certificates import Authority
from replay.serving.server import ReplayServer
from schemas import DemotapeError, InputError
from schemas.chromium import NO_DATAGRAMS

from .episode import Episode, Observation, Scoring, States
from .live_evidence import MAX_REQUESTS, LiveScoring, kinds, served
from .live_states import LiveStates
from .recorded_run import RecordedRun
from .tasks import RecordedTask

Level = Literal["none", "actions", "full"]
_CLOSE_TIMEOUT_S = 10.0  # for a context to close; a browser that hangs is replaced


class EnvironmentPool:
    """Serves attempts at recorded tasks, at most `size` at a time; use it with `async with`.

    All share one browser process, which has no way to the network; each has a context of its own, which goes to a proxy
    of its own: no cookies, storage, caches, workers or channels are shared. A browser that has crashed or hangs is
    replaced (`replaced` counts them); the attempts in it fail. `record`: what is kept of each attempt, as a recording
    `TASK-NUMBER` in the folder `runs`: nothing, its actions and states, or also its pictures and video. Tasks with
    expressions in their checks are recorded in any case, as those need a recording. `agent`: its name and version, for
    the recordings.
    """

    def __init__(self, size: int = 16, *, headless: bool = True, record: Level = "none", runs: Path | None = None,
                 agent: str = ""):
        if record != "none" and runs is None:
            raise InputError("runs: recording needs a folder")
        self._record, self._runs, self._agent = record, runs, agent
        self._numbers: Counter[str] = Counter()
        self._free = asyncio.Semaphore(size)
        self._headless = headless
        self._stack = AsyncExitStack()
        self._browser: Browser | None = None
        self._launching = asyncio.Lock()
        self._open: set[Episode] = set()
        self.replaced = 0

    async def __aenter__(self) -> "EnvironmentPool":
        self._playwright = await self._stack.enter_async_context(async_playwright())
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="demotape-environments-",
                                                                            ignore_cleanup_errors=True)))
        self._folder = folder
        self._authority = await asyncio.to_thread(Authority, folder)
        return self

    async def __aexit__(self, *_: object) -> None:
        for episode in list(self._open):
            await self.close(episode)
        if self._browser:
            await self._browser.close()
        await self._stack.aclose()

    @property
    def open_episodes(self) -> int:
        """Attempts that have not been closed."""
        return len(self._open)

    async def begin(self, task: RecordedTask, observe: Collection[str] = ("axtree",), max_steps: int = 100
                    ) -> tuple[Episode, Observation]:
        """Begin an attempt once fewer than `size` are open; close it with `close`. Raises InputError for a recording
        whose network cannot be read, DemotapeError when no browser can be started."""
        await self._free.acquire()
        stack = AsyncExitStack()
        stack.callback(self._free.release)
        try:
            episode = await self._opened(task, observe, max_steps, stack)
            return episode, await episode.begin()
        except PlaywrightError as error:
            await stack.aclose()
            raise DemotapeError(f"{task.id}: the attempt cannot begin ({str(error).splitlines()[0][:200]})") from None
        except BaseException:
            await stack.aclose()
            raise

    async def close(self, episode: Episode) -> None:
        """End an attempt; again, it does nothing."""
        self._open.discard(episode)
        try:
            async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                await episode.close()
        except TimeoutError:
            await self._replace_browser()

    async def _opened(self, task: RecordedTask, observe: Collection[str], max_steps: int, stack: AsyncExitStack
                      ) -> Episode:
        requests: list[Request] = []
        began = time.monotonic()
        archive = await asyncio.to_thread(lambda: task.archive)
        server = await stack.enter_async_context(ReplayServer(
            archive, authority=self._authority,
            on_answer=lambda request, answer: requests.append(served(request, answer, time.monotonic() - began))
            if len(requests) < MAX_REQUESTS else None))
        context = await self._context(await self._running_browser(), task, server)
        stack.push_async_callback(_close_context, context)
        await give_storage(context, task.recording)
        await give_cookies(context, task.recording)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=self._folder, ignore_cleanup_errors=True)))
        states, scoring = await self._observers(task, context, requests, folder, stack)
        episode = Episode(task, context, server, states, scoring, folder, observe, max_steps, stack)
        self._open.add(episode)
        return episode

    async def _observers(self, task: RecordedTask, context: BrowserContext, requests: list[Request], folder: Path,
                         stack: AsyncExitStack) -> tuple[States, Scoring]:
        """What reads and scores an attempt."""
        if self._record == "none" and "script" not in kinds(task.outcome):
            states = LiveStates(context)
            await states.begin()
            return states, LiveScoring(task, requests)
        self._numbers[task.id] += 1
        run = folder / "run" if self._record == "none" or self._runs is None else \
            self._runs / f"{task.id}-{self._numbers[task.id]}"
        recorded = RecordedRun(task, context, run, stills=self._record != "full", agent=self._agent)
        await recorded.begin()
        stack.push_async_callback(recorded.end)
        return recorded, recorded

    async def _context(self, browser: Browser, task: RecordedTask, server: ReplayServer) -> BrowserContext:
        options: dict[str, Any] = context_options(task.recording, task.first) | {
            "proxy": {"server": f"http://127.0.0.1:{server.port}", "bypass": "<-loopback>"}}
        try:
            return await browser.new_context(**options)
        except PlaywrightError:  # a time zone or language that this browser does not know
            return await browser.new_context(**without_location(options))

    async def _running_browser(self) -> Browser:
        async with self._launching:
            if self._browser is None or not self._browser.is_connected():
                self.replaced += self._browser is not None
                self._browser = await launch(self._playwright, headless=self._headless, arguments=[
                    f"--ignore-certificate-errors-spki-list={self._authority.spki}",
                    "--proxy-server=http://127.0.0.1:9",  # contexts name their own; nothing goes anywhere without one
                    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", *NO_DATAGRAMS, "--no-pings",
                    "--dns-prefetch-disable"])
            return self._browser

    async def _replace_browser(self) -> None:
        browser = self._browser
        if browser:
            with suppress(PlaywrightError, TimeoutError):
                async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                    await browser.close()


async def _close_context(context: BrowserContext) -> None:
    with suppress(PlaywrightError):  # its browser has gone
        await context.close()
