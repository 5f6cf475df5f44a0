"""A recording as an environment for agents: any that speaks CDP finds the start state, acts offline, and is scored.

What the agent does is recorded like a person's session, and the outcome checks are compared with that recording.
"""

import asyncio
import socket
import tempfile
import time
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, Page, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from pipeline.outcomes.checking import Score
from pipeline.outcomes.isolated_evaluation import score_session
from pipeline.turns.first_state import first_state
from recorder import Recorder
from recorder.browser import launch_context
from recorder.devtools.endpoint import websocket_of
from recorder.reader import Recording
from replay.archive.reading import read_recording
from replay.running.offline import context_options, give_cookies, give_storage, offline_arguments, without_location
from replay.serving.server import ReplayServer
from schemas import DemotapeError, InputError, RecordingLayout
from schemas.addresses import split_address
from schemas.files import dump_json, write_atomically
from schemas.types.origin import Provenance
from schemas.types.outcome import Outcome
from schemas.types.recordings import State

from .file_guard import FileGuard

_LOADED = 10.0  # seconds that the start page may take
_CDP_TIMEOUT_S = 20.0  # until a browser that has started answers on its port
_CDP_INTERVAL_S = 0.05


def start_of(recording: Recording) -> tuple[str, State | None]:
    """The address at which the session began, and the first state that is known; raises InputError for one that shows
    no page."""
    state = first_state(event["state"] for event in recording.events)
    for event in recording.events:
        shown = event["state"]["url"] if event["state"] else ""
        for url in (shown, str(event["data"].get("url", "")) if event["type"] == "navigate" else ""):
            if url.startswith(("http://", "https://")):
                return url, state
    raise InputError(f"{recording.layout.root}: contains no recorded page")


def scored(outcome: Outcome, run: Path, answer: str) -> Score:
    """What outcome checks say of a recorded run; not for a thread with an event loop."""
    return score_session(Recording(run), outcome, answer)


def keep_checks(outcome: Outcome, run: Path) -> None:
    """Write the checks that a run is scored by beside its recording, so that its result is known where it is imported.
    Pictures that they compare with stay with the original recording."""
    write_atomically(RecordingLayout(run).outcome, dump_json(outcome))


