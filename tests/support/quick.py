"""Shared or delayed setup of many tests: tables of SQLite files, compiled templates, processes with limits, the
description of the API, address rules.

Nothing here changes what is tested: tables are those that the migrations make, templates those that Jinja compiles, and
the description is complete when somebody reads it.
"""

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from _pytest import runner
from apispec import APISpec
from flask import Flask
from flask_smorest import Blueprint
from sqlalchemy import Connection, create_engine, inspect
from werkzeug.routing import Rule

from curator_web.db import database

# Of what makes the tables; SQLite makes those behind the full-text indexes itself.
_STATEMENTS = ("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND (type = 'trigger' OR "
               "(name NOT LIKE 'demonstration_trigrams_%' AND name NOT LIKE 'demonstration_words_%'))")


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


def _describe_later(blueprint: Blueprint, *about: Any, **options: Any) -> None:
    """For every app that is made the views of the API would be described anew, and most tests read no description."""
    about[2].__dict__.setdefault("described_later", []).append(lambda: _describe(blueprint, *about, **options))


def _whole(spec: APISpec) -> dict[str, Any]:
    for describe in spec.__dict__.pop("described_later", ()):
        describe()
    return _to_dict(spec)


_describe: Callable[..., None] = Blueprint.register_views_in_doc
_to_dict: Callable[[APISpec], dict[str, Any]] = APISpec.to_dict


def _builder_later(rule: Rule, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
    """Compiles what makes addresses of a rule when the first is made: of most rules no test makes one."""
    made: list[Callable[..., tuple[str, str]]] = []

    def build(self: Rule, **values: Any) -> tuple[str, str]:
        if not made:
            made.append(_compile_builder(rule, append_unknown))
        return made[0](self, **values)
    return build


_compile_builder: Callable[..., Callable[..., tuple[str, str]]] = Rule._compile_builder


def begin() -> None:
    """From now on, in this process."""
    # A process with limits is replaced when the environment is another one: pytest notes there which test it is at.
    runner._update_current_test_var = lambda item, when: None
    database.migrate = _copied
    Blueprint.register_views_in_doc, APISpec.to_dict = _describe_later, _whole
    Rule._compile_builder = _builder_later
    Flask.jinja_options = {**Flask.jinja_options, "bytecode_cache": _Compiled()}
