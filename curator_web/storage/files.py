"""Packages on their way in and finished exports: files that every server process must find, by name.

In the data folder, or in S3 where several machines share them. A package may come in pieces, in any order. A store is
copied by these names, too: `recordings/ID/…` lies beside `exports/` and `uploads/`.
"""

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from curator_web.errors import NotFound
from schemas.files import written_atomically

from .disk_space import require_room
from .objects import Objects
from .temporary import Temporary


class Files(ABC):
    """Where such files lie. Names are ours: no sender has a say in them. `pieces`: of how many a file was made, 0 for
    one that was kept whole."""

    _folder: Path  # on the disk that is worked on

    def require_room(self, size: int) -> None:
        """Raises DiskFull when so many bytes more would leave too little free on this machine's disk."""
        require_room(self._folder, size)

    @abstractmethod
    def save(self, name: str, path: Path) -> None:
        """Take a file over whole; it is gone from `path`."""

    @abstractmethod
    def put(self, name: str, number: int, offset: int, content: bytes) -> None:
        """Keep one piece; it is on disk, or acknowledged by S3, when this returns."""

    @abstractmethod
    def assembled(self, name: str, pieces: int = 0):
        """A context with the path at which the whole file can be read; raises NotFound."""

    @abstractmethod
    def remove(self, name: str, pieces: int = 0) -> None:
        """Take a file away; nothing when it is not there."""

    @abstractmethod
    def path(self, name: str) -> Path | None:
        """Where the file lies on this machine; None when it does not."""

    @abstractmethod
    def read(self, name: str) -> Iterator[bytes]:
        """The content of a file that was kept whole; raises NotFound."""

    @abstractmethod
    def write(self, name: str, content: Iterable[bytes]) -> None:
        """Make or replace a file: it is whole when this returns, and absent or as it was when this is broken off."""

    @abstractmethod
    def listed(self, folder: str) -> Iterator[tuple[str, int, datetime]]:
        """Each file in a folder and in those in it, or piece of one: its name, bytes, and when it was written."""

    @abstractmethod
    def folders(self, folder: str) -> list[str]:
        """The names of the folders in a folder, in order."""

    def link(self, name: str, called: str) -> str | None:
        """An address, good for a while, at which the store itself hands a file out, to be saved as `called`; None where
        it has no such."""
        return None


class FolderFiles(Files):
    """In a folder; pieces are written where they belong."""

    def __init__(self, folder: Path):
        self._folder = folder

    def save(self, name: str, path: Path) -> None:
        self._path(name).parent.mkdir(parents=True, exist_ok=True)
        path.replace(self._path(name))

    def put(self, name: str, number: int, offset: int, content: bytes) -> None:
        self._path(name).parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(self._path(name), os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
            file.seek(offset)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())

    @contextmanager
    def assembled(self, name: str, pieces: int = 0) -> Iterator[Path]:
        if self.path(name) is None:
            raise NotFound(f"unknown file {name}")
        yield self._path(name)

    def remove(self, name: str, pieces: int = 0) -> None:
        self._path(name).unlink(missing_ok=True)

    def path(self, name: str) -> Path | None:
        return self._path(name) if self._path(name).is_file() else None

    def read(self, name: str) -> Iterator[bytes]:
        with self.assembled(name) as path, path.open("rb") as file:
            yield from iter(lambda: file.read(1 << 20), b"")

    def write(self, name: str, content: Iterable[bytes]) -> None:
        with written_atomically(self._path(name)) as file:
            file.writelines(content)

    def listed(self, folder: str) -> Iterator[tuple[str, int, datetime]]:
        for root, folders, names in os.walk(self._folder / folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for path in (Path(root) / name for name in sorted(names) if not name.startswith(".")):
                with suppress(FileNotFoundError):
                    status = path.lstat()
                    if stat.S_ISREG(status.st_mode):
                        yield (path.relative_to(self._folder).as_posix(), status.st_size,
                               datetime.fromtimestamp(status.st_mtime, UTC))

    def folders(self, folder: str) -> list[str]:
        with suppress(FileNotFoundError), os.scandir(self._folder / folder) as entries:
            return sorted(entry.name for entry in entries
                          if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."))
        return []

    def _path(self, name: str) -> Path:
        return self._folder / name


class S3Files(Files):
    """In S3; each piece is an object of its own. What is needed whole is fetched into `scratch` for the time."""

    def __init__(self, objects: Objects, scratch: Path, temporary: Temporary):
        self._objects, self._folder, self._temporary = objects, scratch, temporary

    def save(self, name: str, path: Path) -> None:
        with path.open("rb") as file:
            self._objects.send(name, file)
        path.unlink()

    def put(self, name: str, number: int, offset: int, content: bytes) -> None:
        self._objects.put(_piece(name, number), content)

    @contextmanager
    def assembled(self, name: str, pieces: int = 0) -> Iterator[Path]:
        with self._temporary.file() as (file, path):
            for piece_name in [_piece(name, number) for number in range(pieces)] or [name]:
                if not self._objects.fetch(piece_name, file):
                    raise NotFound(f"unknown file {piece_name}")
            file.flush()
            yield path

    def remove(self, name: str, pieces: int = 0) -> None:
        for piece_name in [_piece(name, number) for number in range(pieces)] or [name]:
            self._objects.delete(piece_name)

    def path(self, name: str) -> Path | None:
        return None

    def write(self, name: str, content: Iterable[bytes]) -> None:
        with self._temporary.file() as (file, _):
            file.writelines(content)
            self._objects.send(name, file)

    def listed(self, folder: str) -> Iterator[tuple[str, int, datetime]]:
        return self._objects.listed(folder)

    def folders(self, folder: str) -> list[str]:
        return sorted(self._objects.folders(folder))

    def link(self, name: str, called: str) -> str | None:
        return self._objects.link(name, called)

    def read(self, name: str) -> Iterator[bytes]:
        content = self._objects.read(name)
        if content is None:
            raise NotFound(f"unknown file {name}")
        return content


def _piece(name: str, number: int) -> str:
    return f"{name}/{number:06d}"
