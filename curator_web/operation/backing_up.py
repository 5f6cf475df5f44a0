"""Backups while the app runs: the database as of one moment, then the files, which it may only have more of by then."""

import json
import secrets
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from sqlalchemy import Connection, select
from sqlalchemy.orm import Session

from curator_web.db import shared_secret, tables
from curator_web.db.database import Database
from curator_web.db.models.core import Demonstration
from curator_web.errors import NotFound
from curator_web.jobs import upload_service
from curator_web.storage.files import Files, FolderFiles
from curator_web.storage.recordings import RecordingStore
from curator_web.storage.session_key import session_key
from schemas.files import dump_json, write_atomically
from schemas.formats.backup import FORMAT
from schemas.types.backup import Backup, BackupFile, BackupFolder, Table
from schemas.upgrade import VERSIONS

from . import backup_folder
from .backup_folder import FILES, HEAD, KEY, sha256_of
from .copying import (
    AT_ONCE,
    RECORDING,
    RENEWED,
    Counts,
    Hashed,
    Progress,
    files_in,
    folders_of,
    recording_last,
    sizes_in,
)

MAX_READ_ATTEMPTS = 5  # of reading the rows, where a package was imported before it was copied
NEXT = ".next"  # what takes a file's place once the backup is whole


@dataclass
class Report:
    """What a backup did; `lacking`: recordings that demonstrations are of and the storage does not have."""

    counts: Counts = field(default_factory=Counts)
    files: int = 0
    size: int = 0
    lacking: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Rows:
    """What was read of the database at one moment."""

    made_at: datetime
    revision: str
    tables: list[Table]
    recordings: set[str]
    packages: list[upload_service.Package]


def back_up(db: Database, store: RecordingStore, folder: Path, *, prune: bool = False,
            progress: Progress = lambda done, total, name: None) -> Report:
    """Write a backup, or bring one up to date: what is there already is not copied again. The earlier one stays whole
    until this one is.

    `prune`: what the app has no more goes from the backup, unless recordings are lacking. Raises InputError,
    DatabaseUnavailable, StoreUnavailable, OSError.
    """
    report = Report()
    with backup_folder.to_write(folder) as target:
        earlier = _Earlier(folder)
        state = folder / f"state-{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"
        rows, packages = _rows_with_packages(db, store.files, target, state, report.counts)
        write_atomically(state / KEY, session_key(db, store))
        replaced: list[str] = []
        copier = _Copier(store.files, target, replaced, report.counts)
        with_manifest = set()
        folders = folders_of(store.files)
        with backup_folder.to_lines(state / FILES) as lines, ThreadPoolExecutor(AT_ONCE) as pool:
            for number, name in enumerate([*folders, "uploads"]):
                progress(number, len(folders), name)
                copied = packages if name == "uploads" else copier.copy(name, earlier.of(name), pool)
                lines.write(backup_folder.line(copied))
                report.files += len(copied["files"])
                report.size += sum(copied_file["size"] for copied_file in copied["files"])
                if any(copied_file["name"] == RECORDING for copied_file in copied["files"]):
                    with_manifest.add(name.partition("/")[2])
        report.lacking = sorted(rows.recordings - with_manifest)
        head = _head(rows, report, state)
        for name in replaced:
            (folder / f"{name}{NEXT}").replace(folder / name)
        write_atomically(folder / HEAD, dump_json(head | {"made_at": rows.made_at.isoformat()}))
        for old_state in folder.glob("state-*"):
            if old_state != state:
                shutil.rmtree(old_state)
        if prune and not report.lacking:
            _prune(folder, head, target)
    return report


def _head(rows: _Rows, report: Report, state: Path) -> Backup:
    return {"format": FORMAT, "version": VERSIONS[FORMAT], "made_at": rows.made_at, "demotape": version("demotape"),
            "revision": rows.revision, "state": state.name, "key_sha256": sha256_of(state / KEY),
            "tables": rows.tables, "files": report.files, "size": report.size,
            "files_sha256": sha256_of(state / FILES)}


def _rows_with_packages(db: Database, source: Files, target: FolderFiles, state: Path, counts: Counts
                        ) -> tuple[_Rows, BackupFolder]:
    """The rows, and the packages that wait for being imported in them; these go as soon as they are imported."""
    for attempt in range(MAX_READ_ATTEMPTS):
        rows = _read_rows(db, state)
        files, missing = [], 0
        for package in rows.packages:
            try:
                with source.assembled(package.file, package.pieces) as path, path.open("rb") as file:
                    content = Hashed(iter(lambda: file.read(1 << 20), b""), package.file)
                    target.write(package.file, content)
            except NotFound:
                missing += package.is_awaited
                continue
            counts.add(content.size, True)
            files.append(BackupFile(name=package.file.partition("/")[2], size=content.size,
                                    changed=rows.made_at.isoformat(), sha256=content.sha256))
        if not missing or attempt == MAX_READ_ATTEMPTS - 1:
            break
    return rows, {"folder": "uploads", "files": sorted(files, key=lambda file: file["name"])}


