"""Outcome checks on a run that is not recorded: its pages after each action, its requests and its answer."""

import asyncio
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.isolation import PAGE, run_isolated
from pipeline.outcomes.checking import Score, score
from pipeline.outcomes.evidence import Evidence, PageState, Request
from recorder.building.idle_snapshot import IdleSnapshot
from recorder.reader import Recording
from replay.archive.exchanges import Request as ServedRequest
from replay.serving.answering import Answer
from schemas.types.outcome import Outcome, OutcomeCheck

from .tasks import RecordedTask

MAX_REQUESTS, MAX_PAGES = 10_000, 500  # of a run, that are kept for its checks


@dataclass(frozen=True)
class LivePage:
    """A page at a time, in seconds since the run began. `picture`: a PNG file, where a check compares pictures."""

    time: float
    snapshot: IdleSnapshot
    picture: bytes | None = None


def kinds(outcome: Outcome) -> set[str]:
    """Kinds of all checks of a task, also those in groups and checkpoints."""
    checks = [*outcome["checks"], *(point["check"] for point in outcome.get("checkpoints") or ())]
    return {check["kind"] for check in _every(checks)}


def _every(checks: Sequence[OutcomeCheck]) -> Iterator[OutcomeCheck]:
    for check in checks:
        yield check
        yield from _every(check.get("checks", ()))


def served(request: ServedRequest, answer: Answer, time: float) -> Request:
    """A request to the server of a recording as evidence; `time`: seconds since the run began."""
    return Request(request.method, request.url, answer.status, request.body or b"", time, request.headers)


class LiveScoring:
    """Scores a run by what it shows after each action."""

    def __init__(self, task: RecordedTask, requests: Sequence[Request]):
        self._task, self._requests = task, requests
        self._pages: list[LivePage] = []

    def keep(self, page: LivePage) -> None:
        """Take in what a page shows; the same as before only once."""
        if self._pages and _same(self._pages[-1].snapshot, page.snapshot):
            self._pages.pop()
        self._pages.append(page)
        del self._pages[:-MAX_PAGES]

    async def score(self, answer: str | None) -> Score | None:
        """The result of the outcome checks so far; None where no page was shown. `answer`: None while there is none."""
        if not self._pages:
            return None
        return await asyncio.to_thread(score_live, self._task.outcome, self._task.recording, self._pages,
                                       self._requests, answer)


def _same(first: IdleSnapshot, second: IdleSnapshot) -> bool:
    return first.document == second.document and first.state["url"] == second.state["url"]


def score_live(outcome: Outcome, recording: Recording, pages: Sequence[LivePage], requests: Sequence[Request],
               answer: str | None) -> Score:
    """Evaluate outcome checks on a run that goes on or has ended, in a process with limits; not for a thread with an
    event loop. `answer`: None while there is none. Checks with expressions are not decided. Raises InputError."""
    return run_isolated(PAGE, "the run's pages", _score, outcome, recording, list(pages), list(requests), answer)


def _score(outcome: Outcome, recording: Recording, pages: list[LivePage], requests: list[Request], answer: str | None
           ) -> Score:
    evidence = Evidence([_page_state(page, last=page is pages[-1]) for page in pages], answer or "", tuple(requests),
                        recording.blob, answered=answer is not None)
    return score(outcome, evidence)


def _page_state(page: LivePage, *, last: bool) -> PageState:
    state = page.snapshot.state
    boxes: Any = {row["uid"]: row["bbox"] for row in page.snapshot.rows if not row["frame"]}
    return PageState(state["url"], lambda: page.snapshot.document, lambda: page.picture, boxes=lambda: boxes,
                     width=state["viewport"]["width"], time=math.inf if last else page.time)
