"""Import data of other tools into the review app: receive or convert, process, import."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.demonstrations.library import owners
from curator_web.demonstrations.library.library import Imported, import_recording
from curator_web.errors import DatabaseUnavailable
from curator_web.storage.recordings import RecordingStore
from curator_web.users import BY_COMMAND
from pipeline import process, sandbox
from pipeline.batch import refreshed
from pipeline.importing import Item, find_importer, list_items, may_be_package, unknown_kind
from recorder import Recording
from recorder.package.package_file import Package
from recorder.package.receiving import receive
from schemas import InputError, RecordingLayout, limits
from schemas.files import open_named

from .foreign_data import import_item

_ZIP_MARK = b"PK"
_WORK = sandbox.Processes(1, niceness=10)  # whoever looks at pages meanwhile comes first


@dataclass(frozen=True)
class Part:
    """One demonstration of a file or folder that an importer reads."""

    importer: str
    item: Item

    def __str__(self) -> str:
        path = self.item.path
        return str(path) if path.stem == self.item.name or path.name == self.item.name else f"{path}: {self.item.name}"


def import_path(database: Database, store: RecordingStore, path: Path, project: str | None = None) -> Imported:
    """Import a processed recording, a package of the extension, or a file or folder of another tool that is one
    demonstration; raises InputError."""
    parts = expand_paths([path])
    if len(parts) > 1:
        raise InputError(f"{path}: contains {len(parts)} demonstrations; pass those of `expand_paths` one by one")
    return import_part(database, store, parts[0], project)


@dataclass(frozen=True)
class Unreadable:
    """A file or folder that cannot be imported, and why."""

    path: Path
    error: InputError

    def __str__(self) -> str:
        return str(self.path)


def import_part(database: Database, store: RecordingStore, part: "Path | Part | Unreadable",
                project: str | None = None) -> Imported:
    """Import one of `expand_paths`; raises InputError."""
    if isinstance(part, Unreadable):
        with _noted(database, None):
            raise part.error
    if isinstance(part, Part):
        return _import_foreign(database, store, part, project)
    if part.is_file():
        return import_package(database, store, part, project=project)
    with _noted(database, None) as attempt:
        attempt.recording = Recording(part).id
        if not RecordingLayout(part).demonstration.exists():
            refreshed(part)
        return import_recording(database, store, part, project=project)


def expand_paths(paths: Iterable[Path], importer: str | None = None) -> list[Path | Part | Unreadable]:
    """What `import_part` takes one by one: recordings and packages, and the demonstrations in other tools' data; a path
    that is none of these is Unreadable, so that it does not stop the others.

    `importer`: by its name, instead of by itself; raises InputError where there is none of that name.
    """
    if importer is not None:
        find_importer(Path(), importer)
    parts: list[Path | Part | Unreadable] = []
    for path in paths:
        try:
            parts += _parts(path, importer)
        except InputError as error:
            parts.append(Unreadable(path, error))
    return parts


def _parts(path: Path, importer: str | None) -> list[Path | Part]:
    if importer is None and (recordings := recordings_in(path)):
        return [*recordings]
    listed = list_items(path, importer)
    if listed is not None:
        return [Part(listed[0], item) for item in listed[1]]
    if path.is_file() and _is_zip(path) and may_be_package(path):
        return [path]
    raise unknown_kind(path)


def recordings_in(path: Path) -> list[Path]:
    """A folder if it is a recording; else the recordings in it and in its folders, as `demotape record` and
    `demotape agents run` write them."""
    if RecordingLayout(path).manifest.exists():
        return [path]
    try:
        return sorted(manifest.parent for pattern in ("*", "*/*")
                      for manifest in path.glob(f"{pattern}/{RecordingLayout(path).manifest.name}"))
    except OSError:  # it cannot be read, which whoever tries next says
        return []


def _is_zip(path: Path) -> bool:
    """Whether a file is a zip file, as packages are; what cannot be opened is told when it is read."""
    try:
        with open_named(path) as file:
            return file.read(2) == _ZIP_MARK
    except OSError:
        return True


def _import_foreign(database: Database, store: RecordingStore, part: Part, project: str | None) -> Imported:
    """Make a demonstration of another tool a recording and import it."""
    with store.temporary.folder("imported") as folder, _noted(database, None, folder) as attempt:
        recording = folder / "recording"
        attempt.recording = import_item(part.importer, part.item, recording, background=True)
        return import_recording(database, store, recording, project=project)


def import_package(database: Database, store: RecordingStore, package: Path,
                   recorded_by: str | None = None, project: str | None = None) -> Imported:
    """Make a package a recording, process it and import it; doing it again changes nothing.

    Where the id is that of another user's recording, it becomes a recording with an id of its own; `Imported.sent_as`
    tells so. It is received and processed in a process with limits. Raises InputError when the package is not whole, or
    takes more than a package of its size may.
    """
    allowance = package_allowance(package)
    with store.temporary.folder("package") as folder, _noted(database, recorded_by, folder) as attempt:
        attempt.sent_as = _WORK.run(allowance, str(package), package_id, package)
        attempt.recording = owners.claim(database, attempt.sent_as, recorded_by)
        recording = folder / "recording"
        _WORK.run(allowance, str(package), make_recording, package, recording, attempt.recording)
        imported = import_recording(database, store, recording, recorded_by, project)
        return imported if imported.id == attempt.sent_as else replace(imported, sent_as=attempt.sent_as)


def package_allowance(package: Path) -> sandbox.Allowance:
    """What receiving and processing a package may take, by its size."""
    size = package.stat().st_size / (1 << 20)
    return sandbox.Allowance(limits.JOB_SECONDS + limits.JOB_SECONDS_MIB * size,
                             min(limits.WORK_MEMORY + int(limits.MEMORY_MIB * size), limits.MAX_MEMORY_BYTES),
                             limits.JOB_CLOCK)


def package_id(package: Path) -> str:
    """The id of the recording in a package; raises InputError."""
    with Package(package) as source:
        return source.manifest["id"]


def make_recording(package: Path, recording: Path, name: str) -> None:
    """Make a package the processed recording of the id `name`; raises InputError."""
    receive(package, recording, name)
    process(recording)


@dataclass
class _Attempt:
    """An import that goes on: the id that the recording was sent under and the one that it has, once they are known."""

    sent_as: str | None = None
    recording: str | None = None


@contextmanager
def _noted(database: Database, user_name: str | None, folder: Path | None = None) -> Iterator[_Attempt]:
    """Have an import that fails in the audit log, give its id back, and keep the temporary `folder` out of the reason.

    The log has the kind of the error only: its words may hold what was captured.
    """
    attempt = _Attempt()
    try:
        yield attempt
    except Exception as error:
        with suppress(SQLAlchemyError, DatabaseUnavailable):  # the database itself failed: that is what is told
            if attempt.recording:
                owners.release(database, attempt.recording, user_name)
            with database.writing() as session:
                audit.note(session, user_name or BY_COMMAND, "import failed", attempt.recording,
                           error=type(error).__name__)
        if folder and isinstance(error, InputError):
            said = str(error).replace(f"{folder / 'recording'}{os.sep}", "").replace(f"{folder}{os.sep}", "")
            raise type(error)(said) from None
        raise
