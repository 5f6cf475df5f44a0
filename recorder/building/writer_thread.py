"""The writer's thread: jobs in the order they were handed over, until nothing more can be written.

It leaves the machine to who acts and to what answers them: a press is mostly followed by what comes of it, the request
for another page, say, and two threads of Python delay each other there. So a job waits until nothing more is handed
over, for a third of a second at most, which is what a recorder that is killed loses.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack

from recorder.priority import quick_turns
from schemas import DemotapeError

_REST = 0.12  # seconds in which nothing is handed over, after which what waits is done
_LATEST = 0.3  # seconds that a job waits at most


class WriterThread:
    """`on_failure` and `on_lost` are called in the thread: the one once, with the error after which nothing more is
    written (the disk's), the other with every error that costs but the job it comes from."""

    def __init__(self, on_failure: Callable[[Exception], None], on_lost: Callable[[Exception], None]):
        self._on_failure = on_failure
        self._on_lost = on_lost
        self._failed = self._closing = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._turns = ExitStack()
        self._last = 0.0  # when a job was handed over
        self._hurry = threading.Event()  # somebody waits for what was handed over

    def begin(self) -> None:
        """From now on jobs come, among what talks to the browser: Python's threads give way sooner until `close`."""
        self._turns.enter_context(quick_turns())

    def submit(self, job: Callable[[], None]) -> None:
        """Hand over a job; nothing once the thread is to end."""
        if not self._closing:
            self._last = time.monotonic()
            self._thread.submit(self._do, job, self._last)

    def drain(self) -> None:
        """Wait until all that was handed over is done."""
        if self._failed:
            return
        self._hurry.set()
        wait([self._thread.submit(lambda: None)])
        self._hurry.clear()

    def close(self) -> None:
        """Do what waits, and end."""
        self._closing = True
        self._hurry.set()
        self._thread.shutdown(wait=True)
        self._turns.close()

    def _do(self, job: Callable[[], None], handed_over: float) -> None:
        if self._failed:
            return
        while (left := min(self._last + _REST, handed_over + _LATEST) - time.monotonic()) > 0:
            if self._hurry.wait(left):
                break
        try:
            job()
        except (DemotapeError, OSError, MemoryError) as error:
            self._failed = True
            self._on_failure(error)
        except Exception as error:
            self._on_lost(error)
