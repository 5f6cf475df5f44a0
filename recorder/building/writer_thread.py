"""The writer's thread: runs jobs in order, until writing fails."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack

from recorder.priority import quick_turns
from schemas import DemotapeError

_LATE_S = 0.25  # time for which a job has waited: there is too much work
_STARVED_S = 0.2  # time in a job in which the thread did not run: the machine is too busy
_FADING = 0.9  # share of the latter that counts after the next job


class WriterThread:
    """`on_failure` and `on_lost` are called in the thread: the one once, with the error after which nothing more is
    written (the disk's), the other with every error that costs but the job it comes from."""

    def __init__(self, on_failure: Callable[[Exception], None], on_lost: Callable[[Exception], None]):
        self._on_failure = on_failure
        self._on_lost = on_lost
        self._failed = self._closing = False
        self._waited_s = 0.0  # time for which the job in work has waited
        self._starved_s = 0.0  # time in recent jobs in which the thread did not run
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._turns = ExitStack()

    def begin(self) -> None:
        """From now on jobs come, among what talks to the browser: Python's threads give way sooner until `close`."""
        self._turns.enter_context(quick_turns())

    def submit(self, job: Callable[[], None]) -> None:
        """Hand over a job; nothing once the thread is to end."""
        if not self._closing:
            self._thread.submit(self._do, job, time.monotonic())

    def is_late(self) -> bool:
        """Whether the job that is being done is to leave out what only saves space: it waited long, or would be long.
        """
        return self._waited_s > _LATE_S or self._starved_s > _STARVED_S

    def drain(self) -> None:
        """Wait until all that was handed over is done."""
        if not self._failed:
            wait([self._thread.submit(lambda: None)])

    def close(self) -> None:
        """Do what waits, and end."""
        self._closing = True
        self._thread.shutdown(wait=True)
        self._turns.close()

    def _do(self, job: Callable[[], None], submitted: float) -> None:
        if self._failed:
            return
        started, processor_started = time.monotonic(), time.thread_time()
        self._waited_s = started - submitted
        try:
            job()
        except (DemotapeError, OSError, MemoryError) as error:
            self._failed = True
            self._on_failure(error)
        except Exception as error:
            self._on_lost(error)
        starved_s = time.monotonic() - started - (time.thread_time() - processor_started)
        self._starved_s = max(self._starved_s * _FADING, starved_s)
