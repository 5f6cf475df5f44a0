"""Copy folders of a storage file by file, in parallel, the completing file last; and count."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from curator_web.errors import DemotapeError
from curator_web.storage.files import Files
from curator_web.storage.recordings import ID
from schemas.formats.backup import FILE_NAME

AT_ONCE = 8
RECORDING = "recording.json"  # of a recording the last that is written: without it the recording is not there
RENEWED = "external-video"  # the only file of a recording that may become another of the same size
Progress = Callable[[int, int, str], object]
_Source = TypeVar("_Source")
_Result = TypeVar("_Result")


@dataclass
class Counts:
    """What was done: files that were copied, their bytes, and files that were there already."""

    copied: int = 0
    size: int = 0
    there: int = 0

    def add(self, size: int, is_copied: bool) -> None:
        """Count a file."""
        if is_copied:
            self.copied, self.size = self.copied + 1, self.size + size
        else:
            self.there += 1


class Hashed:
    """Content on its way, with its bytes and SHA-256 once it has passed. Where a SHA-256 is `expected`, another one is
    a DemotapeError that names `where`, before whoever writes it takes it for whole."""

    def __init__(self, content: Iterable[bytes], where: str, expected: str | None = None):
        self._content, self._where, self._expected, self._hash = content, where, expected, hashlib.sha256()
        self.size = 0

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._content:
            self._hash.update(piece)
            self.size += len(piece)
            yield piece
        if self._expected not in (None, self.sha256):
            raise DemotapeError(f"{self._where}: is damaged; use another backup")

    def passed(self) -> "Hashed":
        """Let all of it pass, into nothing."""
        for _ in self:
            pass
        return self

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()


def folders_of(files: Files) -> list[str]:
    """The folders of a storage that are copied, in order; what somebody else put there is none of the app's."""
    return ["exports", *(f"recordings/{name}" for name in files.folders("recordings") if ID.fullmatch(name))]


def files_in(files: Files, folder: str) -> Iterator[tuple[str, int, str]]:
    """The files in a folder of a storage: place in the folder, bytes, and when it was written."""
    for name, size, changed in files.listed(folder):
        if FILE_NAME.fullmatch(name := name.removeprefix(f"{folder}/")):
            yield name, size, changed.isoformat()


def sizes_in(files: Files, folder: str) -> dict[str, int]:
    """Bytes of each file in a folder of a storage, by its place in the folder."""
    return {name: size for name, size, _ in files_in(files, folder)}


def recording_last(pool: ThreadPoolExecutor, work: Callable[[_Source], _Result], files: Sequence[_Source],
                   name_of: Callable[[_Source], str]) -> list[tuple[_Source, _Result]]:
    """Do the work for each file of a folder, several at once; for the one that makes it a recording when all others are
    done."""
    first = [file for file in files if name_of(file) != RECORDING]
    last = [file for file in files if name_of(file) == RECORDING]
    return list(zip([*first, *last], [*pool.map(work, first), *map(work, last)], strict=True))
