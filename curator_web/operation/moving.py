"""Copying what the review app keeps from one storage into another, and taking it away where it was."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from sqlalchemy import select

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import RECEIVING, Upload
from curator_web.errors import DemotapeError, InputError
from curator_web.jobs import upload_service
from curator_web.storage.files import Files
from curator_web.storage.recordings import RecordingStore
from curator_web.storage.session_key import session_key, set_session_key
from curator_web.users import BY_COMMAND

from .copying import AT_ONCE, RENEWED, Counts, Hashed, Progress, folders_of, recording_last, sizes_in


@dataclass
class Report:
    """What moving did. `removed`: files that were taken away where they were; `waiting`: packages that are on their way
    in, which stay where they are."""

    counts: Counts = field(default_factory=Counts)
    removed: int = 0
    waiting: int = 0


def move(db: Database, store: RecordingStore, target: RecordingStore, *, remove: bool = False,
         progress: Progress = lambda done, total, name: None) -> Report:
    """Copy recordings, exports and the session key into another storage. Run again, it copies what is not there yet.

    `remove`: once all is there, take recordings and exports away from where they were, unless they grew meanwhile.
    Raises InputError, DatabaseUnavailable, StoreUnavailable, OSError, and DemotapeError where something did not arrive.
    """
    if store.location == target.location:
        raise InputError(f"{target.location}: already contains recordings; choose another location")
    report, source = Report(), store.files
    folders = folders_of(source)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for number, folder in enumerate(folders):
            progress(number, len(folders), folder)
            _copy(source, target.files, folder, pool, report.counts)
            if lacking := _lacking(source, target.files, folder):
                raise DemotapeError(f"{target.location}/{folder}/{lacking[0]}: was not copied correctly; run the "
                                    "command again")
    key = session_key(db, store)
    with db.writing() as session:
        set_session_key(session, target, key)
        packages = {package.file for package in upload_service.packages_of_jobs(session) if package.is_awaited}
        report.waiting = len(packages) + len(session.scalars(select(Upload.id).where(Upload.state == RECEIVING)).all())
        audit.note(session, BY_COMMAND, "storage copied", files=report.counts.copied, size=report.counts.size)
    for folder in folders if remove else ():
        report.removed += _remove(store, target.files, folder)
    return report


def _copy(source: Files, target: Files, folder: str, pool: ThreadPoolExecutor, counts: Counts) -> None:
    existing_sizes = sizes_in(target, folder)

    def copy_file(file: tuple[str, int]) -> bool:
        name = f"{folder}/{file[0]}"
        if existing_sizes.get(file[0]) == file[1] and (file[0] != RENEWED or _are_same(source, target, name)):
            return False
        target.write(name, source.read(name))
        return True
    for (_, size), is_copied in recording_last(pool, copy_file, sorted(sizes_in(source, folder).items()),
                                               lambda file: file[0]):
        counts.add(size, is_copied)


def _are_same(source: Files, target: Files, name: str) -> bool:
    return Hashed(source.read(name), name).passed().sha256 == Hashed(target.read(name), name).passed().sha256


def _lacking(source: Files, target: Files, folder: str) -> list[str]:
    """What a folder has that did not arrive whole."""
    arrived = sizes_in(target, folder)
    return [name for name, size in sizes_in(source, folder).items() if arrived.get(name) != size]


def _remove(store: RecordingStore, target: Files, folder: str) -> int:
    if _lacking(store.files, target, folder):
        return 0  # something came since
    names = list(sizes_in(store.files, folder))
    if folder == "exports":
        for name in names:
            store.files.remove(f"{folder}/{name}")
    else:
        store.remove(folder.partition("/")[2])
    return len(names)
