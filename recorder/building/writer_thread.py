"""The writer's thread: runs jobs in order, until writing fails."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack

from recorder.priority import quick_turns
from schemas import DemotapeError


class WriterThread:
    """`on_failure` and `on_lost` are called in the thread: the one once, with the error after which nothing more is
    written (the disk's), the other with every error that costs but the job it comes from."""

    def __init__(self, on_failure: Callable[[Exception], None], on_lost: Callable[[Exception], None]):
        self._on_failure = on_failure
        self._on_lost = on_lost
        self._failed = self._closing = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._turns = ExitStack()

    def begin(self) -> None:
        """From now on jobs come, among what talks to the browser: Python's threads give way sooner until `close`."""
        self._turns.enter_context(quick_turns())

    def submit(self, job: Callable[[], None]) -> None:
        """Hand over a job; nothing once the thread is to end."""
        if not self._closing:
            self._thread.submit(self._do, job)

    def drain(self) -> None:
        """Wait until all that was handed over is done."""
        if not self._failed:
            wait([self._thread.submit(lambda: None)])

    def close(self) -> None:
        """Do what waits, and end."""
        self._closing = True
        self._thread.shutdown(wait=True)
        self._turns.close()

    def _do(self, job: Callable[[], None]) -> None:
        if self._failed:
            return
        try:
            job()
        except (DemotapeError, OSError, MemoryError) as error:
            self._failed = True
            self._on_failure(error)
        except Exception as error:
            self._on_lost(error)
