"""The recorder: attaches to a browser context and records its events."""

import asyncio
import time
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, Unpack, cast

from playwright.async_api import BrowserContext, Page
from playwright.async_api import Error as PlaywrightError

from recorder.building.builder import RecordingBuilder
from recorder.building.idle_snapshot import IdleSnapshot
from recorder.building.pending_screenshots import FRAME_DELAY
from recorder.building.recording_clock import SleepWatch
from recorder.devtools import endpoint
from recorder.media.painted_frames import PaintedFrame
from schemas import InputError, limits
from schemas.files import validated
from schemas.formats.agent_steps import AgentReportSchema
from schemas.formats.origin import ProvenanceSchema
from schemas.types.agent_steps import AgentReport
from schemas.types.origin import Provenance
from schemas.types.recordings import Pointing

from . import browser_environment
from .capture_script import ACTION_BEGINS, ACTION_ENDS, first_listener
from .following import Extras
from .playwright_targets import PlaywrightTargets
from .tab import Tab
from .targets import AttachedTargets, Targets

_SETTLE = 5.0  # seconds that a page's last requests may take after the recording's end
_ANSWERED = 10.0  # seconds that pages have to take a script up and to give it back; one that hangs never does
_NO_ADDRESS = ("the recorder reaches the browser only through Playwright, which reports new pages after they have "
               "started: their first events may be missing; start the browser with recorder.browser.launch or "
               "--remote-debugging-port, or pass its address as cdp=")
_EMPTY = ("about:", "chrome:")  # addresses of a tab that shows nothing yet
_TICK = 1.0  # seconds between looks whether the machine slept and which exchanges can be written


