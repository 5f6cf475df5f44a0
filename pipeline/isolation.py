"""Work of commands on captured data: in processes with limits, so that the command's own parses none of it."""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from schemas import limits

from . import workers
from .sandbox import Allowance, Processes

_MAX_CALLS = 1024  # at a time; callers have far fewer
_LOGGER = "demotape"  # whose warnings are handed on; what libraries log may contain what they read
_MAX_WARNINGS, _MAX_WARNING_CHARS = 1000, 2000  # of one call
_PROCESSES = {False: Processes(_MAX_CALLS), True: Processes(_MAX_CALLS, niceness=10)}  # True: in the background
PAGE = Allowance(limits.VIEW_SECONDS, limits.WORK_MEMORY, limits.VIEW_CLOCK)
TRIAL = Allowance(limits.TRIAL_SECONDS, limits.MAX_MEMORY_BYTES, limits.JOB_CLOCK)
Value = TypeVar("Value")


def run_isolated(allowance: Allowance, subject: str, function: Callable[..., Value], *arguments: Any,
                 background: bool = False) -> Value:
    """Return or raise what a function on captured data does, in a process with limits; in such a process, here.

    Arguments and result go through pickle. `background`: with low priority. Raises LimitExceeded, naming `subject`.
    """
    if workers.is_sandboxed():
        return function(*arguments)
    try:
        value, warnings = _PROCESSES[background].run(allowance, subject, _call_with_warnings, function, arguments)
    except Exception as error:
        _log(getattr(error, "warnings", []))
        raise
    _log(warnings)
    return value


class _Warnings(logging.Handler):
    """Keeps the warnings of a call, up to a limit."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        if len(self.records) < _MAX_WARNINGS:
            self.records.append((record.name, record.getMessage()[:_MAX_WARNING_CHARS]))


def _call_with_warnings(function: Callable[..., Value], arguments: tuple[Any, ...]
                        ) -> tuple[Value, list[tuple[str, str]]]:
    """In the process with limits: what the function returns, and the warnings that it logged, by logger; an error has
    them in its attribute `warnings`."""
    logger, handler = logging.getLogger(_LOGGER), _Warnings()
    logger.addHandler(handler)
    try:
        return function(*arguments), handler.records
    except Exception as error:
        error.warnings = handler.records  # type: ignore[attr-defined]
        raise
    finally:
        logger.removeHandler(handler)


def _log(warnings: list[tuple[str, str]]) -> None:
    """Log the warnings of a call here, where a person or a log file gets them."""
    for name, text in warnings:
        if name.partition(".")[0] == _LOGGER:
            logging.getLogger(name).warning("%s", text)


@contextmanager
def isolating_threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """Threads for so many calls of `run_isolated` at a time. Where this is broken off, such as by Ctrl-C, work in
    progress ends."""
    threads = ThreadPoolExecutor(count, thread_name_prefix="isolated")
    try:
        yield threads
    except BaseException:
        threads.shutdown(wait=False, cancel_futures=True)
        for processes in _PROCESSES.values():
            processes.end()
        raise
    finally:
        threads.shutdown(cancel_futures=True)


def allowance_for(*files: Path | None) -> Allowance:
    """What the processing of files may take, folders with all that is in them: by their size."""
    size = sum(_size(path) for path in files if path is not None) / (1 << 20)
    return Allowance(limits.EXPORT_SECONDS + limits.JOB_SECONDS_MIB * size,
                     limits.MAX_MEMORY_BYTES, limits.JOB_CLOCK, limits.MAX_MEMORY_BYTES)


def _size(path: Path) -> int:
    """Bytes of a file or a folder; 0 of what cannot be read, about which whoever reads it complains."""
    try:
        if path.is_dir():
            return sum(file.stat(follow_symlinks=False).st_size for file in path.rglob("*") if not file.is_dir())
        return path.stat().st_size
    except OSError:
        return 0
