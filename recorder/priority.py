"""Reduced priority of work that may wait for the browser."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NICENESS = 10  # of work that may wait
_GROUP_INTERVAL_S = 0.11  # in which Linux lets users who are not root set the niceness of one group
_TURN = 0.0005  # seconds for which a thread keeps Python to itself when another one asks (5 ms by default)
_lock = threading.Lock()
_open = 0
_before = 0.0


def step_back(process: int) -> None:
    """Let a process that has just been started, and the threads that it starts, run when nobody else wants to."""
    if hasattr(os, "setpriority"):
        with suppress(OSError):  # it has ended, or may not
            os.setpriority(os.PRIO_PROCESS, process, NICENESS)
    if not set_group_niceness(process, NICENESS):
        again = threading.Timer(_GROUP_INTERVAL_S, set_group_niceness, (process, NICENESS))
        again.daemon = True
        again.start()


def step_back_thread() -> None:
    """The same for the calling thread alone; where the system knows no priority of threads, for its process."""
    if hasattr(os, "setpriority"):
        thread = threading.get_native_id() if sys.platform == "linux" else 0
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, thread, NICENESS)


def set_group_niceness(process: int, niceness: int) -> bool:
    """Set the niceness of a process that leads a session, among those of other sessions; it can be set back.

    Where Linux groups processes by session (sched(7), "The autogroup feature"), a process's own niceness counts only
    among those of its own session: one that leads a session gets the group's niceness set too, else it has an equal
    share of the machine. Returns False when the system is to be asked again a moment later.
    """
    if hasattr(os, "getsid"):
        try:
            if os.getsid(process) == process:
                Path(f"/proc/{process}/autogroup").write_text(str(niceness), encoding="ascii")
        except BlockingIOError:
            return False
        except OSError:  # it has ended, or there are no groups
            pass
    return True


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
