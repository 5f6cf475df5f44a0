"""A folder as destination: written under a temporary name beside it, shown in one step when complete."""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import IO

from filelock import FileLock, Timeout

from pipeline.export.manifest import MANIFEST, extra_files, is_export
from schemas import DemotapeError, InputError

from .destination import Destination, HashingFile


class Folder(Destination):
    """Collects the files of one export beside the destination; `publish` moves them there, manifest last.

    When it is left without `publish`, what was written is removed. What a kill leaves behind has a name that begins
    with a dot and is removed by the next export to the same destination.
    """

    def __init__(self, destination: Path | str, format: str):
        self.destination = Path(destination).resolve()  # a link to a folder is replaced where it leads
        super().__init__(str(self.destination), format)
        self._staging = self.destination.parent / f".{self.destination.name}.partial"
        self._lock = FileLock(f"{self._staging}.lock", blocking=False, thread_local=False, fallback_to_soft=False)

    def __enter__(self) -> "Folder":
        check_destination(self.destination)
        try:
            self._staging.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
            self._staging.mkdir(exist_ok=True)
        except Timeout:
            raise InputError(f"{self.destination}: another export is writing here; wait for it to end") from None
        except OSError as error:
            self._unlock()
            raise InputError(f"{self.destination}: cannot be written ({error.strerror})") from None
        _empty(self._staging)
        return self

    def _unlock(self) -> None:
        """Remove the lock's file and give the lock back, in this order: so nobody else's file is removed."""
        if not self._lock.is_locked:
            return
        path = Path(self._lock.lock_file)
        with suppress(OSError):  # Windows removes no file that is open
            path.unlink()
        self._lock.release()
        if os.name == "nt":
            with suppress(OSError):  # the next export has it
                path.unlink()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        shutil.rmtree(self._staging, ignore_errors=True)
        self.opened.close()
        self._unlock()
        if isinstance(error, OSError):
            raise DemotapeError(f"{self.destination}: cannot be written ({error.strerror}); nothing was exported")

    def begin(self, name: str, *, provisional: bool = False) -> IO[bytes]:
        path = self._staging / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("xb")

    def end(self, raw: IO[bytes], file: HashingFile) -> None:
        raw.close()
        if raw.name != str(self._staging / file.name):
            os.rename(raw.name, self._staging / file.name)

    def finish(self, manifest: IO[bytes]) -> None:
        with (self._staging / MANIFEST).open("wb") as file:
            shutil.copyfileobj(manifest, file)
            file.flush()
            os.fsync(file.fileno())
        check_destination(self.destination)
        replaced = self._staging.with_suffix(".replaced")
        shutil.rmtree(replaced, ignore_errors=True)
        if self.destination.exists():
            self.destination.rename(replaced)
        self._staging.rename(self.destination)
        shutil.rmtree(replaced, ignore_errors=True)


def check_destination(destination: Path) -> None:
    """Raise InputError unless the destination is absent, an empty folder or an earlier export."""
    try:
        if not destination.exists() and not destination.is_symlink():
            return
        if destination.is_dir() and not any(destination.iterdir()):
            return
        if destination.is_dir() and is_export(destination):
            if extra := next(iter(extra_files(destination)), None):
                raise InputError(f"{destination / extra}: this is not part of the export that would be replaced; "
                                 "move it away or give another folder")
            return
    except OSError as error:
        raise InputError(f"{destination}: cannot be read ({error.strerror})") from None
    raise InputError(f"{destination}: there is something that is no export of demotape; give a new or empty folder")


def _empty(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
