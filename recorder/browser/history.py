"""A tab's history: its entries, as the browser reports them, and which way a navigation moved through it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from recorder.devtools.sessions import ProtocolError, Session

# While a tab changes its renderer the browser does not answer for its history.
_MAX_HISTORY_READS, _HISTORY_READ_INTERVAL_S = 300, 0.01
_REPORT_TIMEOUT_S = 0.5  # wait for a page to report its move; one without an origin, as of `data:`, reports none

Entry = dict[str, Any]  # of a tab's history, as CDP tells it


@dataclass(frozen=True)
class Move:
    """A page's own report that it was reached through the history (`history_moves.js`): when (wall clock of the
    recording, seconds; None if it does not report that), and which way: `back`, `forward`, or nothing."""

    epoch: float | None
    direction: str = ""


@dataclass(frozen=True)
class Step:
    """One navigation of a tab. `reported`: the page's report of a page from the cache; `awaited`: of another page that
    was reached through the history, None in it if none comes before the next step."""

    number: int
    through: bool
    reported: Move | None
    awaited: asyncio.Future[Move | None] | None


class History:
    """Follows the steps of one tab, also those through its history.

    A page reports a move that brings it back from the cache before the browser does, and others after it.
    """

    def __init__(self, session: Session):
        self._session = session
        self._step = Step(0, through=False, reported=None, awaited=None)  # the last one
        self._entry: Entry | None = None  # which is shown; where that is known
        self._entries: list[Entry] = []  # as last reported
        self._one_by_one = asyncio.Lock()  # steps are taken in in their order
        self._restored: Move | None = None  # of a page from the cache that the browser has not reported yet

    def reported(self, move: Move, *, restored: bool) -> None:
        """A page reports its move; `restored`: from the cache. Those of a time before the recording are not awaited."""
        awaited = self._step.awaited
        if restored:
            self._restored = move
        elif awaited and not awaited.done():
            awaited.set_result(move)

    def begin(self, *, through: bool) -> Step:
        """A navigation is done; `through`: through the history."""
        if self._step.awaited and not self._step.awaited.done():
            self._step.awaited.set_result(None)
        restored, self._restored = self._restored if through else None, None
        awaited = asyncio.get_running_loop().create_future() if through and not restored else None
        self._step = Step(self._step.number + 1, through, restored, awaited)
        return self._step

    async def take_in(self, step: Step | None, url: str | None
                      ) -> tuple[Entry | None, Entry | None, int, list[Entry]]:
        """Take in a step to the address `url`, or what is there at the start. Returns the entry that was left and that
        which was reached, where they are known, the current index and the entries.

        The browser's answer may be of a later step already, which its page has not reported yet.
        """
        async with self._one_by_one:
            left, before = self._entry, self._entries
            index, entries = await self.read()
            now = entries[index] if entries else None
            if (step.number if step else 0) != self._step.number or (now and url not in (None, now["url"])):
                now = _beside(left, before, url) if step and step.through else None
            self._entry, self._entries = now, entries or before
        return left, now, index, entries

    async def direction(self, step: Step, before: str, url: str) -> Move:
        """Which way a step through the history went, from the address `before` to `url`, and when, if the page reports
        that."""
        left, now, index, entries = await self.take_in(step, url)
        reported = step.reported or await _result(step.awaited) or Move(None)
        if reported.direction:
            return reported
        return replace(reported, direction=_compared(left, now, entries) or _guessed(before, index, entries))

    def expected(self, url: str) -> str:
        """`back` or `forward`: which way a move to the address `url` goes, of which nothing else is known."""
        target = _beside(self._entry, self._entries, url)
        return _compared(self._entry, target, self._entries) or "back"

    async def read(self) -> tuple[int, list[Entry]]:
        """The current index and the entries; none where the tab has gone."""
        for _ in range(_MAX_HISTORY_READS):
            try:
                history = await self._session.send("Page.getNavigationHistory")
                return history["currentIndex"], history["entries"]
            except ProtocolError as error:
                if "Not attached" not in str(error):
                    break
                await asyncio.sleep(_HISTORY_READ_INTERVAL_S)
        return 0, []


async def _result(awaited: asyncio.Future[Move | None] | None) -> Move | None:
    done, _ = await asyncio.wait([awaited], timeout=_REPORT_TIMEOUT_S) if awaited else ((), ())
    return next((future.result() for future in done), None)


def _compared(left: Entry | None, now: Entry | None, entries: Sequence[Entry]) -> str | None:
    """Which way it is from one entry to another; None where one is not known."""
    ids = [entry["id"] for entry in entries]
    if left and now and left["id"] in ids and now["id"] in ids and left["id"] != now["id"]:
        return "forward" if ids.index(left["id"]) < ids.index(now["id"]) else "back"
    return None


def _guessed(before: str, index: int, entries: Sequence[Entry]) -> str:
    """Which way it is to the entry at `index`, from one of the address `before`."""
    others = [other_index for other_index, entry in enumerate(entries)
              if entry["url"] == before and other_index != index]
    return "forward" if others and max(others) < index else "back"


def _beside(entry: Entry | None, entries: list[Entry], url: str | None) -> Entry | None:
    """The one entry before or after another that has an address; None where there is none, or both do."""
    position = next((index for index, candidate in enumerate(entries) if entry and candidate["id"] == entry["id"]),
                    None)
    if position is None:
        return None
    neighbours = [neighbour for neighbour in (*entries[max(0, position - 1):position],
                                              *entries[position + 1:position + 2]) if neighbour["url"] == url]
    return neighbours[0] if len(neighbours) == 1 else None
