"""What a machine under attack is watched by: memory of its processes, and how long others wait for an answer."""

import multiprocessing
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event

import psutil
import requests

_EVERY = 0.02  # seconds between two looks at memory
_ASKED = 0.1  # seconds between two requests of somebody else


class Memory:
    """The largest resident set of processes and all that they start, over what such a process takes when idle."""

    def __init__(self) -> None:
        self.most, self.total = 0, 0
        self._roots: dict[int, int] = {}
        self._idle: dict[str, int] = {}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def watch(self, pid: int) -> None:
        """Take what a process and its children hold now as what they take when idle."""
        for process in _tree(pid):
            role = _role(process)
            self._idle[role] = max(self._idle.get(role, 0), process.memory_info().rss)
        self._roots[pid] = sum(process.memory_info().rss for process in _tree(pid))
        if not self._thread.is_alive():
            self._thread.start()

    def close(self) -> None:
        """Look no more."""
        self._end.set()
        if self._thread.is_alive():
            self._thread.join()

    def _look(self) -> None:
        while not self._end.wait(_EVERY):
            for root, idle in list(self._roots.items()):
                held = 0
                for process in _tree(root):
                    try:
                        size = process.memory_info().rss
                        held += size
                        self.most = max(self.most, size - self._idle.get(_role(process), 0))
                    except psutil.Error:  # it has ended
                        continue
                self.total = max(self.total, held - idle)


def _tree(pid: int) -> list[psutil.Process]:
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.Error:
        return []


def _role(process: psutil.Process) -> str:
    """Whether it is one with limits, or one that serves or is a command."""
    try:
        return "limited" if any(part.endswith("sandbox.py") for part in process.cmdline()) else "whole"
    except psutil.Error:
        return "whole"


class Others:
    """Somebody else, in a process of their own, who asks for ordinary pages while `measuring` is set."""

    def __init__(self, address: str, token: str):
        context = multiprocessing.get_context("spawn")
        self.measuring = context.Event()
        self._end = context.Event()
        self._times, given = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_ask, args=(address, token, self.measuring, self._end, given), daemon=True
        )
        self._process.start()

    def close(self) -> list[float]:
        """Seconds that each answer took."""
        self._end.set()
        times: list[float] = self._times.recv()
        self._process.join()
        return times


def _ask(address: str, token: str, measuring: Event, end: Event, given: Connection) -> None:
    times, session = [], requests.Session()
    session.headers["Authorization"] = f"Bearer {token}"
    while not end.is_set():
        for path in ("sign-in", "", "api/demonstrations", "demonstrations/rec-1"):
            if measuring.is_set():
                began = time.perf_counter()
                with suppress(requests.RequestException):
                    session.get(address + path, timeout=60)
                times.append(time.perf_counter() - began)
            end.wait(_ASKED)
    given.send(times)
