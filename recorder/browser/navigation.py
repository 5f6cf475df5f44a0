"""Cause of a navigation: from the browser's report at its start, and from the history of the tab."""

import math
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from recorder.building.recording_clock import Clock, as_if_never_set
from recorder.devtools.sessions import Handler, Session

from .history import History, Move, Step

_BY_REASON = {
    "anchorClick": "link", "formSubmissionGet": "form", "formSubmissionPost": "form", "reload": "script",
    "httpHeaderRefresh": "redirect", "metaTagRefresh": "redirect", "scriptInitiated": "script",
}
_BY_ENTRY = {"link": "link", "form_submit": "form", "typed": "typed", "address_bar": "typed", "generated": "typed",
             "keyword": "typed", "keyword_generated": "typed", "auto_bookmark": "typed", "auto_toplevel": "typed"}
_OTHER_DOCUMENT = ("differentDocument", "historyDifferentDocument", "reload", "reloadBypassingCache", "restore",
                   "restoreWithPost")
_THROUGH_HISTORY = ("history", "restore")  # beginnings of the kinds of navigation that go to an entry of the history
_DIRECTIONS = ("back", "forward")
_EMPTY_PAGE = "about:blank"
_COMMIT_TIMEOUT_S = 1.0  # from the end of loading until the page is shown, as one from the cache is

Report = Callable[[str, str, str, float], None]
Ended = tuple[str, float]  # transition of a navigation, and when it began (wall clock, seconds)


@dataclass
class _Started:
    kind: str = ""
    reason: str = ""
    epoch: float = math.inf
    url: str = ""
    stopped: float = math.inf  # when the tab stopped loading


