"""Places for threads that wait for a service: where it keeps a few of a process's waiting, the others go on with what
needs nothing of it, and whoever needs it is told so at once (a bulkhead).
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from curator_web.errors import StoreAway

LONG = 0.5  # seconds from which on a thread is kept waiting
MOST = 2  # threads of a process that may be: half of those that docs/production.md gives to each


class Places:
    """Those of one service in one process. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock, self._numbers = threading.Lock(), count()
        self._since: dict[int, float] = {}

    @contextmanager
    def one(self, service: str) -> Iterator[None]:
        """Take a place while a thread waits; raises StoreAway where MOST others have waited for LONG."""
        with self._lock:
            now = time.monotonic()
            if sum(now - since > LONG for since in self._since.values()) >= MOST:
                raise StoreAway(f"{service}: keeps {MOST} others waiting; try again in a moment")
            number = next(self._numbers)
            self._since[number] = now
        try:
            yield
        finally:
            with self._lock:
                del self._since[number]
