"""Which requests and page archives of a recording the exported turns of a demonstration need."""

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable
from operator import itemgetter
from typing import NamedTuple

from schemas.types.recordings import BrowserTurn, Event, Turn

from .source import Source

# A page's events and the browser's network are timed by different clocks of one machine.
MAX_CLOCK_DIFFERENCE_S = 0.05


class _Span(NamedTuple):
    """The time from the first event of a turn to that of the next one. `exported`: the turn is exported."""

    begin: float
    exported: bool


class Documents:
    """The documents of each tab, by number: 0 before the first navigation; one lasts until the next navigation."""

    def __init__(self, events: Iterable[Event]):
        self._opened: defaultdict[int, list[tuple[float, str]]] = defaultdict(list)  # time and address
        for event in events:
            if event["type"] == "navigate" and event["data"].get("transition") != "same_document":
                self._opened[event["tab"]].append((event["time"], _without_fragment(event["data"].get("url") or "")))
        for opened in self._opened.values():
            opened.sort()

    def at(self, tab: int, time: float) -> int:
        """The number of the document that is in a tab at a time; of two, the one that is opened then."""
        return bisect_right(self._opened[tab], time, key=itemgetter(0))

    def before(self, tab: int, time: float) -> int:
        """The same right before that time."""
        return bisect_left(self._opened[tab], time, key=itemgetter(0))

    def opened(self, tab: int, number: int) -> tuple[float, str]:
        """When a document was opened, and its address; raises IndexError for one that was not."""
        return (-math.inf, "") if number == 0 else self._opened[tab][number - 1]


class NeededContent:
    """Decides by time and page what the exported turns need; what belongs to other turns, which were dropped, are not
    selected or are in another part of the session, is not needed.

    A turn owns what happens from its first event to the next turn. What an exported turn owns is needed, but not of
    pages that other turns opened and no exported turn acts in. What another turn owns is needed only as the loading of
    a page in which an exported turn acts.
    """

    def __init__(self, source: Source):
        events = source.recording.events
        begins = {event["seq"]: event["time"] for event in events}
        exported = [turn for turn in source.turns if turn["type"] == "browser"]
        self.documents = Documents(events)
        self._spans = sorted(_spans(source, exported, begins))
        self._begins = [span.begin for span in self._spans]
        self.everything = all(span.exported for span in self._spans)
        self._acted_in = {(turn["state"]["tab"], self.documents.before(turn["state"]["tab"], _begin(turn, begins)))
                          for turn in exported if turn["state"]}

    def needs(self, tab: int | None, time: float, *, url: str = "") -> bool:
        """Whether what happened in a tab (None: unknown) at `time`, seconds of the recording, is needed.

        `url`: of a request that may have loaded the tab's next document, which is opened later.
        """
        if self.everything:
            return True
        document = None if tab is None else self.documents.at(tab, time)
        if tab is not None and document is not None and self._loads_next(tab, document, time, url):
            document, time = document + 1, self.documents.opened(tab, document + 1)[0]
        exported, number = self.is_of_exported_turn(time), self._owner(time)
        if tab is None or document is None:
            return exported
        opened_by = self._owner(self.documents.opened(tab, document)[0])
        if (tab, document) in self._acted_in:
            return exported or opened_by == number
        return exported and opened_by >= 0 and self._spans[opened_by].exported

    def is_of_exported_turn(self, time: float) -> bool:
        """Whether an exported turn owns what happened at a time."""
        number = self._owner(time)
        return number >= 0 and self._spans[number].exported

    def _owner(self, time: float) -> int:
        """The number of the span with a time, -1 before the first turn; one of a turn that is not exported begins
        MAX_CLOCK_DIFFERENCE_S earlier."""
        number = bisect_right(self._begins, time + MAX_CLOCK_DIFFERENCE_S) - 1
        while number >= 0 and self._spans[number].exported and self._begins[number] > time:
            number -= 1
        return number

    def _loads_next(self, tab: int, document: int, time: float, url: str) -> bool:
        """Whether a request loaded the tab's next document, which no turn after it opened."""
        try:
            opened, address = self.documents.opened(tab, document + 1)
        except IndexError:
            return False
        turns_between = bisect_left(self._begins, opened) - bisect_right(self._begins, time)
        return bool(url) and address == _without_fragment(url) and turns_between <= 0


def _spans(source: Source, exported: Iterable[BrowserTurn], begins: dict[int, float]) -> set[_Span]:
    ids = {turn["id"] for turn in exported}
    numbers = {number for turn in exported for number in turn["events"]}
    current = {turn["id"] for turn in source.demonstration["turns"]}
    spans = {_Span(_begin(turn, begins), turn["id"] in ids) for turn in _acting(source.demonstration["turns"])}
    return spans | {_Span(_begin(turn, begins), not numbers.isdisjoint(turn["events"]))
                    for turn in _acting(source.before_edits["turns"]) if turn["id"] not in current}


def _acting(turns: Iterable[Turn]) -> Iterable[BrowserTurn]:
    return (turn for turn in turns if turn["type"] == "browser")


def _begin(turn: BrowserTurn, begins: dict[int, float]) -> float:
    """When the first event of a turn came, seconds of the recording."""
    return min([turn["timestamp"], *(begins[seq] for seq in turn["events"] if seq in begins)])


def _without_fragment(url: str) -> str:
    return url.partition("#")[0]
