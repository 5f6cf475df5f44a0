"""Replay a demonstration turn by turn, and compare each state with the recorded one.

The run is recorded by the recorder, like a person's session: its states are what is compared.
"""

import asyncio
import math
import tempfile
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, Dialog, Page
from playwright.async_api import Error as PlaywrightError

from pipeline.isolation import PAGE, run_isolated
from recorder import Recorder
from recorder.browser.tab import Tab
from recorder.building.idle_snapshot import IdleSnapshot
from recorder.reader import Recording
from replay.archive.exchanges import Archive
from replay.serving.server import ReplayServer
from replay.serving.volatile_values import everything_stable, not_of_the_page
from schemas.formats.proof import VERDICTS
from schemas.types.origin import Provenance
from schemas.types.recordings import State

from .acting import ActionFailed, Actor
from .comparing import Comparison, Facts, compare, describe_scroll, facts, worst
from .finding import ElementMatch, ElementNotFound
from .pictures import Pictures
from .run_report import Outcome, Result
from .timers import inspection_times, run_timers

_POLL_INTERVAL_S = 0.025  # seconds between two looks at a page
_QUIET = 0.06  # seconds without a request after which the network rests
_AT_LEAST, _AT_MOST = 1.0, 2.0  # seconds that a page may take to be as recorded
_RESTS = 0.25  # seconds without a change after which a page that is equivalent will not become the same
_CHANGING = 0.4  # seconds that one may take which goes on changing
_ROUND = 0.15  # seconds that a look at a page takes, with what is before the next, where it is not busy
_MAX_SETTLE_S = 20.0  # seconds after which a page that never answers at once is not waited for
_FAST_QUIET_S, _FAST_LOOKS = 0.02, 5  # seconds without a request before a look of a fast run; looks before it waits
_BROWSERS = ("dialog", "tabcreate", "tabswitch", "tabremove")  # turns that are not of a page
_POINTED = ("click", "dblclick", "hover", "drag")
_TAB = 5.0  # seconds that a tab or a dialog may take to open
_SILENT = 4.0  # seconds after which a page that does not answer is left alone
_NOT_REACHED = "not reached, because an earlier turn failed"


@asynccontextmanager
async def _unless_it_hangs() -> AsyncIterator[None]:
    """What is asked of a page that may be gone, or hang for good."""
    with suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(_SILENT):
            yield


def _read_facts(document: str | bytes) -> Facts:
    """The facts of a page, which is parsed in a process with limits."""
    return run_isolated(PAGE, "page", facts, document)


