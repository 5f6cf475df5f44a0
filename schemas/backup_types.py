"""What the values of a backup are once they were read and checked, as in types.py."""

from datetime import datetime
from typing import TypedDict


class Column(TypedDict):
    """ColumnSchema."""

    name: str
    kind: str


class Table(TypedDict):
    """TableSchema."""

    name: str
    columns: list[Column]
    rows: int
    sha256: str


class Backup(TypedDict):
    """BackupSchema."""

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
    """BackupFileSchema."""

    name: str
    size: int
    changed: str
    sha256: str


class BackupFolder(TypedDict):
    """BackupFolderSchema."""

    folder: str
    files: list[BackupFile]
