"""Commands on hostile files, in processes of their own, and what each said."""

import os
import re
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

PATIENCE = 60.0  # seconds; a command that takes so long is counted so and given up
# An error that is none of ours, told by its Python name: a traceback in one line.
_FAULT = re.compile(
    r"\b(?:\w*(?:Key|Value|Type|Index|Attribute|Overflow|Recursion|Assertion|Runtime|Memory|Unicode\w{0,9}|"
    r"ZeroDivision|OS|Zstd|FFmpeg|Lookup|Permission|IsADirectory|FileNotFound|Zlib|LZMA)Error|cv2\.error|"
    r"Traceback \(most)\b"
)


@dataclass(frozen=True)
class Done:
    """How a command ended: `fault` is a traceback, or an error by its Python name; empty when there is none."""

    arguments: tuple[str, ...]
    seconds: float
    fault: str
    said: str


def run(arguments: tuple[str, ...]) -> Done:
    """Run one command in this process."""
    from click.testing import CliRunner

    from demotape.cli import main

    began, fault = time.perf_counter(), ""
    try:
        done = CliRunner().invoke(main, list(arguments))
        said = done.output
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            fault = "".join(traceback.format_exception(done.exception))
        elif found := _FAULT.search(" ".join(said.split())):
            fault = f"{found[0]}: {said[:300]}"
    except Exception:
        said, fault = "", traceback.format_exc()
    return Done(arguments, time.perf_counter() - began, fault, said)


def fault_in(note: str) -> str:
    """An error by its Python name in what somebody was told; empty when there is none."""
    found = _FAULT.search(note)
    return found[0] if found else ""


def _prepare(cwd: str, tmp: str) -> None:
    os.chdir(cwd)
    tempfile.tempdir = tmp
    from demotape import cli, importing  # noqa: F401  # what is loaded once is no one command's
    from pipeline import batch, verify  # noqa: F401


class Commands:
    """Processes in which commands are run. One that hangs is given up with its process."""

    def __init__(self, cwd: Path, tmp: Path, count: int):
        self._given, self._count = (str(cwd), str(tmp)), count
        self._pool = self._new()

    def _new(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self._count, mp_context=get_context("spawn"), initializer=_prepare, initargs=self._given
        )

    def pids(self) -> list[int]:
        """Of its processes, which have loaded what commands need."""
        list(self._pool.map(run, [("--version",)] * 8))
        return list(self._pool._processes)

    def each(self, commands: Iterable[tuple[str, ...]]) -> Iterator[Done]:
        """What came of each command, in order; those after one that hangs or dies are begun anew."""
        waiting = list(commands)
        while waiting:
            futures = [self._pool.submit(run, command) for command in waiting]
            for place, future in enumerate(futures, 1):
                try:
                    yield future.result(timeout=PATIENCE)
                except (TooLate, BrokenProcessPool) as error:
                    yield Done(waiting[place - 1], PATIENCE, f"{type(error).__name__}: it hung or died", "")
                    self.close(hard=True)
                    self._pool = self._new()
                    waiting = waiting[place:]
                    break
            else:
                return

    def close(self, hard: bool = False) -> None:
        """End the processes."""
        if hard:
            for process in list(self._pool._processes.values()):
                process.kill()
        self._pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def commands(cwd: Path, tmp: Path, count: int) -> Iterator[Commands]:
    """So many processes for commands, for a while."""
    made = Commands(cwd, tmp, count)
    try:
        yield made
    finally:
        made.close()
