"""Reduced priority of work that may wait for the browser."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_TURN = 0.0005  # seconds for which a thread keeps Python to itself when another one asks (5 ms by default)
_lock = threading.Lock()
_open = 0
_before = 0.0


def step_back(process: int, niceness: int = 10) -> None:
    """Let a process that has just been started, and the threads that it starts, run when nobody else wants to.

    Where Linux groups processes by session (sched(7), "The autogroup feature"), its niceness counts only among those of
    its own session: one that leads a session gets the group's niceness set too, else it has an equal share of the
    machine.
    """
    if not hasattr(os, "setpriority"):
        return
    with suppress(OSError):  # it has ended, or may not
        os.setpriority(os.PRIO_PROCESS, process, niceness)
        if os.getsid(process) == process:
            Path(f"/proc/{process}/autogroup").write_text(str(niceness), encoding="ascii")


@contextmanager
def quick_turns() -> Iterator[None]:
    """Let Python's threads give way sooner.

    Else the thread that talks to the browser waits 5 ms for one that writes each time the browser has said something,
    and with it who acts in the page. It holds for the whole process (`sys.setswitchinterval`) until the last one who
    asked for it is done.
    """
    global _open, _before
    with _lock:
        if not _open:
            _before = sys.getswitchinterval()
            sys.setswitchinterval(min(_before, _TURN))
        _open += 1
    try:
        yield
    finally:
        with _lock:
            _open -= 1
            if not _open:
                sys.setswitchinterval(_before)
