"""Runs functions on untrusted input in processes with limits on memory and time, which isolate crashes.

`python sandbox.py`, as `Processes` starts it, reads calls from its standard input and writes an answer to each to its
standard output, until there are no more or none came for a while.
"""

import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeVar

from schemas import DemotapeError, DiskFull, InputError, limits
from schemas.files import is_disk_full

try:
    import resource
except ImportError:  # Windows, where only the time by the clock is limited
    resource = None  # type: ignore[assignment]

_MAX_ATTEMPTS = 3  # a process may end while it has nothing to do: of old age, or as somebody else needs the memory
_IDLE = 60.0  # seconds without a call after which a process ends
_LENGTH = struct.Struct("<Q")
_STATUS = Path("/proc/self/status")
Value = TypeVar("Value")


@dataclass(frozen=True)
class Allowance:
    """What a call may take: seconds of processor time, bytes of memory beyond the idle process, as many times the
    seconds by the clock, bytes of answer."""

    processor: float
    memory: int
    clock: float
    answer: int = limits.BLOB + (1 << 20)

    @property
    def seconds(self) -> float:
        """By the clock: it may have to wait for others who work."""
        return self.processor * self.clock


class LimitExceeded(InputError):
    """A call took more than it was allowed to."""


class TooBusy(DemotapeError):
    """No process was free in time."""


class Processes:
    """At most `count` processes, each for a call at a time. They start when they are needed, end when they are not, and
    are replaced when a call broke one. `niceness`: how far they step back for others."""

    def __init__(self, count: int, niceness: int = 0):
        self._niceness = niceness
        self._free = threading.BoundedSemaphore(count)
        self._lock = threading.Lock()
        self._idle: list[_Process] = []
        self._busy: set[_Process] = set()

    def end(self) -> None:
        """End all processes, also those at work: their calls raise LimitExceeded, and nobody waits for them."""
        with self._lock:
            idle, self._idle = self._idle, []
            busy = [*self._busy]
        for process in idle:
            process.end()
        for process in busy:
            process.end(stopped=True)

    def run(self, allowance: Allowance, subject: str, function: Callable[..., Value], *arguments: object) -> Value:
        """What `function(*arguments)` returns or raises; all of them go through pickle.

        Raises LimitExceeded, naming `subject`, when it takes more than allowed or breaks the process; TooBusy when no
        process gets free.
        """
        call = pickle.dumps((allowance, function, arguments), pickle.HIGHEST_PROTOCOL)
        for _ in range(_MAX_ATTEMPTS):
            with self._process(allowance.seconds) as process:
                answer = process.answer(call, allowance)
            if answer is not None:
                break
        else:
            raise RuntimeError("sandboxed processes end before they start")
        kind, value = answer
        if kind == "returned":
            result: Value = value
            return result
        if kind == "raised":
            error, details = value
            if not isinstance(error, DemotapeError):
                error.add_note(f"In the process with limits:\n{details}")
            raise error
        raise LimitExceeded(f"{subject}: {value}")

    @contextmanager
    def _process(self, patience: float) -> "Iterator[_Process]":
        if not self._free.acquire(timeout=patience):
            raise TooBusy("the server is overloaded; try again later")
        process = None
        try:
            with self._lock:
                process = self._idle.pop() if self._idle else None
            if process is None or not process.lives() or not process.is_current():
                if process is not None:
                    process.end()
                process = _Process(self._niceness)
            with self._lock:
                self._busy.add(process)
            yield process
        finally:
            with self._lock:
                if process is not None:
                    self._busy.discard(process)
                    if process.lives():
                        self._idle.append(process)
            self._free.release()