def _read_rows(db: Database, state: Path) -> _Rows:
    with db.snapshot() as connection, Session(connection) as session:
        recordings = set(session.scalars(select(Demonstration.recording)))  # the moment is that of this statement
        made_at = datetime.now(UTC)
        packages = upload_service.packages_of_jobs(session)
        written = [_write_table(connection, described, state) for described in tables.tables_of(connection)]
        return _Rows(made_at, tables.revision_of(connection) or "", written, recordings, packages)


def _write_table(connection: Connection, described: tables.Described, state: Path) -> Table:
    path = backup_folder.rows_in(state, described["name"])
    count = 0
    with backup_folder.to_lines(path) as lines:
        for line in tables.lines_of(connection, described):
            if described["name"] == "settings" and shared_secret.NAME in json.loads(line):
                continue  # it lies in a file of its own
            lines.write(line)
            count += 1
    return Table(name=described["name"], columns=described["columns"], rows=count, sha256=sha256_of(path))


class _Earlier:
    """The files of the backup that is brought up to date, asked for in the order of folders."""

    def __init__(self, folder: Path):
        self._folders: Iterator[BackupFolder] = iter(())
        if (folder / HEAD).exists():
            self._folders = backup_folder.folders_in(folder, backup_folder.read_head(folder)[0])
        self._next = next(self._folders, None)

    def of(self, folder: str) -> dict[str, BackupFile]:
        while self._next and self._next["folder"] < folder:
            self._next = next(self._folders, None)
        if self._next and self._next["folder"] == folder:
            return {backup_file["name"]: backup_file for backup_file in self._next["files"]}
        return {}


class _Copier:
    """Copies folders of the storage into a backup, one after another."""

    def __init__(self, source: Files, target: FolderFiles, replaced: list[str], counts: Counts):
        self._source, self._target, self._replaced, self._counts = source, target, replaced, counts

    def copy(self, folder: str, earlier: dict[str, BackupFile], pool: ThreadPoolExecutor) -> BackupFolder:
        """What the folder holds, once it is in the backup, too; what goes meanwhile is left out."""
        existing_sizes = sizes_in(self._target, folder)
        wanted = list(files_in(self._source, folder))

        def copy_file(file: tuple[str, int, str]) -> tuple[BackupFile, bool] | None:
            return self._one(folder, file, existing_sizes, earlier.get(file[0]))
        made = [copied for _, copied in recording_last(pool, copy_file, wanted, lambda copied: copied[0])
                if copied is not None]
        for file, is_copied in made:
            self._counts.add(file["size"], is_copied)
            if is_copied and file["name"] in earlier:
                self._replaced.append(f"{folder}/{file['name']}")
        return {"folder": folder, "files": sorted((file for file, _ in made), key=lambda file: file["name"])}

    def _one(self, folder: str, wanted: tuple[str, int, str], existing_sizes: dict[str, int], earlier: BackupFile | None
             ) -> tuple[BackupFile, bool] | None:
        """The file, and whether it had to be copied; None where it has gone."""
        name, size, changed = wanted
        path, is_there = f"{folder}/{name}", existing_sizes.get(name) == size
        if earlier and is_there and earlier["size"] == size and (name != RENEWED or earlier["changed"] == changed):
            return {**earlier, "changed": changed}, False
        if is_there and not earlier and name != RENEWED:  # of a backup that was broken off
            content = Hashed(self._target.read(path), path).passed()
        else:
            is_there, content = False, Hashed(self._source.read(path), path)
            try:
                self._target.write(f"{path}{NEXT}" if earlier else path, content)
            except NotFound:
                return None
        return BackupFile(name=name, size=content.size, changed=changed, sha256=content.sha256), not is_there


def _prune(folder: Path, head: Backup, target: FolderFiles) -> None:
    retained = set()
    for listed_folder in backup_folder.folders_in(folder, head):
        retained.add(listed_folder["folder"].partition("/")[2])
        names = {file["name"] for file in listed_folder["files"]}
        for name in sizes_in(target, listed_folder["folder"]).keys() - names:
            target.remove(f"{listed_folder['folder']}/{name}")
    for name in target.folders("recordings"):
        if name not in retained:
            shutil.rmtree(folder / "recordings" / name)
