"""Work that may wait: the browser that a person acts in comes first."""

import os
from contextlib import suppress


def step_back(process: int, niceness: int = 10) -> None:
    """Let a process that has just been started, and the threads that it starts, run when nobody else wants to."""
    if hasattr(os, "setpriority"):
        with suppress(OSError):  # it has ended, or may not
            os.setpriority(os.PRIO_PROCESS, process, niceness)
