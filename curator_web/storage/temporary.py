"""Temporary files and folders of a data folder, and what killed processes left of theirs.

Each process holds a lock of the system on a file of its own in `.owners/` as long as it lives, and its temporary names
hold that file's name. What belongs to a lock that nobody holds is left over.
"""

import os
import re
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO

from filelock import lock_descriptor

OWNED = re.compile(r"\.(?:tmp|package|weblinx)-([0-9a-f]{12})-")
UNOWNED = re.compile(r"\.(?:tmp|package|weblinx)-(?![0-9a-f]{12}-)")  # as they were named before they had owners
UNOWNED_SECONDS = 24 * 3600.0


@cache
def _of_this_process(data_dir: Path) -> "Temporary":
    return Temporary(data_dir)


class Temporary:
    """Makes what is temporary in a data folder. Sent to another process, it is an owner of its own."""

    def __init__(self, data_dir: Path):
        self._data_dir = data_dir
        self._lock = threading.Lock()
        self._owner: tuple[int, str] | None = None  # the process, and its name

    def __reduce__(self):
        return _of_this_process, (self._data_dir,)

    @contextmanager
    def folder(self, kind: str = "tmp", within: Path | None = None) -> Iterator[Path]:
        """A new folder, which is gone at the end unless it was moved away. `within`: a folder below the data folder."""
        path = Path(tempfile.mkdtemp(dir=within or self._data_dir, prefix=f".{kind}-{self._name()}-"))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    @contextmanager
    def file(self, within: Path | None = None) -> Iterator[tuple[IO[bytes], Path]]:
        """A new file, open for writing and reading, which is gone at the end unless it was moved away."""
        descriptor, name = tempfile.mkstemp(dir=within or self._data_dir, prefix=f".tmp-{self._name()}-")
        try:
            with os.fdopen(descriptor, "w+b") as file:
                yield file, Path(name)
        finally:
            Path(name).unlink(missing_ok=True)

    def remove_left_over(self) -> list[Path]:
        """Take away what processes left that ended without clearing up; returns what it was."""
        removed = []
        for folder in (self._data_dir, self._data_dir / "recordings", *_folders(self._data_dir / "cache")):
            for entry in _entries(folder):
                if self._is_left_over(entry):
                    removed.append(entry)
                    _remove(entry)
        for owner in _entries(self._data_dir / ".owners"):
            if self._is_free(owner.name):
                owner.unlink(missing_ok=True)
        return removed

    def _is_left_over(self, entry: Path) -> bool:
        if owned := OWNED.match(entry.name):
            return self._is_free(owned[1])
        if UNOWNED.match(entry.name):
            with suppress(OSError):
                return entry.lstat().st_mtime < time.time() - UNOWNED_SECONDS
        return False

    def _is_free(self, owner: str) -> bool:
        """Whether no process holds the lock of that name."""
        try:
            descriptor = os.open(self._data_dir / ".owners" / owner, os.O_RDWR)
        except OSError:
            return True
        try:
            return lock_descriptor(descriptor, blocking=False)
        finally:
            os.close(descriptor)

    def _name(self) -> str:
        """This process's name, under which nothing is left over while it lives. The lock ends with the process."""
        with self._lock:
            if self._owner is None or self._owner[0] != os.getpid():
                name, owners = secrets.token_hex(6), self._data_dir / ".owners"
                owners.mkdir(exist_ok=True)
                # Locked under another name first: nobody may find it free in between.
                descriptor, path = tempfile.mkstemp(dir=owners, prefix=".new-")
                lock_descriptor(descriptor)
                os.replace(path, owners / name)
                self._owner = os.getpid(), name
            return self._owner[1]


def _entries(folder: Path) -> list[Path]:
    with suppress(OSError):
        return [folder / name for name in os.listdir(folder)]
    return []


def _folders(folder: Path) -> Iterator[Path]:
    return (Path(root) for root, _, _ in os.walk(folder))


def _remove(entry: Path) -> None:
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry, ignore_errors=True)
    else:
        entry.unlink(missing_ok=True)
