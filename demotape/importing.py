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
from pipeline import isolation, process, sandbox
from recorder import Recording
from recorder.package.package_file import Package
from recorder.package.receiving import receive
from schemas import InputError, limits

from . import weblinx_import

_WORK = sandbox.Processes(1, niceness=10)  # whoever looks at pages meanwhile comes first


def import_path(database: Database, store: RecordingStore, path: Path, project: str | None = None) -> Imported:
    """Import a processed recording, a package of the extension or a demonstration of WebLINX's; raises InputError."""
    if path.is_file():
        return import_package(database, store, path, project=project)
    if weblinx_import.folders(path):
        return import_weblinx(database, store, path, project)
    with _noted(database, None) as attempt:
        attempt.recording = Recording(path).id
        return import_recording(database, store, path, project=project)


def expand_paths(paths: Iterable[Path]) -> list[Path]:
    """What `import_path` takes one by one: a data set in WebLINX's layout is all of its demonstrations."""
    return [recording_path for path in paths for recording_path in (weblinx_import.folders(path) or [path])]


def import_weblinx(database: Database, store: RecordingStore, demonstration: Path,
                   project: str | None = None) -> Imported:
    """Make a demonstration in WebLINX's layout a recording and import it; raises InputError."""
    with store.temporary.folder("weblinx") as folder, _noted(database, None, folder) as attempt:
        recording = folder / "recording"
        _WORK.run(isolation.allowance_for(demonstration), str(demonstration), weblinx_import.convert, demonstration,
                  recording)
        attempt.recording = Recording(recording).id
        return import_recording(database, store, recording, project=project)


def import_package(database: Database, store: RecordingStore, package: Path,
                   recorded_by: str | None = None, project: str | None = None) -> Imported:
    """Make a package a recording, process it and import it; doing it again changes nothing.

    Where the id is that of another user's recording, it becomes a recording with an id of its own; `Imported.sent_as`
    tells so. It is received and processed in a process with limits. Raises InputError when the package is not whole, or
    takes more than a package of its size may.
    """
    allowance = _allowance(package.stat().st_size / (1 << 20))
    with store.temporary.folder("package") as folder, _noted(database, recorded_by, folder) as attempt:
        attempt.sent_as = _WORK.run(allowance, str(package), _id_of, package)
        attempt.recording = owners.claim(database, attempt.sent_as, recorded_by)
        recording = folder / "recording"
        _WORK.run(allowance, str(package), _make_recording, package, recording, attempt.recording)
        imported = import_recording(database, store, recording, recorded_by, project)
        return imported if imported.id == attempt.sent_as else replace(imported, sent_as=attempt.sent_as)


def _allowance(size: float) -> sandbox.Allowance:
    """What a package of so many MiB may take."""
    return sandbox.Allowance(limits.JOB_SECONDS + limits.JOB_SECONDS_MIB * size,
                             min(limits.WORK_MEMORY + int(limits.MEMORY_MIB * size), limits.MAX_MEMORY_BYTES),
                             limits.JOB_CLOCK)


def _id_of(package: Path) -> str:
    with Package(package) as source:
        return source.manifest["id"]


def _make_recording(package: Path, recording: Path, name: str) -> None:
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
