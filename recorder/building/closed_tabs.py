"""Closed tabs, until it is known whether the recording has ended with them."""

from collections.abc import Callable

from .tab_state import TabState


class ClosedTabs:
    """To close the last window is how a recording ends, and no action of the task. So a closed tab is told of only when
    something comes after it, or another tab still stands open at the end: however long it takes to close the others.
    `report` is given each such tab and the wall clock then.
    """

    def __init__(self, report: Callable[[TabState, float], None]):
        self._tell = report
        self._open: set[TabState] = set()
        self._closed: list[tuple[TabState, float]] = []

    def opened(self, tab: TabState) -> None:
        """A tab has appeared."""
        self._open.add(tab)

    def closed(self, tab: TabState, epoch: float) -> None:
        """A tab was closed."""
        self._open.discard(tab)
        self._closed.append((tab, epoch))

    def release(self) -> None:
        """Something else has happened: tell of those that wait."""
        closed, self._closed = self._closed, []
        for tab, epoch in closed:
            self._tell(tab, epoch)

    def settle(self) -> None:
        """The recording ends: tell of them if another tab is open."""
        if self._open:
            self.release()
