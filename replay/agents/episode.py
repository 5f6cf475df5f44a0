"""One attempt at a recorded task in a browser that several share: actions in, observations and score out."""

import asyncio
import time
from collections.abc import Collection, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from playwright.async_api import BrowserContext, Dialog, Page
from playwright.async_api import Error as PlaywrightError

from pipeline.outcomes.checking import Score
from recorder.browser.tab import Tab
from recorder.building.idle_snapshot import IdleSnapshot
from replay.running.acting import ActionFailed
from replay.running.action_forms import ParsedAction
from replay.running.action_strings import parse
from replay.running.finding import ElementNotFound
from replay.serving.server import ReplayServer
from schemas import DemotapeError, InputError

from . import live_tree
from .computer_use import parse_call
from .live_actions import perform
from .live_evidence import LivePage, kinds
from .tasks import RecordedTask

OBSERVATIONS = ("axtree", "screenshot", "dom", "marks")
_LOAD_TIMEOUT_S = 10.0  # for a page to load
_QUIET_S = 0.1  # without requests, after which an action's effects are taken to be there
_SETTLE_TIMEOUT_S = 5.0  # for those effects
_POLL_INTERVAL_S = 0.02
_ACTION_TIMEOUT_S = 30.0
_WAIT_S = 1.0  # of an action that waits and does not say how long
_ENDING_GRAMMARS = ("browsergym", "webvoyager")  # in which what is said to the user is the final answer
Action = str | Mapping[str, Any]


class States(Protocol):
    """Reads the pages of an attempt; of one that is recorded, by its recorder."""

    async def tab_of(self, page: Page) -> Tab | None: ...
    async def read(self, page: Page) -> IdleSnapshot | None: ...
    async def picture(self, page: Page) -> bytes | None: ...


class Scoring(Protocol):
    """Scores an attempt by its outcome checks."""

    def keep(self, page: LivePage) -> None: ...
    async def score(self, answer: str | None) -> Score | None: ...


@dataclass(frozen=True)
class Observation:
    """What an agent is shown. `axtree`, `screenshot` (PNG), `dom` and `marks` (a picture with numbered boxes, and what
    they are) only where asked for; `error`: why the last action was not performed, empty where it was; `tabs`: the
    addresses of the open tabs; `active_tab`: the number of the shown one, from 1."""

    goal: str
    url: str
    title: str
    tabs: tuple[str, ...]
    active_tab: int
    viewport: tuple[int, int]
    error: str = ""
    axtree: str | None = None
    screenshot: bytes | None = None
    dom: str | None = None
    marks: tuple[bytes, dict[str, dict[str, Any]]] | None = None


@dataclass(frozen=True)
class Step:
    """The result of an action. `score`: of the attempt so far, None where it is undecided; `reward`: by how much it has
    grown; `share`: the share of checks that pass; `ended`: the task is done, or was answered; `truncated`: the attempt
    has used up its actions."""

    observation: Observation
    score: float | None
    reward: float
    share: float
    checks: tuple[dict[str, Any], ...]
    ended: bool = False
    truncated: bool = False


