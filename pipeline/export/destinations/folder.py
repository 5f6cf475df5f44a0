"""A folder as destination: written under a temporary name beside it, renamed in one step when complete."""

import hashlib
import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO

from filelock import FileLock, Timeout

from pipeline.export.manifest import MANIFEST, Manifest, ManifestFile, extra_files, read_manifest
from schemas import DemotapeError, InputError
from schemas.files import reason

from .destination import Destination, HashingFile


class Folder(Destination):
    """Collects the files of one export beside the destination; `publish` moves them there, manifest last.

    `before`: another export, the release before this one, from which files are taken over.
    When it is left without `publish`, what was written is removed. What a kill leaves behind has a name that begins
    with a dot and is removed by the next export to the same destination.
    """

    def __init__(self, destination: Path | str, format: str, before: Path | str | None = None):
        self.destination = Path(destination).resolve()  # a link to a folder is replaced where it leads
        super().__init__(str(self.destination), format)
        self._staging = self.destination.parent / f".{self.destination.name}.partial"
        self._before = Path(before).resolve() if before else self.destination
        self._manifests: dict[tuple[Path, int, int, int], Manifest] = {}
        self._known: dict[Path, str] = {}  # SHA-256 of files of the earlier export
        self._lock = FileLock(f"{self._staging}.lock", blocking=False, thread_local=False, fallback_to_soft=False)

    def __enter__(self) -> "Folder":
        self._check()
        try:
            self._staging.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
            self._staging.mkdir(exist_ok=True, mode=0o700)
        except Timeout:
            raise InputError(f"{self.destination}: another export is writing to it; wait until it ends") from None
        except OSError as error:
            self._unlock()
            raise InputError(f"{self.destination}: cannot be written ({reason(error)})") from None
        _empty(self._staging)
        return self

    def _manifest(self, folder: Path) -> Manifest:
        """An export's manifest, read again when it is another file by now; raises InputError and OSError."""
        status = (folder / MANIFEST).stat()
        known = folder, status.st_ino, status.st_mtime_ns, status.st_size
        if known not in self._manifests:
            self._manifests[known] = read_manifest(folder)
        return self._manifests[known]

    def _check(self) -> None:
        """Raise InputError unless the destination is absent, an empty folder or an earlier export."""
        destination = self.destination
        try:
            if not destination.exists() and not destination.is_symlink():
                return
            if destination.is_dir() and not any(destination.iterdir()):
                return
            if destination.is_dir() and (manifest := self._earlier_export()):
                if extra := next(iter(extra_files(destination, manifest)), None):
                    raise InputError(f"{destination / extra}: not part of the export to be replaced; move it away or "
                                     "choose another folder")
                return
        except OSError as error:
            raise InputError(f"{destination}: cannot be read ({reason(error)})") from None
        raise InputError(f"{destination}: contains files that are not an export of demotape; choose a new or empty "
                         "folder")

    def _earlier_export(self) -> Manifest | None:
        with suppress(InputError, FileNotFoundError):
            return self._manifest(self.destination)
        return None

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
            raise DemotapeError(f"{self.destination}: cannot be written ({reason(error)}); nothing was exported")

    def begin(self, name: str, *, provisional: bool = False) -> IO[bytes]:
        path = self._staging / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("xb")

    def end(self, raw: IO[bytes], file: HashingFile) -> None:
        raw.close()
        if raw.name != str(self._staging / file.name):
            os.rename(raw.name, self._staging / file.name)

    def earlier(self) -> Manifest | None:
        try:
            manifest = self._manifest(self._before)
            written = (self._before / MANIFEST).stat().st_mtime
        except (InputError, OSError):
            return None
        # The manifest is written last: what is newer was touched since.
        files = [file for file in manifest["files"]
                 if _is_as_written(self._before / file["path"], file["size"], written)]
        return {**manifest, "files": files}

    def earlier_file(self, file: ManifestFile) -> Path:
        path = self._before / file["path"]
        if path not in self._known:
            with path.open("rb") as content:
                self._known[path] = hashlib.file_digest(content, "sha256").hexdigest()
        if self._known[path] != file["sha256"]:
            raise InputError(f"{path}: was changed after the export; move the export away, then export again")
        return path

    def retain_file(self, file: ManifestFile) -> None:
        path = self._staging / file["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(self._before / file["path"], path)
        except OSError:  # a file system without links
            shutil.copy2(self._before / file["path"], path)

    def finish(self, manifest: IO[bytes]) -> None:
        with (self._staging / MANIFEST).open("wb") as file:
            shutil.copyfileobj(manifest, file)
            file.flush()
            os.fsync(file.fileno())
        self._check()
        replaced = self._staging.with_suffix(".replaced")
        shutil.rmtree(replaced, ignore_errors=True)
        if self.destination.exists():
            self.destination.rename(replaced)
        self._staging.rename(self.destination)
        shutil.rmtree(replaced, ignore_errors=True)


def _is_as_written(path: Path, size: int, written: float) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size == size and status.st_mtime <= written


def _empty(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
