"""An attempt that is recorded: its states come from its recorder, its score from its recording."""

import asyncio
from contextlib import suppress
from pathlib import Path

from playwright.async_api import BrowserContext, Page

from pipeline.outcomes.checking import Score
from recorder import Recorder
from recorder.browser.tab import Tab
from recorder.building.idle_snapshot import IdleSnapshot
from schemas import DemotapeError
from schemas.types.origin import Provenance

from .environment import keep_checks, scored
from .live_evidence import LivePage
from .tasks import RecordedTask

_TAB_TIMEOUT_S, _TAB_INTERVAL_S = 5.0, 0.02  # for the recorder to report a new page


class RecordedRun:
    """Records an attempt in `context` to the folder `run`, from `begin` to `end`. `stills`: pictures only when they are
    asked for, and no video."""

    def __init__(self, task: RecordedTask, context: BrowserContext, run: Path, *, stills: bool, agent: str = ""):
        self._task, self._context = task, context
        about: Provenance = {"actor": "agent"}
        if agent:
            about["agent"] = agent
        self._recorder = Recorder(context, run, task.goal, provenance=about, replayable=True, stills=stills)
        self._pages: list[Page] = []
        self._answer = ""

    async def begin(self) -> None:
        """Attach the recorder."""
        for page in self._context.pages:
            self._on_page(page)
        self._context.on("page", self._on_page)
        await self._recorder.__aenter__()

    def _on_page(self, page: Page) -> None:
        self._pages.append(page)

    async def end(self) -> None:
        """Finish the recording, with the answer as the navigator's last utterance and the checks that scored it."""
        with suppress(DemotapeError):  # nothing was answered, or the page has paused it
            self._recorder.say("navigator", self._answer)
        await self._recorder.__aexit__(None, None, None)
        keep_checks(self._task.outcome, self._recorder.directory)

    async def tab_of(self, page: Page) -> Tab | None:
        """The tab of a page, in the order in which they appeared; None for one that the recorder does not report."""
        number = self._pages.index(page)
        with suppress(TimeoutError):
            async with asyncio.timeout(_TAB_TIMEOUT_S):
                while len(self._recorder.tabs) <= number:
                    await asyncio.sleep(_TAB_INTERVAL_S)
                return self._recorder.tabs[number]
        return None

    async def read(self, page: Page) -> IdleSnapshot | None:
        """What a page shows now."""
        tab = await self.tab_of(page)
        return await self._recorder.idle_snapshot(tab) if tab else None

    async def picture(self, page: Page) -> bytes | None:
        """A PNG file of what a page shows."""
        tab = await self.tab_of(page)
        return await tab.picture(asyncio.Event()) if tab else None

    def keep(self, page: LivePage) -> None:
        """The recorder keeps what is shown."""

    async def score(self, answer: str | None) -> Score | None:
        """The result of the outcome checks so far, also of those with expressions."""
        self._answer = self._answer if answer is None else answer
        await self._recorder.checkpoint()
        return await asyncio.to_thread(scored, self._task.outcome, self._recorder.directory, self._answer)
