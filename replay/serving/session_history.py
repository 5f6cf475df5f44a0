"""Choose among several exchanges that fit a request equally well: the next one in the session's order.

Every request that changes something and every document of a tab is a step. `position` is the number of the latest step
that the replay has come to; the exchanges between it and the next step are the current segment.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from replay.archive.exchanges import Recorded, header

from .addresses import origin
from .bodies import is_query
from .volatile_values import content

READING = ("GET", "HEAD", "OPTIONS")
_EMPTY = (204, 205)


class SessionHistory:
    """How far a replay has come in the recorded order. Exchanges are identified by their index in `exchanges`."""

    def __init__(self, exchanges: Sequence[Recorded]):
        self.exchanges = exchanges
        self.beacons = _beacons(exchanges)
        steps = [_is_step(exchange) and index not in self.beacons for index, exchange in enumerate(exchanges)]
        latest = list(accumulate((index if step else -1 for index, step in enumerate(steps)), max, initial=-1))
        self.before = latest[:-1]  # the last step before each, -1 where there is none
        self.steps = steps
        self.tabs = len({exchange.tab for exchange in exchanges})
        self.reset()

    def reset(self) -> None:
        """Back to the start."""
        self.position = -1
        self.in_tab: dict[int, int] = {}
        self.used: set[int] = set()
        self._queues: dict[int, list[tuple[Queue, int]]] = {}

    def follow(self, queue: "Queue") -> None:
        """Notify a queue from now on which of its exchanges are used."""
        for slot, exchange_index in enumerate(queue.indices):
            self._queues.setdefault(exchange_index, []).append((queue, slot))

    def use(self, exchange_index: int) -> None:
        """Record that an exchange was served."""
        self.used.add(exchange_index)
        for queue, slot in self._queues.get(exchange_index, ()):
            queue.mark(slot)
        if self.steps[exchange_index]:
            tab = self.exchanges[exchange_index].tab
            self.position = max(self.position, exchange_index)
            self.in_tab[tab] = max(self.in_tab.get(tab, -1), exchange_index)


class Queue:
    """Exchanges that fit a request alike, in the order in which they were asked."""

    def __init__(self, history: SessionHistory, exchange_indices: Iterable[int], *, reusable: bool = True):
        """`reusable`: whether it will be queried again."""
        self.course = history
        self.reusable = reusable
        self.indices = sorted(exchange_indices)
        self.variants: dict[tuple[str, ...], list[int]] | None = None  # told apart when they are first asked for
        self._before = [history.before[exchange_index] for exchange_index in self.indices]
        self._next = list(range(len(self.indices) + 1))  # an index at which to look for the next one not used
        self._latest = -1  # index of the latest one used
        for slot, exchange_index in enumerate(self.indices):
            if exchange_index in history.used:
                self.mark(slot)
        if reusable:
            history.follow(self)

    def __len__(self) -> int:
        return len(self.indices)

    def mark(self, index: int) -> None:
        """One of them is used."""
        self._next[index] = index + 1
        self._latest = max(self._latest, index)

    def turn(self, referer: str = "") -> int:
        """The place of the one whose turn it is. `referer`: the page that asks, where it is known."""
        index = self.indices[self._index()]
        if referer and self.course.tabs > 1:
            return self._of_page(index, referer)
        return index

    def _index(self) -> int:
        position = self.course.position
        come_to = max(position, self._before[self._latest]) if self._latest >= 0 else position
        reachable = bisect_right(self._before, come_to)  # these come after steps that happened, or as the latest given
        begin = bisect_right(self.indices, position)
        if (unused := self._unused(begin)) < reachable:
            return unused  # of the present stretch
        passed = min(begin, reachable) - 1
        if max(passed, self._latest) >= 0:
            return max(passed, self._latest)  # one that was passed over, unless a later one was given
        return 0  # what comes only after steps that have not happened

    def _unused(self, index: int) -> int:
        """The first unused slot from `index` on."""
        unused = index
        while self._next[unused] != unused:
            unused = self._next[unused]
        while self._next[index] != unused and index != unused:
            self._next[index], index = unused, self._next[index]
        return unused

    def _of_page(self, exchange_index: int, referer: str) -> int:
        """With several tabs, prefer an exchange that the same page requested, in the current segment of its own tab."""
        exchanges, history = self.course.exchanges, self.course
        if header(exchanges[exchange_index].headers, "referer") == referer:
            return exchange_index
        for neighbour in self.neighbours(exchange_index):
            tab_position = history.in_tab.get(exchanges[neighbour].tab, -1)
            if (neighbour > tab_position and neighbour not in history.used
                and history.before[neighbour] <= history.position
                    and header(exchanges[neighbour].headers, "referer") == referer):
                return neighbour
        return exchange_index

    def neighbours(self, exchange_index: int, before: int = 8, after: int = 24) -> list[int]:
        """The exchange indices around one of the queue, in order."""
        index = bisect_left(self.indices, exchange_index)
        return self.indices[max(0, index - before):index + after]


def is_save(exchange: Recorded) -> bool:
    """Whether a request saves something and gets an empty answer. Pages send these while somebody types, any number of
    times."""
    return exchange.method.upper() not in READING and 200 <= exchange.status < 300 and _is_empty(exchange)


def _is_step(exchange: Recorded) -> bool:
    """Whether the site's state may differ afterwards. A failed request changed nothing that is known."""
    if exchange.status == 0:
        return False
    return exchange.top or (exchange.method.upper() not in READING and not is_query(exchange.body))


def _beacons(exchanges: Sequence[Recorded]) -> set[int]:
    """Requests that only report something, at any time: pings, and those to another origin that get no content."""
    beacons = set()
    origins: dict[int, str] = {}  # of the document in a tab
    for index, exchange in enumerate(exchanges):
        if exchange.top:
            origins[exchange.tab] = origin(exchange.url)
        elif exchange.kind == "ping" or ((exchange.method.upper() == "POST" or exchange.status in _EMPTY)
                                         and _is_foreign(exchange, origins) and _is_empty(exchange)):
            beacons.add(index)
    return beacons


def _is_foreign(exchange: Recorded, origins: dict[int, str]) -> bool:
    page = origins.get(exchange.tab) or origin(header(exchange.headers, "referer"))
    return bool(page) and page != origin(exchange.url)


def _is_empty(exchange: Recorded) -> bool:
    if exchange.status in _EMPTY or header(exchange.answer_headers, "content-length") == "0":
        return True
    return 200 <= exchange.status < 300 and not content(exchange)
