"""Cause of a navigation: from the browser's report at its start, and from the history of the tab."""

import asyncio
import math
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from recorder.building.recording_clock import Clock, as_if_never_set
from recorder.devtools.sessions import ProtocolError, Session

_BY_REASON = {
    "anchorClick": "link", "formSubmissionGet": "form", "formSubmissionPost": "form", "reload": "script",
    "httpHeaderRefresh": "redirect", "metaTagRefresh": "redirect", "scriptInitiated": "script",
}
_BY_ENTRY = {"link": "link", "form_submit": "form", "typed": "typed", "address_bar": "typed", "generated": "typed",
             "keyword": "typed", "keyword_generated": "typed", "auto_bookmark": "typed", "auto_toplevel": "typed"}
_OTHER_DOCUMENT = ("differentDocument", "historyDifferentDocument", "reload", "reloadBypassingCache", "restore",
                   "restoreWithPost")
_THROUGH_HISTORY = ("history", "restore")  # beginnings of the kinds of navigation that go to an entry of the history
_EMPTY_PAGE = "about:blank"
# While a tab changes its renderer the browser does not answer for its history.
_MAX_HISTORY_READS, _HISTORY_READ_INTERVAL_S = 300, 0.01

Entry = dict[str, Any]  # of a tab's history, as CDP tells it


@dataclass
class _Started:
    kind: str = ""
    reason: str = ""
    epoch: float = math.inf


class Navigations:
    """Follows one tab's navigations: what began each, when, and which way through the history it went.

    `opened`: another page seems to have opened the tab; then its first navigation was most likely that page's doing.
    `spawn` has something done beside.
    """

    def __init__(self, session: Session, main_frame: str, clock: Clock,
                 spawn: Callable[[Coroutine[Any, Any, Any]], Any], *, opened: bool):
        self._session = session
        self._spawn = spawn
        self._clock = clock
        self._started = _Started()
        self._reason = ""
        self._opened = opened
        self._moves = 0  # navigations that are done
        self._entry: Entry | None = None  # of the history, which is shown; where that is known
        self._entries: list[Entry] = []  # as last told
        self._one_by_one = asyncio.Lock()  # moves are taken in in their order
        self.main_frame = main_frame
        spawn(self._moved(0, None))

    def requested(self, event: dict[str, Any]) -> None:
        """Page.frameRequestedNavigation: the page itself asks for a navigation."""
        if event["frameId"] == self.main_frame:
            self._reason = event["reason"]

    def started(self, event: dict[str, Any]) -> None:
        """Page.frameStartedNavigating: a navigation begins, whoever asked for it."""
        if event["frameId"] == self.main_frame:
            self._started = _Started(event["navigationType"], self._reason, self._clock.now)
            self._reason = ""

    def on_requested(self, event: dict[str, Any]) -> None:
        """Network.requestWillBeSent: the browser's own time of it is the right one. Ours is late where this program
        was busy, and what was pressed on the new page meanwhile would seem to come before it."""
        if event.get("type") == "Document" and event.get("frameId") == self.main_frame:
            self._started.epoch = min(self._started.epoch, as_if_never_set(self._clock, event["wallTime"], "requests"))

    def finish(self, before: str, url: str, *, same_document: bool) -> tuple[str | Coroutine[Any, Any, str], float]:
        """A navigation from the address `before` to `url` has ended; returns its transition, and when it began (wall
        clock, seconds). Notes how it moves through the tab's history.

        If only the browser's history shows the transition, it is a coroutine that reads that; it raises nothing.
        """
        if same_document and self._started.kind in _OTHER_DOCUMENT:  # a script's, while another page is on its way
            return "same_document", self._clock.now
        started, opens_tab = self._take_started(url)
        epoch = min(started.epoch, self._clock.now)
        if started.kind.startswith(_THROUGH_HISTORY):
            return self._direction(self._moves, before, url), epoch
        self._spawn(self._moved(self._moves, url))
        transition = _transition(started, same_document=same_document, opens_tab=opens_tab)
        return (self._of_a_new_tab(url) if transition is None else transition), epoch

    def _take_started(self, url: str) -> tuple[_Started, bool]:
        """Count a move to the address `url`; returns what its start reported, to be used once, and whether it leads to
        the first page of a tab that another page opened."""
        self._moves += 1
        started, self._started = self._started, _Started()
        opens_tab = self._opened and url != _EMPTY_PAGE
        self._opened = self._opened and not opens_tab
        return started, opens_tab

    async def _moved(self, move: int, url: str | None, *, through: bool = False
                     ) -> tuple[Entry | None, Entry | None, int, list[Entry]]:
        """Take in a move to the address `url`; `through`: through the history. Returns the entry that was left and
        that which was reached, where they are known, the current index and the entries.

        The browser's answer may be of a later move already, which its page has not told yet.
        """
        async with self._one_by_one:
            left, before = self._entry, self._entries
            index, entries = await self._history()
            now = entries[index] if entries else None
            if move != self._moves or (now and url not in (None, now["url"])):
                now = _beside(left, before, url) if through else None
            self._entry, self._entries = now, entries
        return left, now, index, entries

    async def _direction(self, move: int, before: str, url: str) -> str:
        """`back` or `forward`: which way the history moved from the entry that was left, or where that is not known
        from one of the address `before`, to one of the address `url`."""
        left, now, index, entries = await self._moved(move, url, through=True)
        ids = [entry["id"] for entry in entries]
        if left and now and left["id"] in ids and now["id"] in ids and left["id"] != now["id"]:
            return "forward" if ids.index(left["id"]) < ids.index(now["id"]) else "back"
        others = [other_index for other_index, entry in enumerate(entries)
                  if entry["url"] == before and other_index != index]
        return "forward" if others and max(others) < index else "back"

    async def _of_a_new_tab(self, url: str) -> str:
        """The transition of its first navigation: what the history holds of it, if the page is still there."""
        index, entries = await self._history()
        entry = entries[index] if entries else {"url": ""}
        return _BY_ENTRY.get(entry["transitionType"], "link") if entry["url"] == url else "link"

    async def _history(self) -> tuple[int, list[Entry]]:
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


def _transition(started: _Started, *, same_document: bool, opens_tab: bool) -> str | None:
    """The transition of a navigation that does not move through the history; None if only the history shows it."""
    if started.kind.startswith("reload"):
        return _BY_REASON.get(started.reason, "reload")
    if same_document:
        return "same_document"
    if started.reason in _BY_REASON:
        return _BY_REASON[started.reason]
    return None if opens_tab else "typed"


def _beside(entry: Entry | None, entries: list[Entry], url: str | None) -> Entry | None:
    """The one entry before or after another that has an address; None where there is none, or both do."""
    position = next((index for index, candidate in enumerate(entries) if entry and candidate["id"] == entry["id"]),
                    None)
    if position is None:
        return None
    neighbours = [neighbour for neighbour in (*entries[max(0, position - 1):position],
                                              *entries[position + 1:position + 2]) if neighbour["url"] == url]
    return neighbours[0] if len(neighbours) == 1 else None
