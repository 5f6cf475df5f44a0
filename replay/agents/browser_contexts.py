"""Browser contexts for attempts in one browser, each with a separate proxy; some are prepared in advance."""

import asyncio
import json
import tempfile
from collections import defaultdict
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, Playwright
from playwright.async_api import Error as PlaywrightError

from recorder.browser import launch
from replay.archive.exchanges import Archive
from replay.running.offline import context_options, without_location
from replay.serving.certificates import Authority
from replay.serving.server import ReplayServer
from schemas.chromium import NO_DATAGRAMS

from .tasks import RecordedTask

_CLOSE_TIMEOUT_S = 10.0  # for a context or the browser to close
_NOWHERE = "http://127.0.0.1:9"  # the proxy of what has none of its own


@dataclass(eq=False)
class PreparedContext:
    """A context with one empty page, the server behind its proxy, and a folder for files; `stack` ends all of it."""

    context: BrowserContext
    server: ReplayServer
    folder: Path
    stack: AsyncExitStack

    @property
    def is_usable(self) -> bool:
        """Whether its browser still runs."""
        browser = self.context.browser
        return browser is not None and browser.is_connected()

    async def close(self) -> None:
        """End it; a browser that does not respond is not waited for."""
        with suppress(TimeoutError, PlaywrightError):
            async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                await self.stack.aclose()


class BrowserContexts:
    """Makes contexts in one browser, which is started when the first is asked for, and anew after it has crashed
    (`replaced` counts that). `warm`: how many are prepared in advance for each kind of task."""

    def __init__(self, playwright: Playwright, folder: Path, *, headless: bool, warm: int):
        self._playwright, self._folder, self._headless, self._warm = playwright, folder, headless, warm
        self._authority = Authority(folder)
        self._browser: Browser | None = None
        self._launching = asyncio.Lock()
        self._prepared: defaultdict[str, list[PreparedContext]] = defaultdict(list)
        self._preparing: set[asyncio.Task[None]] = set()
        self.replaced = 0

    async def take(self, task: RecordedTask) -> PreparedContext:
        """A context as a task begins in, which nobody has used. Raises PlaywrightError when none can be made."""
        options = context_options(task.recording, task.first)
        key = json.dumps(options, sort_keys=True, default=str)
        prepared = None
        while self._prepared[key] and not (prepared and prepared.is_usable):
            prepared = self._prepared[key].pop(0)
            if not prepared.is_usable:
                await prepared.close()
        work = asyncio.ensure_future(self._refill(key, options))
        self._preparing.add(work)
        work.add_done_callback(self._preparing.discard)
        return prepared if prepared and prepared.is_usable else await self._prepare(options)

    async def close(self) -> None:
        """End the prepared contexts and the browser."""
        for work in self._preparing:
            work.cancel()
        await asyncio.gather(*self._preparing, return_exceptions=True)
        await asyncio.gather(*(prepared.close() for several in self._prepared.values() for prepared in several))
        await self.close_browser()

    async def close_browser(self) -> None:
        """End the browser, also one that does not respond; the next context starts another."""
        if self._browser:
            with suppress(PlaywrightError, TimeoutError):
                async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                    await self._browser.close()

    async def _refill(self, key: str, options: dict[str, Any]) -> None:
        with suppress(PlaywrightError):  # whoever takes the next one is told
            while len(self._prepared[key]) < self._warm:
                self._prepared[key].append(await self._prepare(options))

    async def _prepare(self, options: dict[str, Any]) -> PreparedContext:
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(ReplayServer(Archive(()), authority=self._authority))
            context = await self._context(await self._running_browser(), options, server)
            stack.push_async_callback(_close_context, context)
            await context.new_page()
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=self._folder,
                                                                          ignore_cleanup_errors=True)))
            return PreparedContext(context, server, folder, stack.pop_all())

    async def _context(self, browser: Browser, options: dict[str, Any], server: ReplayServer) -> BrowserContext:
        proxy: Any = {"server": f"http://127.0.0.1:{server.port}", "bypass": "<-loopback>"}
        try:
            return await browser.new_context(proxy=proxy, **options)
        except PlaywrightError:  # a time zone or language that this browser does not know
            return await browser.new_context(proxy=proxy, **without_location(options))

    async def _running_browser(self) -> Browser:
        async with self._launching:
            if self._browser is None or not self._browser.is_connected():
                self.replaced += self._browser is not None
                self._browser = await launch(self._playwright, headless=self._headless, arguments=[
                    f"--ignore-certificate-errors-spki-list={self._authority.spki}", f"--proxy-server={_NOWHERE}",
                    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", *NO_DATAGRAMS, "--no-pings",
                    "--dns-prefetch-disable"])
            return self._browser


async def _close_context(context: BrowserContext) -> None:
    with suppress(PlaywrightError):  # its browser has gone
        await context.close()
