"""Restoring a backup into an empty database and an empty storage, of whatever kinds; broken off, it goes on."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from sqlalchemy import JSON, Connection, column, delete, inspect, select, table
from sqlalchemy.orm import Session

from curator_web.db import audit, tables
from curator_web.db.database import migrate, open_database
from curator_web.db.models.core import RECEIVING, Upload, UploadedChunk
from curator_web.db.models.job_models import DONE, Job
from curator_web.errors import InputError, NotFound
from curator_web.jobs import upload_service
from curator_web.storage.recordings import RecordingStore
from curator_web.storage.session_key import set_session_key
from curator_web.users import BY_COMMAND
from schemas.types.backup import Backup, BackupFile, BackupFolder

from . import backup_folder
from .backup_folder import KEY
from .copying import AT_ONCE, Counts, Hashed, Progress, recording_last, sizes_in

MARK = "restoring.json"  # while it lies in the storage, that is not whole
RESTORED = "backup restored"  # in the audit log


def restore(folder: Path, db_url: str, store: RecordingStore, progress: Progress = lambda done, total, name: None
            ) -> Counts:
    """Restore a backup: files first, then all rows in one transaction.

    Raises InputError where the backup is not whole, or where database or storage are not empty, unless what is there
    is of this very backup, whose restoring was broken off; DatabaseUnavailable, StoreUnavailable.
    """
    head, digest = backup_folder.read_head(folder)
    is_begun = _require_begun_or_empty(store, digest)
    is_filled = _is_filled(db_url, head, digest, is_begun)
    store.files.write(MARK, [json.dumps({"backup": digest}).encode()])
    counts, done = Counts(), 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for listed_folder in backup_folder.folders_in(folder, head):
            progress(done, head["files"], listed_folder["folder"])
            done += len(listed_folder["files"])
            _copy(folder, store, listed_folder, pool, counts)
    progress(done, head["files"], "database")
    if not is_filled:
        key = (folder / head["state"] / KEY).read_bytes()
        open_database(db_url, lambda connection: _fill(connection, folder, head, digest, partial(
            set_session_key, store=store, key=key))).close()
    store.files.remove(MARK)
    return counts


def _require_begun_or_empty(store: RecordingStore, digest: str) -> bool:
    """Whether the restoring of this backup was begun here."""
    try:
        mark = json.loads(b"".join(store.files.read(MARK)))
    except NotFound:
        if not store.is_unused():
            raise InputError("the storage is not empty; restore into an empty data folder or an empty prefix of a "
                             "bucket") from None
        return False
    if mark != {"backup": digest}:
        raise InputError("the storage contains files of another restored backup; use an empty storage") from None
    return True


def _is_filled(db_url: str, head: Backup, digest: str, is_begun: bool) -> bool:
    """Whether the rows of this backup are in the database already; raises InputError where others are."""
    is_filled: list[bool] = []

    def inspect_database(connection: Connection) -> None:
        is_filled.append(is_begun and _has_digest(connection, digest))
        if not is_filled[0]:
            tables.require_unused(connection, head["revision"])
    open_database(db_url, inspect_database).close()
    return is_filled[0]


def _has_digest(connection: Connection, digest: str) -> bool:
    if not inspect(connection).has_table("audit"):
        return False
    lines = connection.scalars(select(column("details", JSON)).select_from(table("audit")).where(
        column("what") == RESTORED))
    return any(details.get("backup") == digest for details in lines)


def _copy(folder: Path, store: RecordingStore, wanted: BackupFolder, pool: ThreadPoolExecutor, counts: Counts) -> None:
    existing_sizes = sizes_in(store.files, wanted["folder"])

    def copy_file(file: BackupFile) -> bool:
        if existing_sizes.get(file["name"]) == file["size"]:
            return False
        name = f"{wanted['folder']}/{file['name']}"
        with (folder / name).open("rb") as content:
            store.files.write(name, Hashed(iter(lambda: content.read(1 << 20), b""), str(folder / name),
                                           file["sha256"]))
        return True
    try:
        for file, is_copied in recording_last(pool, copy_file, wanted["files"], lambda file: file["name"]):
            counts.add(file["size"], is_copied)
    except FileNotFoundError as error:
        raise InputError(f"{error.filename}: is missing; use another backup") from None


def _fill(connection: Connection, folder: Path, head: Backup, digest: str, set_key: Callable[[Session], None]) -> None:
    """All rows, at the revision that they were read at, brought to the newest; and what is another here."""
    tables.require_unused(connection, head["revision"])
    migrate(connection, head["revision"])
    state = folder / head["state"]
    tables.fill(connection, head["tables"], lambda name: backup_folder.lines_in(backup_folder.rows_in(state, name)))
    migrate(connection)
    with Session(connection) as session:
        receiving = select(Upload.id).where(Upload.state == RECEIVING)  # their chunks were not kept: they begin again
        session.execute(delete(UploadedChunk).where(UploadedChunk.upload_id.in_(receiving)))
        session.execute(delete(Upload).where(Upload.state == RECEIVING))
        for job in session.scalars(select(Job).where(Job.kind == upload_service.KIND, Job.state != DONE)):
            job.arguments = {name: value for name, value in job.arguments.items() if name != "pieces"}  # kept whole
        set_key(session)
        audit.note(session, BY_COMMAND, RESTORED, backup=digest, made_at=head["made_at"].isoformat())
        session.flush()
