"""A bulkhead: limits how many threads of a process wait for a slow service. The other threads go on with work that
does not need it, and requests that need it fail fast.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from curator_web.errors import StoreUnavailable

MAX_CONCURRENT = 3  # one less than the threads that docs/production.md gives to a process
SLOW_AFTER_S = 0.5  # from which on a waiting thread counts as slow
MAX_SLOW_THREADS = 2  # of one process, from which on no more are admitted
ACQUIRE_TIMEOUT_S = 0.25  # until a slot is free


class Bulkhead:
    """The slots of one service in one process. Safe to use from several threads."""

    def __init__(self) -> None:
        self._changed, self._numbers = threading.Condition(), count()
        self._since: dict[int, float] = {}

    @contextmanager
    def acquire(self, service: str) -> Iterator[None]:
        """Admit a thread that waits for the service. Raises StoreUnavailable where the service is slow, or no slot
        becomes free in time."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._since) < MAX_CONCURRENT or self._keeps_waiting(),
                                   ACQUIRE_TIMEOUT_S)
            if len(self._since) >= MAX_CONCURRENT or self._keeps_waiting():
                raise StoreUnavailable(f"{service}: {len(self._since)} other requests are waiting; try again in a "
                                       "moment")
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
        return sum(now - since > SLOW_AFTER_S for since in self._since.values()) >= MAX_SLOW_THREADS
