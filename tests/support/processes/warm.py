"""Commands in processes with preloaded third-party packages, whose import takes a new interpreter most of a second.

Each is a process of its own, forked from one that has imported nothing of ours: our code is imported anew, from the
path that is given. What all of them share is the order of sets (PYTHONHASHSEED), so what shows that bytes do not depend
on that is run by new interpreters.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from . import warm_process


class Warm:
    """Runs commands one after the other."""

    def __init__(self, connection: socket.socket):
        self._connection = connection

    def run(self, program: str, arguments: Sequence[str], *, path: Sequence[Path], environment: Mapping[str, str],
            timeout: float) -> subprocess.CompletedProcess:
        """As `python -c program` with these arguments, PYTHONPATH and variables, without input."""
        told = json.dumps({"program": program, "arguments": arguments, "path": list(map(str, path)),
                           "environment": {**environment, "PYTHONPATH": os.pathsep.join(map(str, path))}}).encode()
        with (open(os.devnull, "rb") as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err):
            socket.send_fds(self._connection, [b"%16d" % len(told)], [each.fileno() for each in (given, out, err)])
            self._connection.sendall(told)
            pid = self._number()
            self._connection.settimeout(timeout)
            try:
                code = self._number()
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise
            finally:
                self._connection.settimeout(None)
            texts = []
            for each in (out, err):
                each.seek(0)
                texts.append(each.read().decode())
        return subprocess.CompletedProcess(arguments, code, *texts)

    def _number(self) -> int:
        text = b""
        while len(text) < 16:
            part = self._connection.recv(16 - len(text))
            assert part, "the process that forks has ended"
            text += part
        return int(text)


@contextmanager
def warm() -> Iterator[Warm]:
    """The process that forks, while it is needed."""
    ours, theirs = socket.socketpair()
    process = subprocess.Popen([sys.executable, warm_process.__file__, str(theirs.fileno())],
                               pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    theirs.close()
    try:
        yield Warm(ours)
    finally:
        ours.close()
        process.kill()
        process.wait()