class Recorder:
    """Records a Playwright context of a Chromium from `async with` to its end.

    `context`: any BrowserContext; its pages, present and future, are recorded. `directory`: the new recording's
    folder. `cdp`: the `http:` or `ws:` address of the context's browser; it is found where the browser runs on this
    machine and has one, as with `recorder.browser.launch` or `--remote-debugging-port`. Without one, new pages run
    before they are armed, and their first events may be missing: there is a warning then. `keys`: Alt+P pauses and goes
    on, Alt+Z undoes, Alt+S sets `stopped`; the pages do not get these keys. `provenance`: who acts (a person, an agent,
    a script), consent and licence, as in recording.json.

    Raises InputError for another browser, a `cdp` where it does not answer, or a folder that holds a recording;
    DemotapeError at the end when the disk failed on the way (what was written stays readable). Options: `har` keeps the
    network with bodies, `replayable` what it takes to serve it again, `console` what pages write to the console,
    `mhtml` each page as one file, `axtree` lets processing make the accessibility tree of each state, `stills` takes
    pictures only when `Tab.picture` asks for one, which is lighter. While it records, the threads of Python take turns
    more often (`sys.setswitchinterval`), so that its writing does not hold up who acts; and new pages wait for the
    event loop, so do not block it.
    """

    def __init__(self, context: BrowserContext, directory: Path | str, task: str = "", *,
                 cdp: str | None = None, keys: bool = False, provenance: Provenance | None = None, **options: bool):
        self._builder = RecordingBuilder(directory, task, options, on_failure=self._on_failure)
        self._provenance = None if provenance is None else validated(dict(provenance), ProvenanceSchema(), "provenance")
        self._extras = Extras(**{field.name: bool(options.get(field.name)) for field in fields(Extras)})
        self._sized = False  # whether it is known what size pages have
        self.stopped = asyncio.Event()  # set when the recording fails on the way, as on a full disk, and by Alt+S
        self._steer = self._obey if keys else None
        self._context = context
        self._cdp = cdp
        self._tabs: list[Tab] = []
        self._tasks: set[asyncio.Task] = set()
        self._in_context = AsyncExitStack()  # what is taken out of it again

    @property
    def directory(self) -> Path:
        """The recording's folder."""
        return self._builder.directory

    @property
    def recording_id(self) -> str:
        """The recording's id."""
        return self._builder.recording_id

    @property
    def problems(self) -> list[str]:
        """What went wrong without ending the recording, a sentence each."""
        return self._builder.problems

    @property
    def failed(self) -> Exception | None:
        """Why nothing more can be written; None while all is well."""
        return self._builder.failed

    @property
    def listeners(self) -> list[Callable[[dict[str, Any]], None]]:
        """Functions that are called with what the control page shows: lines of actions, chat, the state."""
        return self._builder.listeners

    @property
    def frame_listeners(self) -> list[Callable[[PaintedFrame], None]]:
        """Functions that are called with each painted frame of the shown tab: without secrets, and none of a pause."""
        return self._builder.frame_listeners

    def announce(self, news: dict[str, Any]) -> None:
        """Call the `listeners` with something that the control page shows."""
        self._builder.announce(news)

    def note(self, **facts: Any) -> None:
        """Write fields of recording.json that are known only now."""
        self._builder.note(**facts)

    @property
    def paused(self) -> bool:
        """Whether nothing is being kept at the moment."""
        return self._builder.paused

    @property
    def elapsed(self) -> float:
        """Seconds of the recording so far."""
        return self._builder.elapsed

    @property
    def tabs(self) -> list[Tab]:
        """The tabs in order of appearance, those that were closed too."""
        return list(self._tabs)

    @property
    def shown_tab(self) -> Tab | None:
        """The tab that the person looks at; None before there is one."""
        shown = self._builder.shown
        return next((tab for tab in self._tabs if tab is shown), None)

    @asynccontextmanager
    async def action(self, **report: Unpack[AgentReport]) -> AsyncIterator[AgentReport]:
        """Announce an action of a driver: what its scripts do in the pages becomes turns with `trusted: false`
        and the state before it. Without this they cannot be distinguished from the pages' own scripts; trusted input
        and Playwright's own methods need no announcement.

        `report`: what an agent reports of the step, all optional: reasoning, model, input_tokens, output_tokens, cost
        (US dollars), error, reward. Yields it, so that it can be completed until the action ends; the first turn of the
        step has it in its field `agent`. An exception becomes its `error`. Raises InputError for a report that is not
        valid.
        """
        begin = self.elapsed
        reported = cast(AgentReport, validated(dict(report), AgentReportSchema(), "report of an action"))
        await asyncio.gather(*(tab.announce(ACTION_BEGINS) for tab in self._tabs))
        try:
            yield reported
        except Exception as error:
            if reported:
                reported.setdefault("error", f"{type(error).__name__}: {error}"[:limits.AGENT_TEXT])
            raise
        finally:
            await asyncio.gather(*(tab.announce(ACTION_ENDS) for tab in self._tabs))
            if reported:
                self._builder.agent_reports.add(begin, self.elapsed, reported)

    @contextmanager
    def action_from_thread(self, **report: Unpack[AgentReport]) -> Iterator[AgentReport]:
        """As `action`, for a driver that blocks its thread, which must not be that of the recorder's event loop."""
        action = self.action(**report)
        reported = asyncio.run_coroutine_threadsafe(action.__aenter__(), self._loop).result()
        try:
            yield reported
        except BaseException as error:
            end = action.__aexit__(type(error), error, error.__traceback__)
            asyncio.run_coroutine_threadsafe(end, self._loop).result()
            raise
        asyncio.run_coroutine_threadsafe(action.__aexit__(None, None, None), self._loop).result()

    async def idle_snapshot(self, tab: Tab) -> IdleSnapshot | None:
        """What a tab shows now; None when it does not tell."""
        await tab.capture_last_state()
        return self._builder.idle_snapshot(tab)

    async def checkpoint(self) -> None:
        """Write all that has happened, and what is shown as what it ended with, so that the folder can be read before
        the end. Requests of the last two seconds are written before their pages have told what in them is secret: for
        sessions without secrets, such as those of agents offline."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_SETTLE):
                await asyncio.gather(*(tab.settle() for tab in self._tabs))
        self._builder.release(all_=True)
        await self._save_last_state()
        await asyncio.to_thread(self._builder.drain)

    def pause(self) -> None:
        """Keep nothing from now on until `resume`: no event, no frame, no resource, no utterance."""
        self._builder.pause()

    def resume(self) -> None:
        """Go on after a pause. What the pages show by now is where the recording goes on from."""
        self._builder.resume()
        self._later(self._record_paused_resources())

    def say(self, speaker: str, utterance: str, signal: str | None = None, success: bool | None = None) -> None:
        """Keep an utterance at this moment; raises InputError when it is empty, when paused, or after the end.
        `signal`: your_turn, help or done, with a reason as utterance, which may be empty; `success`: with done."""
        self._builder.chat.say(speaker, utterance, signal, success)

    def add_message(self, speaker: str, message: dict[str, Any], on_written: Callable[[], None],
                    pointing: Pointing | None = None) -> float:
        """Keep a message of a live room; returns its time. See `recorder.building.chat.Chat.add_message`."""
        return self._builder.chat.add_message(speaker, message, on_written, pointing)

    def undo_last(self) -> int | None:
        """Mark the last action as a mistake: its turn will be dropped; returns the number of its event, if any."""
        return self._builder.undo_last()

    def _obey(self, command: str) -> None:
        """What a key in a recorded page asks for."""
        match command:
            case "pause":
                (self.resume if self.paused else self.pause)()
            case "undo":
                self.undo_last()
            case "stop":
                self.stopped.set()

    async def __aenter__(self) -> "Recorder":
        browser = self._context.browser
        if browser and browser.browser_type.name != "chromium":
            raise InputError(f"only a Chromium can be recorded, not {browser.browser_type.name}")
        self._loop = asyncio.get_running_loop()
        self._targets = await self._find_targets()
        try:
            self._builder.begin(f"Chromium {browser.version}" if browser else "Chromium")
            with suppress(TimeoutError):
                async with asyncio.timeout(_ANSWERED):
                    await self._in_context.enter_async_context(await self._context.add_init_script(first_listener()))
            if self._extras.replayable:  # before new pages are tabs: Playwright may open one to look
                self._at_start = await browser_environment.storage_state(self._context)
            await self._targets.begin()
            self._note_browser(await self._targets.version())
            self._context.on("page", self._note_viewport)
            for page in self._context.pages[:1]:
                self._note_viewport(page)
        except BaseException:
            await asyncio.to_thread(self._builder.abandon)
            await self._leave()
            raise
        self._ticking = asyncio.ensure_future(self._tick())
        return self

    async def __aexit__(self, kind, error, trace) -> None:
        await self._settle()
        if self._extras.replayable:
            self._builder.network.browser_environment(self._at_start | await browser_environment.locale(self._context))
        await self._save_last_state()
        self._builder.stop()
        self._ticking.cancel()
        await asyncio.gather(*(tab.disarm() for tab in self._tabs))
        await self._leave()
        await asyncio.to_thread(self._builder.finish, self._builder.now)
        if self.failed and not error:
            raise self.failed

    async def _leave(self) -> None:
        """Leave the context as it was."""
        with suppress(KeyError):  # it was not begun
            self._context.remove_listener("page", self._note_viewport)
        with suppress(PlaywrightError, TimeoutError):  # it is closed, or hangs
            async with asyncio.timeout(_ANSWERED):
                await self._in_context.aclose()
        await self._targets.end()

    async def _find_targets(self) -> Targets:
        """By a connection of our own, where the browser has an address; else through Playwright."""
        if connected := await endpoint.connect(self._context, self._cdp):
            connection, context_id = connected
            connection.on_error = self._on_error
            order = await endpoint.page_targets(self._context)
            return AttachedTargets(connection, context_id, self, order, workers=self._extras.replayable,
                                   bodies=self._extras.har or self._extras.replayable)
        warnings.warn(_NO_ADDRESS, stacklevel=3)
        return PlaywrightTargets(self._context, self)

    def open_tab(self, url: str, opener: Tab | None, *, loaded: bool = False) -> Tab:
        """A tab has appeared; `loaded`: before the recording began."""
        # A new tab of the person's begins empty; one that a link opens apart from its page tells no opener.
        opened = not loaded and (opener is not None or not url.startswith(_EMPTY))
        tab = Tab(len(self._tabs) + 1, url, self._builder, self._extras, opened=opened, loaded=loaded,
                  steer=self._steer)
        self._tabs.append(tab)
        self._builder.add_tab(tab, opener)
        return tab

    def close_tab(self, tab: Tab) -> None:
        """A tab was closed."""
        tab.close()
        self._builder.remove_tab(tab)

    async def _record_paused_resources(self) -> None:
        self._builder.resume_resources(set().union(*[await tab.resources_in_use() for tab in list(self._tabs)]))

    def _later(self, work: Coroutine) -> None:
        """Work that the end of the recording waits for."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _note_browser(self, version: dict[str, str]) -> None:
        self._builder.note(user_agent=version["userAgent"], browser=version["product"].replace("/", " "))
        if self._provenance:
            self._builder.note(provenance=self._provenance)
        if isinstance(self._targets, PlaywrightTargets):
            self._builder.note(armed_late=True)

    def _note_viewport(self, page: Page) -> None:
        """The size that the first page has; later ones may be windows of another."""
        if page.viewport_size and not self._sized:
            self._sized = True
            self._builder.note(viewport=page.viewport_size)

    async def _tick(self) -> None:
        watch = SleepWatch()
        while True:
            await asyncio.sleep(_TICK)
            if (seconds := watch.slept()) > 1:
                self._builder.slept(seconds)
            self._builder.release()

    def _on_error(self, error: Exception) -> None:
        self._builder.on_lost(f"an event of the browser could not be recorded ({type(error).__name__})")

    def _on_failure(self) -> None:
        self._loop.call_soon_threadsafe(self.stopped.set)

    async def _save_last_state(self) -> None:
        if shown := self.shown_tab:
            await shown.capture_last_state()
            self._builder.save_last_state()

    async def _settle(self) -> None:
        """Wait for tabs being armed, for what they have begun, and for the frames that belong to the last events."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_SETTLE):
                await asyncio.gather(self._targets.settle(), *self._tasks, return_exceptions=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(_SETTLE):
                await asyncio.gather(*(tab.settle() for tab in self._tabs))
        for tab in self._tabs:
            tab.requests.end(self._builder.network.exchange)
        until = time.monotonic() + FRAME_DELAY
        while not self._builder.settled and time.monotonic() < until:
            await asyncio.sleep(0.02)
        self._builder.settle()