class Navigations:
    """Follows one tab's navigations: what began each, when, and which way through the history it went.

    `opened`: another page seems to have opened the tab; then its first navigation was most likely that page's doing.
    `spawn` has something done beside; `report` is called with each navigation: the address before, the address, the
    transition, and when it began (wall clock, seconds).
    """

    def __init__(self, session: Session, main_frame: str, clock: Clock,
                 spawn: Callable[[Coroutine[Any, Any, Any]], Any], report: Report, *, opened: bool):
        self._spawn = spawn
        self._report = report
        self._clock = clock
        self._started = _Started()
        self._reason = ""
        self._opened = opened
        self.history = History(session)
        self.main_frame = main_frame
        spawn(self._take_in(None, None))

    def listeners(self) -> dict[str, Handler]:
        """Handlers of the browser's events, by their names."""
        return {"Page.frameRequestedNavigation": self.requested, "Page.frameStoppedLoading": self.on_stopped_loading,
                "Network.requestWillBeSent": self.on_requested}

    def requested(self, event: dict[str, Any]) -> None:
        """Page.frameRequestedNavigation: the page itself asks for a navigation."""
        if event["frameId"] == self.main_frame:
            self._reason = event["reason"]

    def started(self, event: dict[str, Any]) -> None:
        """Page.frameStartedNavigating: a navigation begins, whoever asked for it."""
        if event["frameId"] == self.main_frame:
            self._started = _Started(event["navigationType"], self._reason, self._clock.now, event["url"])
            self._reason = ""

    def on_requested(self, event: dict[str, Any]) -> None:
        """Network.requestWillBeSent: the browser's own time of it is the right one. Ours is late where this program
        was busy, and what was pressed on the new page meanwhile would seem to come before it."""
        if event.get("type") == "Document" and event.get("frameId") == self.main_frame:
            self._started.epoch = min(self._started.epoch, as_if_never_set(self._clock, event["wallTime"], "requests"))

    def on_stopped_loading(self, event: dict[str, Any]) -> None:
        """Page.frameStoppedLoading: of a navigation that leads nowhere, this is the last that is reported."""
        if event["frameId"] == self.main_frame:
            self._started.stopped = min(self._started.stopped, self._clock.now)

    def on_moved(self, message: dict[str, Any]) -> None:
        """A page reports its move through the history."""
        epoch = as_if_never_set(self._clock, message["time"] / 1000, message["source"], keeps_clock=True)
        self.history.reported(Move(epoch, message["direction"] or ""), restored=message["restored"])

    def navigated(self, before: str, url: str, *, same_document: bool) -> None:
        """A navigation from the address `before` to `url` has ended: report it, when all of it is known."""
        ended = self.finish(before, url, same_document=same_document)
        if not isinstance(ended, tuple):
            self._spawn(self._report_later(ended, before, url))
        elif url != _EMPTY_PAGE or ended[0] in _DIRECTIONS:
            self._report(before, url, *ended)

    async def _report_later(self, ended: Coroutine[Any, Any, Ended], before: str, url: str) -> None:
        self._report(before, url, *await ended)

    def finish(self, before: str, url: str, *, same_document: bool) -> Ended | Coroutine[Any, Any, Ended]:
        """A navigation from the address `before` to `url` has ended; returns its transition, and when it began (wall
        clock, seconds). Notes how it moves through the tab's history.

        If only the browser's history or the page's own report, which is still to come, shows them, it is a coroutine
        that waits for that; it raises nothing.
        """
        if same_document and self._started.kind in _OTHER_DOCUMENT:  # a script's, while another page is on its way
            return "same_document", self._clock.now
        started, opens_tab = self._take_started(url)
        epoch = min(started.epoch, self._clock.now)
        step = self.history.begin(through=started.kind.startswith(_THROUGH_HISTORY))
        if step.through and not (step.reported and step.reported.direction):
            return self._through_history(step, before, url, epoch)
        self._spawn(self._take_in(step, url))
        if step.reported:
            return step.reported.direction, _earlier(epoch, step.reported)
        transition = _transition(started, same_document=same_document, opens_tab=opens_tab)
        return (transition, epoch) if transition else self._of_a_new_tab(url, epoch)

    def close(self, before: str) -> None:
        """The tab is closed, which shows the address `before`: report a step through the history or a reload that the
        person has just asked for, and whose page has not come yet."""
        started, self._started = self._started, _Started()
        if self._clock.now - started.stopped > _COMMIT_TIMEOUT_S:
            return
        if started.kind.startswith(_THROUGH_HISTORY):
            self._report(before, started.url, self.history.expected(started.url), started.epoch)
        elif started.kind.startswith("reload") and started.reason not in _BY_REASON:
            self._report(before, started.url, "reload", started.epoch)

    def _take_started(self, url: str) -> tuple[_Started, bool]:
        """What the start of a move to the address `url` reported, to be used once, and whether the move leads to the
        first page of a tab that another page opened."""
        started, self._started = self._started, _Started()
        opens_tab = self._opened and url != _EMPTY_PAGE
        self._opened = self._opened and not opens_tab
        return started, opens_tab

    async def _take_in(self, step: Step | None, url: str | None) -> None:
        await self.history.take_in(step, url)

    async def _through_history(self, step: Step, before: str, url: str, epoch: float) -> Ended:
        move = await self.history.direction(step, before, url)
        return move.direction, _earlier(epoch, move)

    async def _of_a_new_tab(self, url: str, epoch: float) -> Ended:
        """The transition of its first navigation: what the history holds of it, if the page is still there."""
        index, entries = await self.history.read()
        entry = entries[index] if entries else {"url": ""}
        return _BY_ENTRY.get(entry["transitionType"], "link") if entry["url"] == url else "link", epoch


def _earlier(epoch: float, move: Move) -> float:
    """The earlier one of a time and that of a page's report."""
    return epoch if move.epoch is None else min(epoch, move.epoch)


def _transition(started: _Started, *, same_document: bool, opens_tab: bool) -> str | None:
    """The transition of a navigation that does not move through the history; None if only the history shows it."""
    if started.kind.startswith("reload"):
        return _BY_REASON.get(started.reason, "reload")
    if same_document:
        return "same_document"
    if started.reason in _BY_REASON:
        return _BY_REASON[started.reason]
    return None if opens_tab else "typed"