class Runner:
    """One run in a context of a browser."""

    def __init__(self, recording: Recording, turns: Sequence[Any], context: BrowserContext,
                 server: ReplayServer | None, last: State | None = None, archive: Archive | None = None, *,
                 fast: bool = False):
        self._recording = recording
        self._last_expected = last or recording.manifest.get("last_state")
        self._turns = turns
        self._context = context
        self._server = server
        self._is_fast = fast
        self._pages: list[Page] = []
        self._dialogs = [turn for turn in turns if turn["intent"] == "dialog"]
        self._dialog_times = [event["time"] for event in recording.events if event["type"] == "dialog"]
        self._answered: set[str] = set()  # ids of the turns whose dialog has come
        self._last: IdleSnapshot | None = None  # what was seen last
        self._before = Comparison("same", "", 1.0, 1.0)  # of the turn before
        self._late = 0.0  # seconds by which the newest action came later than its turn
        self._pictures = Pictures(recording)
        self._last_facts = "", _read_facts("<html>")  # the newest document, with its facts
        self._facts = lru_cache(4)(lambda dom: _read_facts(recording.blob(dom)))
        typed = (value for turn in turns for value in turn["arguments"].values() if isinstance(value, str))
        self._fixed = not_of_the_page(archive, typed) if archive else everything_stable
        context.on("page", self._on_page)

    async def run(self, out: Path, task: str, on_turn: Callable[[int, int], None], *, replayable: bool = False
                  ) -> Result:
        """Do all turns; ends at the first that fails."""
        await self._context.clock.install()
        page = await self._context.new_page()
        about: Provenance = {"actor": "script", "agent": "demotape replay"}
        with tempfile.TemporaryDirectory(prefix="demotape-uploads-") as uploads:
            self._uploads = Path(uploads)
            async with Recorder(self._context, out, task, provenance=about, replayable=replayable,
                                stills=True) as self._recorder:
                began = time.monotonic()
                self._clock = self._turns[0]["timestamp"] - began  # to be added to ours: the recording's
                if self._server:
                    self._server.play_until(self._turns[0]["timestamp"])
                await self._begin(page)
                outcomes = await self._do_all(on_turn)
                await self._pictures.wait_until_taken()
                seconds = time.monotonic() - began
        pictures = await asyncio.gather(*(self._pictures.result(outcome.turn) for outcome in outcomes))
        outcomes = [replace(outcome, shown=shown, picture=similarity)
                    for outcome, (shown, similarity) in zip(outcomes, pictures, strict=True)]
        version = f"Chromium {self._context.browser.version}" if self._context.browser else "Chromium"
        return Result(worst([outcome.verdict for outcome in outcomes]), outcomes[-1].verdict, outcomes,
                      round(seconds, 3),
                      max(0.0, round(self._turns[-1]["timestamp"] - self._turns[0]["timestamp"], 3)), version,
                      dict(self._server.missing) if self._server else {})

    async def _do_all(self, on_turn: Callable[[int, int], None]) -> list[Outcome]:
        """The result of each turn."""
        outcomes: list[Outcome] = []
        for number, turn in enumerate(self._turns):
            outcomes.append(await self._turn(number, turn))
            on_turn(number + 1, len(self._turns))
            if outcomes[-1].verdict == "failed":
                return outcomes + [Outcome(turn["id"], turn["intent"], "failed", _NOT_REACHED, 0.0)
                                   for turn in self._turns[number + 1:]]
        return outcomes

    async def _begin(self, page: Page) -> None:
        """Where the session was when the recording started, if it does not begin by going somewhere."""
        first, state = self._turns[0], self._turns[0]["state"]
        if first["intent"] != "load" and state and state["url"].startswith(("http://", "https://")):
            with suppress(PlaywrightError):
                await page.goto(state["url"], wait_until="load")
            await self._settle(state, _AT_MOST)

    async def _turn(self, number: int, turn: Mapping[str, Any]) -> Outcome:
        began = time.monotonic()
        after = self._turns[number + 1] if number + 1 < len(self._turns) else None
        try:
            match = await self._do(turn, opens_dialog=self._opened_dialog(turn, after))
        except (ElementNotFound, ActionFailed) as error:
            return Outcome(turn["id"], turn["intent"], "failed", str(error), round(time.monotonic() - began, 3))
        fresh = self._server and self._server.document
        self._late = 0.0 if fresh else max(0.0, time.monotonic() + self._clock - turn["timestamp"])
        expected = after["state"] if after else self._last_expected
        gap = after["timestamp"] - turn["timestamp"] if after else _AT_MOST
        # The last state was told after its picture was painted, and what timers change is painted.
        until = after["timestamp"] if after else expected and expected["screenshot_time"]
        comparison = await self._settle(expected, min(max(gap, _AT_LEAST), _AT_MOST), until or 0.0, after)
        self._pictures.capture(turn["id"], expected)
        return Outcome(turn["id"], turn["intent"], comparison.verdict, comparison.reason,
                       round(time.monotonic() - began, 3), match.by if match else (),
                       round(match.score, 3) if match else None, round(comparison.elements, 4),
                       round(comparison.texts, 4))

    def _begin_picture(self, expected: Mapping[str, Any] | None) -> None:
        if self._is_fast:
            return
        tab = self._tab(expected["tab"] if expected else self._shown())
        self._pictures.begin(tab.picture if tab else None)

    def _opened_dialog(self, turn: Mapping[str, Any], after: Mapping[str, Any] | None) -> bool:
        """Whether a dialog opened after a turn and before the next, also one whose turn is dropped."""
        until = after["timestamp"] if after else math.inf
        return any(turn["timestamp"] <= time <= until for time in self._dialog_times)

    async def _do(self, turn: Mapping[str, Any], *, opens_dialog: bool) -> ElementMatch | None:
        intent, arguments = turn["intent"], turn["arguments"]
        if intent in _BROWSERS:
            await self._pictures.wait_until_taken()
        match intent:
            case "dialog":
                await self._wait(lambda: turn["id"] in self._answered, "the dialog did not open")
            case "tabcreate":
                await self._tab_created(arguments["tab"])
            case "tabswitch":
                page = await self._page(arguments["target"])
                async with _unless_it_hangs():
                    await page.bring_to_front()
            case "tabremove":
                page = await self._page(arguments["tab"])
                async with _unless_it_hangs():
                    await page.close()
            case _:
                number = turn["state"]["tab"] if turn["state"] else 1
                page = await self._page(number)
                tab = self._tab(number)
                await self._scroll_as_recorded(turn, page)
                actor = Actor(page, tab.worlds if tab else list, self._uploads, ahead=not opens_dialog)
                return await actor.act(intent, arguments, turn["element"], self._pictures.painted)
        return None

    async def _point(self, turn: Mapping[str, Any]) -> bool:
        """Move the pointer to where it was when a turn began: its state was told then, with what shows under the
        pointer, and what a page does when it moves. Returns whether it was moved."""
        point, state, observed = turn["arguments"].get("from", turn["arguments"]), turn["state"], self._last
        if turn["intent"] not in _POINTED or point.get("x") is None or point.get("keyboard"):
            return False
        if not state or not observed:
            return False
        if observed.state["tab"] != state["tab"] or describe_scroll(state["scroll"], observed.state["scroll"]):
            return False
        async with _unless_it_hangs():
            await self._pages[state["tab"] - 1].mouse.move(point["x"], point["y"], steps=2)
        return True

    async def _scroll_as_recorded(self, turn: Mapping[str, Any], page: Page) -> None:
        """Scroll the page to where it was before the turn: who drove it may have done so without an action."""
        state = turn["state"]
        if state and turn["intent"] != "load" and (observed := self._last) and observed.state["tab"] == state["tab"] \
                and observed.state["url"] == state["url"] and describe_scroll(state["scroll"],
                                                                              observed.state["scroll"]):
            await self._pictures.painted()
            async with _unless_it_hangs():
                await page.evaluate("([x, y]) => scrollTo({ left: x, top: y, behavior: 'instant' })",
                                    [state["scroll"]["x"], state["scroll"]["y"]])

    async def _tab_created(self, number: int) -> None:
        """A tab that a page opens comes by itself; one that a person opened is opened here."""
        with suppress(ActionFailed):
            await self._wait(lambda: len(self._pages) >= number, "", _QUIET)
        while len(self._pages) < number:
            await self._context.new_page()

    async def _page(self, number: int) -> Page:
        await self._wait(lambda: len(self._pages) >= number > 0, f"tab {number} did not open")
        return self._pages[number - 1]

    def _tab(self, number: int) -> Tab | None:
        return next((tab for tab in self._recorder.tabs if tab.number == number), None)

    async def _wait(self, condition: Callable[[], bool], otherwise: str, seconds: float = _TAB) -> None:
        until = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > until:
                raise ActionFailed(otherwise)
            await asyncio.sleep(_POLL_INTERVAL_S / 2)

    async def _advance(self, until: float) -> bool:
        """Let the pages' timers run on to a time of the recording; returns whether that was ahead.

        Timers go by the recorded time, which is longer than that of the run: they begin with the newest document.
        """
        if self._server and self._server.document:
            recorded, served = self._server.document
            self._clock, self._server.document = recorded - served, None
        gap = until - (time.monotonic() + self._clock)
        if gap <= 0:
            return False
        self._clock += gap
        async with _unless_it_hangs():
            await run_timers(self._context, gap)
        return True

    async def _run_on(self, moments: deque[float]) -> bool:
        """Let timers run on to the first of the moments that is ahead; returns whether one was."""
        while moments:
            if await self._advance(moments.popleft()):
                return True
        return False

    async def _settle(self, expected: Mapping[str, Any] | None, patience: float, until: float = 0.0,
                      after: Mapping[str, Any] | None = None) -> Comparison:
        """Wait until the page is as it was recorded, or rests and has had its time; returns how it compares. `after`:
        the turn that comes next."""
        if self._is_fast and expected and self._server and (same := await self._reach(self._server, expected, until)):
            return same
        began = last = time.monotonic()
        now = changed = rested = 0.0  # seconds of the page: those in which it is too busy to answer count little
        if self._server:
            self._server.play_until(until or math.inf)
        before = ""
        unpointed: Comparison | None = None  # how it compared before the pointer was moved
        moments: deque[float] | None = None  # that timers have still to run on to
        pictured = False
        while True:
            if self._server and await self._rested(self._server):
                now, last = now + time.monotonic() - last, time.monotonic()
                rested, pictured = now, False
            observed = self._last = await self._observe(expected)
            comparison = self._compare(expected, observed)
            is_same = expected is not None and (comparison.verdict == "same" or self._differed(comparison))
            now, last = now + min(time.monotonic() - last, _ROUND), time.monotonic()
            if observed is None or observed.document != before:
                changed, before = now, observed.document if observed else ""
            quiet = self._server is None or self._server.quiet_for() > _QUIET
            if not quiet:
                rested = now
            elif moments is None:
                moments = deque(inspection_times(until, self._late))
                if await (self._advance(until) if is_same else self._run_on(moments)):
                    if is_same and self._is_fast:
                        break
                    if is_same:  # as it will be after the next look
                        self._begin_picture(expected)
                        pictured = True
                    continue
            if quiet and is_same:
                break
            pictured = False
            if quiet and moments is not None:
                if (not moments or moments[0] > until) and after and await self._point(after):
                    unpointed, after = comparison, None
                    continue
                if await self._run_on(moments):
                    continue
            still = now - changed > _RESTS
            is_equivalent = not expected or comparison.verdict == "equivalent"  # it may not become more so
            if quiet and (still or now - rested > _CHANGING if is_equivalent else still and now > patience):
                break
            if now > patience + _AT_MOST or time.monotonic() - began > _MAX_SETTLE_S:
                break
            await asyncio.sleep(_POLL_INTERVAL_S)
        if not pictured:
            self._begin_picture(expected)
        self._before = min(comparison, unpointed or comparison, key=lambda candidate: VERDICTS.index(candidate.verdict))
        return self._before

    async def _reach(self, server: ReplayServer, expected: Mapping[str, Any], until: float) -> Comparison | None:
        """Compare as soon as nothing is requested; where the page is the same, its timers run on to the recorded time.
        None where it is not, and has to be waited for."""
        server.play_until(until or math.inf)
        began = time.monotonic()
        for _ in range(_FAST_LOOKS):
            while server.quiet_for() < min(_FAST_QUIET_S, time.monotonic() - began):  # only if something was requested
                await asyncio.sleep(_FAST_QUIET_S / 4)
            observed = self._last = await self._observe(expected)
            comparison = self._compare(expected, observed)
            if server.quiet_for() and (comparison.verdict == "same" or self._differed(comparison)):
                await self._advance(until)
                self._before = comparison
                return comparison
            if server.quiet_for() > _QUIET:
                return None
        return None

    async def _rested(self, server: ReplayServer) -> bool:
        """Wait until the network rests, which looks at the page would hold up; returns whether there was to wait."""
        until = time.monotonic() + _CHANGING
        if server.quiet_for() > _QUIET:
            return False
        while (wait := _QUIET - server.quiet_for()) >= 0 and time.monotonic() < until:
            await asyncio.sleep(max(wait, _POLL_INTERVAL_S / 5))
        return True

    def _differed(self, comparison: Comparison) -> bool:
        """Whether what differs is what did a turn ago, and no more: waiting did not help then."""
        before = self._before
        return (comparison.verdict == before.verdict == "equivalent" and comparison.reason == before.reason
                and comparison.differing <= before.differing)

    async def _observe(self, expected: Mapping[str, Any] | None) -> IdleSnapshot | None:
        tab = self._tab(expected["tab"] if expected else self._shown())
        return await self._recorder.idle_snapshot(tab) if tab else None

    def _shown(self) -> int:
        return next((number for number in range(len(self._pages), 0, -1)
                     if not self._pages[number - 1].is_closed()), 1)

    def _compare(self, expected: Mapping[str, Any] | None, observed: IdleSnapshot | None) -> Comparison:
        if expected is None:
            return Comparison("same", "", 1.0, 1.0)
        if observed is None:
            return Comparison("differs", "the state of the page cannot be read", 0.0, 0.0)
        recorded = self._facts(expected["dom"]) if expected["dom"] else None
        if recorded and self._last_facts[0] != observed.document:
            self._last_facts = observed.document, _read_facts(observed.document)
        now = self._last_facts[1] if recorded else None
        return compare(recorded, now, (expected["url"], observed.state["url"]),
                       (expected["scroll"], observed.state["scroll"]), self._fixed)

    def _on_page(self, page: Page) -> None:
        self._pages.append(page)
        page.on("dialog", self._on_dialog)

    async def _on_dialog(self, dialog: Dialog) -> None:
        """Answer a dialog as it was answered; one that did not come then is dismissed."""
        turn = next((turn for turn in self._dialogs if turn["arguments"]["kind"] == dialog.type), None)
        with suppress(PlaywrightError):
            if turn is None:
                await (dialog.accept() if dialog.type == "beforeunload" else dialog.dismiss())
                return
            self._dialogs.remove(turn)
            self._answered.add(turn["id"])
            if turn["arguments"]["accepted"]:
                await dialog.accept(turn["arguments"].get("text", ""))
            else:
                await dialog.dismiss()
