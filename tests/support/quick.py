"""What many tests do again and again, done once: tables of SQLite files, compiled templates, processes with limits.

Nothing here changes what is tested: tables are those that the migrations make, templates those that Jinja compiles.
"""

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from _pytest import runner
from flask import Flask
from sqlalchemy import Connection, create_engine, inspect

from curator_web.db import database

# Of what makes the tables; SQLite makes those behind the trigrams itself.
_STATEMENTS = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'demonstration_trigrams_%'"


class _Compiled(jinja2.BytecodeCache):
    """Compiled templates by their source, for all apps of this process."""

    def __init__(self) -> None:
        self._code: dict[tuple[str, str], Any] = {}

    def load_bytecode(self, bucket: Any) -> None:
        bucket.code = self._code.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Any) -> None:
        self._code[bucket.key, bucket.checksum] = bucket.code


@cache
def _tables() -> list[str]:
    """The statements that make the tables as the migrations left them, and their rows."""
    with tempfile.TemporaryDirectory() as folder:
        engine = create_engine(f"sqlite:///{Path(folder) / 'migrated.db'}")
        with engine.begin() as connection:
            _migrate(connection)
            made = [sql for (sql,) in connection.exec_driver_sql(_STATEMENTS)]
            rows = [f"INSERT INTO {table} VALUES ({', '.join(_literal(value) for value in row)})"
                    for table in ("alembic_version", "projects")
                    for row in connection.exec_driver_sql(f"SELECT * FROM {table}")]
        engine.dispose()
    return [*made, *rows]


def _literal(value: str | int | None) -> str:
    return "NULL" if value is None else f"'{value}'"


def _copied(connection: Connection, revision: str = "head") -> None:
    """In an SQLite file without tables: as `migrate` does."""
    if connection.dialect.name != "sqlite" or revision != "head" or inspect(connection).get_table_names():
        return _migrate(connection, revision)
    for statement in _tables():
        connection.exec_driver_sql(statement)


_migrate: Callable[..., None] = database.migrate


def begin() -> None:
    """From now on, in this process."""
    # A process with limits is replaced when the environment is another one: pytest notes there which test it is at.
    runner._update_current_test_var = lambda item, when: None
    database.migrate = _copied
    Flask.jinja_options = {**Flask.jinja_options, "bytecode_cache": _Compiled()}
