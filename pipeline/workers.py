"""Settings of processes that work on recordings."""

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from schemas import DemotapeError

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h
_RETAINED_HEAP_BYTES = 64 << 20  # bytes freed at the top of the heap that may stay there
_HEAP_BLOCK = 32 << 20  # bytes of the largest block that comes from the heap; glibc takes no larger one
_is_sandboxed = False


class WorkLost(DemotapeError):
    """A cluster did not finish some work. The message says why, and does not name the work."""


@cache
def retain_freed_memory() -> None:
    """Have the C library keep some memory that was freed for what is asked for next.

    A picture is a few megabytes. glibc asks the system for each block of that size and gives it back at once, always
    so in a Dask worker (its nanny sets MALLOC_TRIM_THRESHOLD_) and else until it has learned better; the system clears
    every page anew: a third of the time that a recording takes. Does nothing where there is no glibc. See mallopt(3).
    """
    if platform.libc_ver()[0] != "glibc":
        return
    mallopt = ctypes.CDLL(None).mallopt
    mallopt(_M_MMAP_THRESHOLD, _HEAP_BLOCK)
    mallopt(_M_TRIM_THRESHOLD, _RETAINED_HEAP_BYTES)


def begin(*, sandboxed: bool = False) -> None:
    """What a process of a pool begins with: the cores are left to the others, each of which has work of its own.

    `sandboxed`: it is one of `pipeline.sandbox`.
    """
    import cv2

    global _is_sandboxed
    _is_sandboxed = sandboxed
    cv2.setNumThreads(1)
    retain_freed_memory()


def is_sandboxed() -> bool:
    """Whether this process has limits and works on untrusted data only."""
    return _is_sandboxed


@contextmanager
def without_limits() -> Iterator[None]:
    """Start a program meanwhile that does not inherit the limits of this process, such as a browser: it has its own,
    and reserves more memory than it uses. The limits that the system sets stay."""
    if resource is None:
        yield
        return
    limits = {kind: resource.getrlimit(kind) for kind in (resource.RLIMIT_DATA, resource.RLIMIT_CPU)}
    try:
        for kind, (_, system_limit) in limits.items():
            resource.setrlimit(kind, (system_limit, system_limit))
        yield
    finally:
        for kind, both in limits.items():
            resource.setrlimit(kind, both)