class Environment:
    """A recording that an agent acts in; use it with `async with`, then `reset`.

    `runs`: a folder, in which each run becomes a recording. `port`: on which the browser listens for CDP; 0 takes a
    free one. `agent`: its name and version, for the recordings. Raises InputError when the recording's network was not
    kept.
    """

    def __init__(self, recording: Recording, outcome: Outcome | None, runs: Path, *, port: int = 0,
                 headless: bool = True, agent: str = ""):
        self._recording, self._outcome, self._runs = recording, outcome, runs
        self._port, self._headless = port, headless
        self._about: Provenance = {"actor": "agent",
                                   **({"agent": agent} if agent else {})}  # type: ignore[typeddict-item]
        self._start, self._first = start_of(recording)
        self._stack = AsyncExitStack()
        self._recorder: Recorder | None = None
        self._number = 0

    async def __aenter__(self) -> "Environment":
        """Start the server of the recording and a browser that uses it; on an error, what was started is closed."""
        try:
            self._server = await self._stack.enter_async_context(ReplayServer(read_recording(self._recording)))
            playwright = await self._stack.enter_async_context(async_playwright())
            profile = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="demotape-profile-",
                                                                            ignore_cleanup_errors=True))
            if self._port:
                require_free_port(self._port)  # Chromium goes on without CDP if it is not
            self._context = await self._open(playwright, Path(profile))
            self._stack.push_async_callback(self._context.close)
            self.cdp = f"http://127.0.0.1:{self._port or await asyncio.to_thread(_chosen_port, Path(profile))}"
            self.cdp_websocket = await _websocket(self.cdp)
            await give_storage(self._context, self._recording)
            self._files = await self._stack.enter_async_context(FileGuard(self.cdp))
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.end()
        finally:
            await self._stack.aclose()

    @property
    def goal(self) -> str:
        """What the agent is asked to do."""
        return self._recording.task

    @property
    def start_url(self) -> str:
        """Where it begins."""
        return self._start

    @property
    def said(self) -> list[dict[str, Any]]:
        """What the instructor said, in order."""
        return [{"time": line["time"], "speaker": line["speaker"], "utterance": line["utterance"]}
                for line in self._recording.chat() if line["speaker"] == "instructor"]

    @property
    def proxy_port(self) -> int:
        """The port of the server that answers the browser's requests."""
        return self._server.port

    @property
    def diverged(self) -> bool:
        """Whether this run asked for something that was not recorded: it took another way than the person."""
        return bool(self.missing)

    @property
    def missing(self) -> dict[tuple[str, str], int]:
        """Requests of this run that were not recorded, and for files of this machine, counted by method and address."""
        return self._server.missing | {("GET", url): count for url, count in self._files.refused.items()}

    async def reset(self, *, opened: bool = True) -> Path:
        """Begin a run: one tab, with nothing left of an earlier run; returns its folder. `opened`: at the start page;
        else it is empty, and whoever connects goes there."""
        await self.end()
        self._number += 1
        run = self._runs / f"run-{self._number}"
        page = await self._emptied()
        self._server.reset()
        self._files.refused.clear()
        await give_cookies(self._context, self._recording)
        self._recorder = Recorder(self._context, run, self.goal, cdp=self.cdp, provenance=self._about, replayable=True)
        await self._recorder.__aenter__()
        with suppress(PlaywrightError):  # it takes long, or was not recorded: the agent sees that
            if opened:
                await page.goto(self._start, wait_until="load", timeout=_LOADED * 1000)
        return run

    async def end(self) -> Path | None:
        """End the run; returns its recording, None where none was going on."""
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return None
        await recorder.__aexit__(None, None, None)
        return recorder.directory

    async def score(self, answer: str = "", *, ended: bool = True) -> Score:
        """End the run and hold the outcome checks against it, and keep the answer in its recording; with `ended` false
        it goes on, and what it has come to is scored. Raises InputError without checks, DemotapeError without a run."""
        if self._outcome is None:
            raise InputError(f"{self._recording.layout.outcome}: no outcome checks")
        if self._recorder is None:
            raise DemotapeError("no run; start one with reset")
        run = self._recorder.directory
        if ended:
            with suppress(DemotapeError):  # nothing was answered, or the page has paused it: nothing is kept then
                self._recorder.say("navigator", answer)
        await (self.end() if ended else self._recorder.checkpoint())
        if ended:
            keep_checks(self._outcome, run)
        return await asyncio.to_thread(scored, self._outcome, run, answer)

    async def _open(self, playwright: Playwright, profile: Path) -> BrowserContext:
        """The browser's one context, so that whoever connects finds it first."""
        options = context_options(self._recording, self._first)
        arguments = [*offline_arguments(self._server), f"--remote-debugging-port={self._port}"]
        try:
            return await launch_context(playwright, profile, headless=self._headless, arguments=arguments, **options)
        except PlaywrightError as error:
            if not options.keys() & {"locale", "timezone_id"}:
                raise DemotapeError(str(error).splitlines()[0]) from None
            return await launch_context(playwright, profile, headless=self._headless, arguments=arguments,
                                        **without_location(options))

    async def _emptied(self) -> Page:
        """One empty tab, and nothing that pages have kept."""
        page = await self._context.new_page()
        for page_to_close in self._context.pages:
            if page_to_close is not page:
                with suppress(PlaywrightError):
                    await page_to_close.close()
        await self._context.clear_cookies()
        session = await self._context.new_cdp_session(page)
        for origin in self._origins():
            await session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        await session.send("Network.clearBrowserCache")
        await session.detach()
        return page

    def _origins(self) -> set[str]:
        origins = set()
        for exchange in self._recording.exchanges():
            parts = split_address(exchange["url"])
            origins.add(f"{parts.scheme}://{parts.netloc}")
        return origins


def require_free_port(port: int) -> None:
    """Raise InputError for a port of this machine on which something listens, or which may not be used."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as Chromium: past connections do not count
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise InputError(f"port {port} cannot be used ({error.strerror}); choose another, or 0 for a free "
                             "one") from None


def _chosen_port(profile: Path) -> int:
    """The port that a browser chose, from its profile; it writes that only if it chose one."""
    return int((profile / "DevToolsActivePort").read_text(encoding="ascii").split()[0])


async def _websocket(cdp: str) -> str:
    """The browser's `ws:` address. Raises DemotapeError if nothing answers."""
    end = time.monotonic() + _CDP_TIMEOUT_S
    while True:
        try:
            return await websocket_of(cdp)
        except (OSError, ValueError, LookupError) as error:
            if time.monotonic() > end:
                raise DemotapeError(f"{cdp}: the browser does not answer ({error})") from None
        await asyncio.sleep(_CDP_INTERVAL_S)
