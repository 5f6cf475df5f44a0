"""Why a tab shows another page: from what the browser says when a navigation starts, and from its history."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from recorder.devtools.sessions import ProtocolError, Session

_BY_REASON = {
    "anchorClick": "link", "formSubmissionGet": "form", "formSubmissionPost": "form", "reload": "script",
    "httpHeaderRefresh": "redirect", "metaTagRefresh": "redirect", "scriptInitiated": "script",
}
_TRIES, _PAUSE = 100, 0.03  # while a tab changes its renderer the browser does not answer for its history


@dataclass
class _Started:
    kind: str = ""
    reason: str = ""
    epoch: float = 0.0


class Navigations:
    """Follows one tab's navigations: what began each, when, and which way through the history it went.

    `opened`: another page has opened the tab, so its first navigation is that page's doing.
    """

    def __init__(self, session: Session, main_frame: str, now: Callable[[], float], *, opened: bool):
        self._session = session
        self._now = now
        self._started = _Started()
        self._reason = ""
        self._opened = opened
        self.main_frame = main_frame

    def requested(self, event: dict[str, Any]) -> None:
        """Page.frameRequestedNavigation: the page itself asks for a navigation."""
        if event["frameId"] == self.main_frame:
            self._reason = event["reason"]

    def started(self, event: dict[str, Any]) -> None:
        """Page.frameStartedNavigating: a navigation begins, whoever asked for it."""
        if event["frameId"] == self.main_frame:
            self._started = _Started(event["navigationType"], self._reason, self._now())
            self._reason = ""

    def finish(self, same_document: bool) -> tuple[str | None, float]:
        """A navigation is done: its transition, and when it began (wall clock, seconds).

        None instead of the transition when it went through the history: then `direction` tells which way.
        """
        started, self._started = self._started, _Started()
        opened, self._opened = self._opened, False
        epoch = started.epoch or self._now()
        if started.kind.startswith(("history", "restore")):
            return None, epoch
        if started.kind.startswith("reload"):
            return _BY_REASON.get(started.reason, "reload"), epoch
        if same_document:
            return "same_document", epoch
        return _BY_REASON.get(started.reason, "link" if opened else "typed"), epoch

    async def direction(self, before: str) -> str:
        """`back` or `forward`: which way the history moved from the address `before` to where it is now."""
        history = await self._history()
        index = history["currentIndex"]
        others = [at for at, entry in enumerate(history["entries"]) if entry["url"] == before and at != index]
        return "forward" if others and max(others) < index else "back"

    async def _history(self) -> dict[str, Any]:
        for _ in range(_TRIES):
            try:
                return await self._session.send("Page.getNavigationHistory")
            except ProtocolError as error:
                if "Not attached" not in str(error):
                    raise
                await asyncio.sleep(_PAUSE)
        return {"currentIndex": 0, "entries": []}
