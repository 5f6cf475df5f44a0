"""Format of a backup of the review app (backup.json): its tables, rows and files. Written last."""

import re

from marshmallow import fields, validate

from .parts import SHA256, Strict, integer, listing, newest_version, string, wall_clock

FORMAT = "demotape/backup"
KINDS = ("text", "integer", "number", "flag", "time", "json")
_COUNT = validate.Range(min=0)
_TABLE = validate.Regexp(r"^[a-z][a-z0-9_]*$(?!\n)", error="Not the name of a table or column.")
_STATE = validate.Regexp(r"^state-[0-9A-Za-z-]+$(?!\n)", error="Not the name of a state.")
_PART = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}"
_FOLDER = validate.Regexp(rf"^(exports|uploads|recordings/{_PART})$(?!\n)", error="Not a folder of a backup.")
FILE_NAME = re.compile(rf"^{_PART}(/{_PART}){{0,3}}$(?!\n)")
_FILE = validate.Regexp(FILE_NAME, error="Not the name of a file in a backup.")


class ColumnSchema(Strict):
    """A column of a table."""

    name = string("its name", validate=_TABLE)
    kind = string("`text`, `integer`, `number`, `flag` (true, false), `time` (ISO 8601, in UTC) or `json` (as a text)",
                  validate=validate.OneOf(KINDS))


class TableSchema(Strict):
    """A table of the database; its rows are the lines of `tables/NAME.jsonl.zst`, each a list of values."""

    name = string("its name", validate=_TABLE)
    columns = listing(fields.Nested(ColumnSchema), "its columns, in the order of the values")
    rows = integer("how many rows it has", validate=_COUNT)
    sha256 = string("SHA-256 of the file", validate=SHA256)


class BackupSchema(Strict):
    """backup.json: the head of a backup."""

    piece = "backup"

    format = string("always `demotape/backup`", validate=validate.Equal(FORMAT))
    version = newest_version(FORMAT)
    made_at = wall_clock("wall clock when the rows were read")
    demotape = string("version of demotape that made it")
    revision = string("revision of the database's tables", validate=validate.Length(max=40))
    state = string("folder in which rows, the list of files and the session key lie", validate=_STATE)
    key_sha256 = string("SHA-256 of `secret.key` there", validate=SHA256)
    tables = listing(fields.Nested(TableSchema), "the tables, each after those that it refers to")
    files = integer("how many files it has", validate=_COUNT)
    size = integer("bytes of the files in all", validate=_COUNT)
    files_sha256 = string("SHA-256 of `files.jsonl.zst` there", validate=SHA256)


class BackupFileSchema(Strict):
    """A file of the storage."""

    name = string("its place in the folder", validate=_FILE)
    size = integer("bytes", validate=_COUNT)
    changed = string("when the app's copy was written")
    sha256 = string("SHA-256 of its content", validate=SHA256)


class BackupFolderSchema(Strict):
    """A line of `files.jsonl.zst`: the files in a folder of the storage. Lines are in the order of folders."""

    piece = "backup line"

    folder = string("`recordings/ID`, `exports` or `uploads`", validate=_FOLDER)
    files = listing(fields.Nested(BackupFileSchema), "its files")
