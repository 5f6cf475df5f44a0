"""A circuit breaker: one background thread probes a service that does not respond; other callers fail immediately. The
server's processes on a machine share what they know by a file: one finds out, not each.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from curator_web.errors import StoreUnavailable

EVERY = 1.0  # seconds between two tries
_FRESH = 8.0  # seconds for which the word of a process holds that may have been killed since; longer than a try takes
_LONGEST = 1000  # characters of a reason


class Breaker:
    """`answers`: asks the service for something small; whether it answered. `shared`: the file, in a folder that all
    processes write to; it is there while the service is away, and says why."""

    def __init__(self, answers: Callable[[], bool], shared: Path | None = None):
        self._ask_it, self._shared, self._lock = answers, shared, threading.Lock()
        self._why, self._answers = "", threading.Event()
        self._answers.set()

    @property
    def is_open(self) -> bool:
        """Whether nothing is asked now."""
        return not self._answers.is_set() or self._reported() is not None

    def require_closed(self) -> None:
        """Raises StoreUnavailable where the service did not answer when it was asked last, by whichever process."""
        why = self._reported() if self._answers.is_set() else self._why
        if why is not None:
            raise StoreUnavailable(f"{why}; retrying every second")

    def open(self, why: str) -> None:
        """It has not answered: nobody is let through until it does."""
        with self._lock:
            if not self._answers.is_set():
                return
            self._why = why
            self._answers.clear()
            self._report()
            threading.Thread(target=self._probe, daemon=True, name="store-probe").start()

    def _probe(self) -> None:
        pause = threading.Event()
        while not pause.wait(EVERY) and not self._ask_it():
            self._report()
        if self._shared:
            with suppress(OSError):
                self._shared.unlink(missing_ok=True)
        self._answers.set()

    def _report(self) -> None:
        """Tell the other processes; each finds out by itself where the disk is full."""
        if self._shared:
            with suppress(OSError):
                self._shared.write_text(self._why, encoding="utf-8")

    def _reported(self) -> str | None:
        """Why the service is away as another process says, if one has said so just now."""
        if not self._shared:
            return None
        with suppress(OSError):
            if time.time() - self._shared.stat().st_mtime < _FRESH:
                reason = self._shared.read_text(encoding="utf-8", errors="replace")[:_LONGEST]
                return reason or "the service does not respond"  # it is being written
        return None
