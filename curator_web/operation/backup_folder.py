"""The folder of a backup: its head, its lists, and their verification."""

import hashlib
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import zstandard
from filelock import FileLock, Timeout

from curator_web.errors import InputError
from curator_web.storage.files import FolderFiles
from schemas import limits
from schemas.files import parse, parse_line, read_inside, reason, validated, written_atomically
from schemas.formats.backup import BackupFolderSchema, BackupSchema
from schemas.types.backup import Backup, BackupFolder

HEAD, LOCK, KEY, FILES = "backup.json", ".backup", "secret.key", "files.jsonl.zst"
_LINE = BackupFolderSchema()


@contextmanager
def to_write(folder: Path) -> Iterator[FolderFiles]:
    """A folder that is a backup, or becomes one; nobody but its owner can read it. Raises InputError for one that holds
    something else, or that another backup is written into."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if any(folder.iterdir()) and not (folder / LOCK).exists():
            raise InputError(f"{folder}: is neither empty nor a backup; choose another folder")
        folder.chmod(0o700)
        lock = FileLock(folder / LOCK)
        lock.acquire(blocking=False)
    except Timeout:
        raise InputError(f"{folder}: another backup is being written to it") from None
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({reason(error)})") from None
    try:
        yield FolderFiles(folder)
    finally:
        lock.release()
        (folder / LOCK).touch()  # not every system leaves the file


def read_head(folder: Path) -> tuple[Backup, str]:
    """The head of a whole backup and its SHA-256. Raises InputError where there is none, or where rows, list or key are
    not those that it names."""
    if not (folder / HEAD).exists():
        raise InputError(f"{folder}: has no {HEAD}; it is not a backup, or an incomplete one")
    content = read_inside(folder / HEAD, limits.JSON)
    head: Backup = parse(content, BackupSchema(), str(folder / HEAD))[0]
    state = folder / head["state"]
    for path, sha256 in ((state / KEY, head["key_sha256"]), (state / FILES, head["files_sha256"]),
                         *((rows_in(state, table["name"]), table["sha256"]) for table in head["tables"])):
        if not path.is_file() or sha256_of(path) != sha256:
            raise InputError(f"{path}: is missing or damaged; use another backup")
    return head, hashlib.sha256(content).hexdigest()


def rows_in(state: Path, table: str) -> Path:
    """Where a table's rows lie."""
    return state / "tables" / f"{table}.jsonl.zst"


def folders_in(folder: Path, head: Backup) -> Iterator[BackupFolder]:
    """The folders of the storage that a backup has, in order."""
    path = folder / head["state"] / FILES
    for number, line in enumerate(lines_in(path), 1):
        where = f"{path}, line {number}"
        yield validated(parse_line(line, _LINE.piece, head["version"], where), _LINE, where)


def lines_in(path: Path) -> Iterator[bytes]:
    """The lines of a compressed file."""
    with path.open("rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as content:
        yield from io.BufferedReader(content)


@contextmanager
def to_lines(path: Path) -> Iterator[zstandard.ZstdCompressionWriter]:
    """A compressed file to write lines into; it is there, whole, at the end."""
    with written_atomically(path) as raw, zstandard.ZstdCompressor().stream_writer(raw, closefd=False) as content:
        yield content


def sha256_of(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def line(folder: BackupFolder) -> bytes:
    """A line of the list of files."""
    return (json.dumps(folder, separators=(",", ":")) + "\n").encode()
