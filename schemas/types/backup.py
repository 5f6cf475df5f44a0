"""Types of the values of a backup, after reading and validation.

Written by `python -m schemas.write_types` from the schemas; change those.
"""

from datetime import datetime
from typing import TypedDict


class Column(TypedDict):
    """ColumnSchema: A column of a table."""

    name: str
    kind: str


class Table(TypedDict):
    """TableSchema: A table of the database; its rows are the lines of `tables/NAME.jsonl.zst`, each a list of
    values.
    """

    name: str
    columns: list[Column]
    rows: int
    sha256: str


class Backup(TypedDict):
    """BackupSchema: backup.json: the head of a backup."""

    format: str
    version: int
    made_at: datetime
    demotape: str
    revision: str
    state: str
    key_sha256: str
    tables: list[Table]
    files: int
    size: int
    files_sha256: str


class BackupFile(TypedDict):
    """BackupFileSchema: A file of the storage."""

    name: str
    size: int
    changed: str
    sha256: str


class BackupFolder(TypedDict):
    """BackupFolderSchema: A line of `files.jsonl.zst`: the files in a folder of the storage. Lines are in the order
    of folders.
    """

    folder: str
    files: list[BackupFile]