@dataclass(eq=False)
class Episode:
    """An attempt that has begun. `observe`: what observations contain; `stack`: what ends with it."""

    task: RecordedTask
    context: BrowserContext
    server: ReplayServer
    states: States
    scoring: Scoring
    uploads: Path
    observe: Collection[str] = ("axtree",)
    max_steps: int = 100
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    def __post_init__(self) -> None:
        if unknown := set(self.observe) - set(OBSERVATIONS):
            raise InputError(f"unknown observation {sorted(unknown)[0][:40]!r}; choose from {', '.join(OBSERVATIONS)}")
        self.steps = 0
        self.ended = False
        self.score: float | None = None
        self.share = 0.0
        self._pages: list[Page] = []
        self._active: Page | None = None
        self._snapshot: IdleSnapshot | None = None
        self._began = time.monotonic()
        self._acting = asyncio.Lock()
        self._checks_pictures = "picture" in kinds(self.task.outcome)
        self.context.on("page", self._on_page)
        self.context.on("dialog", self._on_dialog)
        for page in self.context.pages:
            self._on_page(page)

    @property
    def seconds(self) -> float:
        """Since the attempt began."""
        return time.monotonic() - self._began

    @property
    def missing(self) -> dict[tuple[str, str], int]:
        """Requests that were not recorded, by method and address."""
        return dict(self.server.missing)

    async def begin(self) -> Observation:
        """Open the start page; returns the first observation."""
        page = self._pages[0] if self._pages else await self.context.new_page()
        with suppress(PlaywrightError):  # it takes long, or was not recorded: the agent sees that
            await page.goto(self.task.start_url, wait_until="load", timeout=_LOAD_TIMEOUT_S * 1000)
        await self._settle()
        observation = await self._observe("")
        self._apply_score(await self.scoring.score(None))
        return observation

    async def step(self, action: Action) -> Step:
        """Perform an action: a string in one of the grammars, or a call of a computer tool. What cannot be performed is
        the observation's `error`. Raises DemotapeError after the attempt has ended."""
        async with self._acting:
            if self.ended:
                raise DemotapeError("the attempt has ended; begin another with reset")
            self.steps += 1
            answer, final, error = await self._perform(action)
            await self._settle()
            observation = await self._observe(error)
            before = self.score or 0.0
            checks = self._apply_score(await self.scoring.score(answer))
            self.ended = final or self.score == 1 or self.steps >= self.max_steps
            return Step(observation, self.score, (self.score or 0.0) - before, self.share, checks,
                        final or self.score == 1, self.steps >= self.max_steps)

    async def close(self) -> None:
        """End the attempt and all that was opened for it."""
        self.ended = True
        await self.stack.aclose()

    async def _perform(self, action: Action) -> tuple[str | None, bool, str]:
        """Perform an action: what it answers, whether that ends the attempt, and why it failed."""
        try:
            for parsed in [parse(action)] if isinstance(action, str) else parse_call(action):
                if parsed.intent == "say":
                    return parsed.arguments["utterance"], parsed.grammar in _ENDING_GRAMMARS, ""
                async with asyncio.timeout(_ACTION_TIMEOUT_S):
                    await self._do(parsed)
        except (InputError, ActionFailed, ElementNotFound) as error:
            return None, False, str(error)
        except PlaywrightError as error:
            return None, False, str(error).splitlines()[0][:300]
        except TimeoutError:
            return None, False, f"the action took longer than {_ACTION_TIMEOUT_S:g} s"
        return None, False, ""

    async def _do(self, action: ParsedAction) -> None:
        match action.intent:
            case "wait":
                await asyncio.sleep(min(action.arguments.get("seconds", _WAIT_S), _ACTION_TIMEOUT_S / 2))
            case "tabcreate":
                self._active = await self.context.new_page()
            case "tabswitch":
                self._active = self._tab(action.arguments.get("target", action.arguments.get("place", 0) + 1))
                await self._active.bring_to_front()
            case "tabremove":
                number = action.arguments.get("tab")
                await (self._page() if number is None else self._tab(number)).close()
            case _:
                page = self._page()
                tab = await self.states.tab_of(page)
                if self._snapshot is None or tab is None:
                    raise ActionFailed("the page does not answer; load another one")
                await perform(action, page, tab.worlds(), self._snapshot, self.task.recorded_elements, self.uploads)

    def _page(self) -> Page:
        """The active tab; raises ActionFailed where all are closed."""
        if self._active is None or self._active.is_closed():
            remaining = [page for page in self._pages if not page.is_closed()]
            if not remaining:
                raise ActionFailed("no tab is open; create one")
            self._active = remaining[-1]
        return self._active

    def _tab(self, number: int) -> Page:
        if not 1 <= number <= len(self._pages) or self._pages[number - 1].is_closed():
            raise ActionFailed(f"no tab {number} is open")
        return self._pages[number - 1]

    def _on_page(self, page: Page) -> None:
        self._pages.append(page)
        self._active = page

    async def _on_dialog(self, dialog: Dialog) -> None:
        with suppress(PlaywrightError):  # its page is gone
            await dialog.accept()

    async def _settle(self) -> None:
        """Wait for what an action has begun: requests, and a page that loads."""
        until = time.monotonic() + _SETTLE_TIMEOUT_S
        await asyncio.sleep(_POLL_INTERVAL_S)
        while self.server.quiet_for() < _QUIET_S and time.monotonic() < until:
            await asyncio.sleep(_POLL_INTERVAL_S)
        with suppress(PlaywrightError, ActionFailed):
            await self._page().wait_for_load_state("load", timeout=max(1.0, (until - time.monotonic()) * 1000))

    async def _observe(self, error: str) -> Observation:
        """Read the active tab, and keep what checks need of it."""
        try:
            page = self._page()
        except ActionFailed:
            return self._observation(None, error, {})
        parts: dict[str, Any] = {}
        self._snapshot = await self.states.read(page)
        tab = await self.states.tab_of(page)
        picture = None
        if self._checks_pictures or {"screenshot", "marks"} & set(self.observe):
            picture = await self.states.picture(page)
        if self._snapshot:
            self.scoring.keep(LivePage(self.seconds, self._snapshot, picture if self._checks_pictures else None))
        if "axtree" in self.observe:
            parts["axtree"] = live_tree.as_text(await live_tree.read_tree(tab.worlds())) if tab else ""
        if "screenshot" in self.observe:
            parts["screenshot"] = picture
        if "dom" in self.observe:
            parts["dom"] = self._snapshot.document if self._snapshot else ""
        if "marks" in self.observe and picture and self._snapshot:
            parts["marks"] = await asyncio.to_thread(_marked, picture, self._snapshot)
        return self._observation(page, error, parts)

    def _observation(self, page: Page | None, error: str, parts: Mapping[str, Any]) -> Observation:
        state = self._snapshot.state if self._snapshot and page else None
        size = state["viewport"] if state else {"width": 0, "height": 0}
        return Observation(
            self.task.goal, page.url if page else "", state["title"] if state else "",
            tuple(tab.url for tab in self._pages if not tab.is_closed()),
            self._pages.index(page) + 1 if page else 0, (int(size["width"]), int(size["height"])), error, **parts)

    def _apply_score(self, score: Score | None) -> tuple[dict[str, Any], ...]:
        if score is None:
            return ()
        self.score = score.value
        self.share = sum(bool(check.holds) for check in score.checks) / (len(score.checks) or 1)
        return tuple({"kind": check.check["kind"], "holds": check.holds, "reason": check.reason}
                     for check in score.checks)


def _marked(picture: bytes, snapshot: IdleSnapshot) -> tuple[bytes, dict[str, dict[str, Any]]]:
    """A picture with the numbered boxes of what can be acted on, as PNG, and what they are."""
    import cv2
    import numpy as np

    from pipeline.export.model_input.set_of_marks import draw, legend, number_marks

    pixels: Any = cv2.imdecode(np.frombuffer(picture, np.uint8), cv2.IMREAD_COLOR)
    rows = {row["uid"]: row for row in snapshot.rows if row["visible"]}
    marks = number_marks(rows, snapshot.state["viewport"])
    scale = pixels.shape[1] / max(snapshot.state["viewport"]["width"], 1)
    return cv2.imencode(".png", draw(pixels, marks, scale))[1].tobytes(), legend(marks)
