"""A circuit breaker: a service that did not answer is asked by one thread in the background until it does; whoever else
asks meanwhile is told so at once, and no page waits for it."""

import threading
from collections.abc import Callable

from curator_web.errors import StoreAway

EVERY = 1.0  # seconds between two tries


class Breaker:
    """`answers`: asks the service for something small; whether it answered."""

    def __init__(self, answers: Callable[[], bool]):
        self._ask_it, self._lock = answers, threading.Lock()
        self._why, self._answers = "", threading.Event()
        self._answers.set()

    @property
    def is_open(self) -> bool:
        """Whether nothing is asked now."""
        return not self._answers.is_set()

    def expect_closed(self) -> None:
        """Raises StoreAway where the service did not answer when it was asked last."""
        if self.is_open:
            raise StoreAway(f"{self._why}; it is asked again every second")

    def open(self, why: str) -> None:
        """It has not answered: nobody is let through until it does."""
        with self._lock:
            if self.is_open:
                return
            self._why = why
            self._answers.clear()
            threading.Thread(target=self._ask, daemon=True, name="store-probe").start()

    def _ask(self) -> None:
        pause = threading.Event()
        while not pause.wait(EVERY):
            if self._ask_it():
                self._answers.set()
                return
