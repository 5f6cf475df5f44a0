"""Work of commands on captured data: in processes with limits, so that the command's own parses none of it."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from schemas import limits

from . import workers
from .sandbox import Allowance, Processes

_MAX_CALLS = 1024  # at a time; callers have far fewer
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
    return _PROCESSES[background].run(allowance, subject, function, *arguments)


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
