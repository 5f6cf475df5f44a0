"""Places for threads that wait for a service: where it keeps a few of a process's waiting, the others go on with what
needs nothing of it, and whoever needs it is told so (a bulkhead).
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from curator_web.errors import StoreAway

PLACES = 3  # one less than the threads that docs/production.md gives to a process
LONG = 0.5  # seconds from which on a thread is kept waiting
MOST = 2  # threads of a process that may be
FOR_A_PLACE = 0.25  # seconds, at most, until there is one


class Places:
    """Those of one service in one process. Safe to use from several threads."""

    def __init__(self) -> None:
        self._changed, self._numbers = threading.Condition(), count()
        self._since: dict[int, float] = {}

    @contextmanager
    def one(self, service: str) -> Iterator[None]:
        """Take a place while a thread waits. Raises StoreAway where others are kept waiting, and where all places stay
        taken."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._since) < PLACES or self._keeps_waiting(), FOR_A_PLACE)
            if len(self._since) >= PLACES or self._keeps_waiting():
                raise StoreAway(f"{service}: keeps {len(self._since)} others waiting; try again in a moment")
            number = next(self._numbers)
            self._since[number] = time.monotonic()
        try:
            yield
        finally:
            with self._changed:
                del self._since[number]
                self._changed.notify()

    def _keeps_waiting(self) -> bool:
        now = time.monotonic()
        return sum(now - since > LONG for since in self._since.values()) >= MOST
