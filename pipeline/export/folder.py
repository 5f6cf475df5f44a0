"""The folder that an export is written into: under a temporary name, hashed as it is written, shown when complete."""

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from schemas import DemotapeError, InputError
from schemas.files import dump_line

from .manifest import MANIFEST, extra_files, is_export, write_manifest
from .source import Source, Summary


class Folder:
    """Collects the files of one export beside the destination; `publish` moves them there, manifest last.

    Used as a context: when it is left without `publish`, what was written is removed. What a kill leaves behind has
    a name that begins with a dot and is removed by the next export to the same destination.
    """

    def __init__(self, destination: Path | str, format: str):
        self.destination = Path(destination).resolve()  # a link to a folder is replaced where it leads
        self.summary = Summary(format, self.destination)
        self._staging = self.destination.parent / f".{self.destination.name}.partial"
        self._entries: dict[str, IO[bytes]] = {}
        self._names: set[str] = set()
        self._lock: int | None = None
        self._open = ExitStack()

    def __enter__(self) -> "Folder":
        check_destination(self.destination)
        try:
            self._staging.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self._staging, os.O_RDONLY)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise InputError(f"{self.destination}: another export is writing here; wait for it to end") from None
        except OSError as error:
            raise InputError(f"{self.destination}: cannot be written ({error.strerror})") from None
        _empty(self._staging)
        # One line a file and one a demonstration, kept on disk: a data set may have millions of files.
        for kind in ("files", "demonstrations"):
            self._entries[kind] = self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        return self

    def __exit__(self, kind, error, trace) -> None:
        shutil.rmtree(self._staging, ignore_errors=True)
        self._open.close()
        if self._lock is not None:
            os.close(self._lock)
        if isinstance(error, OSError):
            raise DemotapeError(f"{self.destination}: cannot be written ({error.strerror}); nothing was exported")

    @contextmanager
    def create(self, name: str) -> Iterator["HashingFile"]:
        """A new file to write into; its size, SHA-256 and sample count stand in the manifest."""
        path = self._staging / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as raw:
            file = HashingFile(raw)
            yield file
        self._entries["files"].write(dump_line(
            {"path": name, "size": file.size, "sha256": file.digest.hexdigest(), "samples": file.samples}))
        self.summary.files += 1
        self.summary.size += file.size
        self.summary.samples += file.samples

    def write(self, name: str, content: bytes, samples: int = 0) -> None:
        """A whole file at once."""
        with self.create(name) as file:
            file.write(content)
            file.samples = samples

    def write_json(self, name: str, value: object, samples: int = 0) -> None:
        """A JSON file in ASCII: readers open it with their locale's encoding."""
        self.write(name, (json.dumps(value, indent=1, allow_nan=False) + "\n").encode("ascii"), samples)

    def claim(self, source: Source) -> None:
        """Reserve a demonstration's name; raises InputError when another has it."""
        if source.name in self._names:
            raise InputError(f"demonstration {source.id!r} is given twice; give each one once")
        self._names.add(source.name)

    def add_demonstration(self, source: Source, turns: int) -> None:
        """Note that a demonstration was exported; `turns` is the number of its turns in the data set."""
        canonical = json.dumps(source.demonstration, sort_keys=True, separators=(",", ":")).encode("ascii")
        self._entries["demonstrations"].write(dump_line({
            "id": source.id, "name": source.name, "recording": source.recording.id, "turns": turns,
            "sha256": hashlib.sha256(canonical).hexdigest()}))
        self.summary.demonstrations += 1

    def publish(self) -> Summary:
        """Write the manifest and put the folder in its place; raises InputError when nothing was exported."""
        if not self.summary.demonstrations:
            raise InputError(f"{self.destination}: no demonstrations to export; nothing was written")
        with (self._staging / MANIFEST).open("wb") as file:
            write_manifest(file, self.summary, self._entries["files"], self._entries["demonstrations"])
            file.flush()
            os.fsync(file.fileno())
        check_destination(self.destination)
        replaced = self._staging.with_suffix(".replaced")
        shutil.rmtree(replaced, ignore_errors=True)
        if self.destination.exists():
            self.destination.rename(replaced)
        self._staging.rename(self.destination)
        shutil.rmtree(replaced, ignore_errors=True)
        return self.summary


class HashingFile:
    """A file that counts and hashes what passes through; `samples` is set by who writes it."""

    def __init__(self, raw: IO[bytes]):
        self._raw = raw
        self.digest = hashlib.sha256()
        self.size = 0
        self.samples = 0

    def write(self, content: bytes) -> int:
        self.digest.update(content)
        self.size += len(content)
        return self._raw.write(content)

    def flush(self) -> None:
        self._raw.flush()

    def tell(self) -> int:
        return self.size


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