class _Process:
    """One process."""

    def __init__(self, niceness: int):
        self._environment = dict(os.environ)
        self._popen = subprocess.Popen(
            [sys.executable, "-P", __file__, str(niceness)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # libraries may write there what they read
            start_new_session=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
        self._timed_out = False
        self._stopped = False

    def lives(self) -> bool:
        return self._popen.poll() is None

    def is_current(self) -> bool:
        """Whether it was started with the environment that there is now: credentials stand there."""
        return self._environment == dict(os.environ)

    def answer(self, call: bytes, allowance: Allowance) -> tuple[str, Any] | None:
        """How a call ended and what came of it; None when the process had ended before it began."""
        requests, answers = self._popen.stdin, self._popen.stdout
        assert requests and answers
        alarm = threading.Timer(allowance.seconds, self.end, [True])
        alarm.start()
        try:
            with suppress(OSError):  # it has ended
                requests.write(_LENGTH.pack(len(call)) + call)
                requests.flush()
            begun = answers.read(1)
            content = _read(answers)
        except BaseException:
            self.end()
            raise
        finally:
            alarm.cancel()
        if content is not None:
            answer: tuple[str, Any] = pickle.loads(content)
            if answer[0] == "too much":
                self.end()  # memory that was short may have left it in any state
            return answer
        self.end()
        return ("too much", self._why(allowance)) if begun or self._timed_out or self._stopped else None

    def _why(self, allowance: Allowance) -> str:
        code = self._popen.returncode
        if self._stopped:
            return "stopped"
        if self._timed_out:
            return f"takes longer than {allowance.seconds:.0f} s"
        if code == -getattr(signal, "SIGXCPU", 0):
            return f"takes more than {allowance.processor:.0f} s of processor time"
        return f"its process crashed (status {code}); the input is damaged or requires too much memory"

    def end(self, late: bool = False, *, stopped: bool = False) -> None:
        """End it and all that it has started. `late`, `stopped`: why it is ended while another thread waits for it."""
        self._timed_out = self._timed_out or late
        self._stopped = self._stopped or stopped
        with suppress(OSError):
            if hasattr(os, "killpg") and self._popen.poll() is None:
                os.killpg(self._popen.pid, signal.SIGKILL)
            else:
                self._popen.kill()
        if not late and not stopped:  # else another thread waits for it
            self._popen.wait()
            for pipe in (self._popen.stdin, self._popen.stdout):
                with suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]  # both are pipes


def _read(source: IO[bytes]) -> bytes | None:
    """The next call or answer; None when there is no whole one."""
    header = source.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        return None
    length = _LENGTH.unpack(header)[0]
    content = source.read(length)
    return content if len(content) == length else None


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer calls, until there are no more."""
    while _wait_for_call(requests) and (call := _read(requests)) is not None:
        answers.write(b"!")  # it has begun
        answers.flush()
        try:
            allowance, function, arguments = pickle.loads(call)
        except Exception as error:
            answer = _pickle_error(error)
        else:
            answer = _call(allowance, function, arguments)
            del function, arguments
        answers.write(_LENGTH.pack(len(answer)) + answer)
        answers.flush()
        del answer


def _call(allowance: Allowance, function: Callable[..., object], arguments: tuple[object, ...]) -> bytes:
    _limit(allowance)
    try:
        answer = _pickle(("returned", function(*arguments)))
    except MemoryError:
        answer = _pickle(("too much", f"requires more than {limits.size(allowance.memory)} of memory"))
    except Exception as error:
        answer = _pickle_error(error)
    if len(answer) > allowance.answer:
        return _pickle(("too much", f"its result is larger than {limits.size(allowance.answer)}"))
    return answer


def _pickle_error(error: Exception) -> bytes:
    details = traceback.format_exc()
    if is_disk_full(error):  # what it came from does not go through pickle
        error = DiskFull(str(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # some libraries' exceptions cannot be sent
        error = _builtin_base(error)(type(error).__name__)
    return _pickle(("raised", (error, details)))


def _builtin_base(error: Exception) -> type[Exception]:
    """The kind of a library's exception that everybody knows: callers handle some kinds."""
    kinds = (ArithmeticError, LookupError, ValueError, TypeError, AttributeError, RuntimeError)
    return next((kind for kind in kinds if isinstance(error, kind)), RuntimeError)


def _pickle(answer: tuple[str, object]) -> bytes:
    return pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)


def _limit(allowance: Allowance) -> None:
    """From what was taken until now on, so that a process serves many calls alike."""
    if resource is None:
        return
    used = ceil(time.process_time() + allowance.processor)
    resource.setrlimit(resource.RLIMIT_CPU, (used, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    if _STATUS.exists():  # elsewhere than on Linux this limit counts other things
        line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmData:"))
        used_memory = int(line.split()[1]) << 10
        resource.setrlimit(resource.RLIMIT_DATA,
                           (used_memory + allowance.memory, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def _wait_for_call(requests: BinaryIO) -> bool:
    """Wait for a call; false when none comes for long."""
    return os.name == "nt" or bool(select.select([requests], [], [], _IDLE)[0])


def _end_with_parent() -> None:
    """End this process and all that it started when the one that calls it ends, however that ends: nobody would wait
    for the result, and another run may write the same files."""
    if not hasattr(select, "poll"):  # Windows
        return

    def watch() -> None:
        requests = select.poll()
        requests.register(sys.stdin.fileno(), 0)  # reports only that nobody can write any more
        requests.poll()
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True, name="parent").start()


def main() -> None:
    """Serve; what else is printed here goes nowhere."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # what was captured stays out of core files
    if hasattr(os, "nice"):
        os.nice(int(sys.argv[1]))
    from pipeline import workers  # here: whoever starts processes needs nothing of what they need

    _end_with_parent()
    workers.begin(sandboxed=True)
    with suppress(BrokenPipeError):
        _serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
