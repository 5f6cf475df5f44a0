"""Functions that exceed limits as hostile input could: for tests of processes with limits."""

import errno
import os
import signal
import time
from pathlib import Path

from schemas import InputError


def echo(value: object) -> object:
    return value


def pid() -> int:
    return os.getpid()


def spin(*_: object) -> None:
    while True:
        pass


def swell(*_: object) -> None:
    held = []
    while True:
        held.append(bytes(1 << 20))


def rest() -> None:
    time.sleep(600)


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def shout() -> bytes:
    return bytes(3 << 20)


def half_written(_package: Path, recording: Path, _name: str) -> None:
    recording.mkdir()
    (recording / "recording.json").write_text("{")
    swell()


def meets_a_full_disk() -> None:
    """Fail as what writes does, in words of its own."""
    try:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError:
        raise InputError("x: cannot be written") from None
