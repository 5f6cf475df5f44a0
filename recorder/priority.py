"""Work that may wait: the browser that a person acts in comes first."""

import os
import sys
import threading
from contextlib import suppress


def step_back(niceness: int) -> None:
    """Let the calling thread, and those it starts, run when nobody else wants to; only Linux knows this of a thread."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)
