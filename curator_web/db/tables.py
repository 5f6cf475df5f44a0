"""All rows of a database as lines of JSON, from one kind of database into an empty one of the same kind or the other.

Tables are told by what the database itself says of them, not by the models, so that rows of an older revision can be
filled in at that revision and migrated then. JSON is carried as the text that it is.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, TypedDict

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    ColumnElement,
    Connection,
    DateTime,
    Double,
    Float,
    Integer,
    String,
    TableClause,
    Text,
    cast,
    column,
    delete,
    func,
    insert,
    inspect,
    select,
    table,
    text,
)
from sqlalchemy.exc import DataError, IntegrityError, StatementError
from sqlalchemy.types import UserDefinedType

from curator_web.errors import InputError
from schemas.types.backup import Column, Table

from .columns import UtcTime
from .database import REVISION
from .models.core import MAIN

BATCH = 1000
FULL_TEXT = ("demonstration_trigrams", "demonstration_words")  # with the tables that SQLite makes; triggers fill them
MADE_ANEW = ("projects", "settings")  # which a database that nobody has used may have rows in


class _JsonText(UserDefinedType):
    """JSON that is written as the text it comes as."""

    cache_ok = True

    def get_col_spec(self, **_options: Any) -> str:
        return "JSON"


TYPES: dict[str, Any] = {"text": Text(), "integer": BigInteger(), "number": Double(), "flag": Boolean(),
                         "time": UtcTime(),
                         "json": _JsonText()}
_KINDS = ((JSON, "json"), (Boolean, "flag"), (DateTime, "time"), (Integer, "integer"), (Float, "number"),
          (String, "text"))


class Described(TypedDict):
    """A table, without its rows."""

    name: str
    columns: list[Column]


def tables_of(connection: Connection) -> list[Described]:
    """The tables, each after those that it refers to."""
    inspector = inspect(connection)
    return [{"name": name, "columns": [{"name": column_info["name"], "kind": _kind_of(column_info["type"])}
                                       for column_info in inspector.get_columns(name)]}
            for name, _ in inspector.get_sorted_table_and_fkc_names()
            if name and name != REVISION and not name.startswith(FULL_TEXT)]


def revision_of(connection: Connection) -> str | None:
    """The revision that the tables are of; None where there are none."""
    if not inspect(connection).has_table(REVISION):
        return None
    return connection.scalar(select(column("version_num")).select_from(table(REVISION)))


def lines_of(connection: Connection, described: Described) -> Iterator[bytes]:
    """Each row of a table as a line, in the order of its key."""
    kinds = {described_column["name"]: described_column["kind"] for described_column in described["columns"]}
    clause = _clause(described)
    key = inspect(connection).get_pk_constraint(described["name"])["constrained_columns"]
    shown: list[ColumnElement] = [cast(clause.c[name], Text) if kind == "json" else clause.c[name]
                                  for name, kind in kinds.items()]
    wanted = select(*shown).order_by(*(clause.c[name] for name in key))
    with connection.execute(wanted, execution_options={"stream_results": True, "yield_per": BATCH}) as rows:
        for row in rows:
            values = [value.isoformat() if isinstance(value, datetime) else value for value in row]
            yield (json.dumps(values, separators=(",", ":")) + "\n").encode()


def require_unused(connection: Connection, revision: str) -> None:
    """Raises InputError for a database in which somebody has worked, or whose tables are not of that revision."""
    if (current_revision := revision_of(connection)) is None:
        if inspect(connection).get_table_names():
            raise InputError("the database contains tables that do not belong to demotape; use an empty database")
        return
    if current_revision != revision:
        raise InputError(f"the database has tables of another version ({current_revision}; the backup has "
                         f"{revision}); use an empty database")
    for described in tables_of(connection):
        name, clause = described["name"], _clause(described)
        wanted = select(func.count()).select_from(clause)
        if name == "projects":
            wanted = wanted.where(clause.c.id != MAIN)
        if name != "settings" and connection.scalar(wanted):
            raise InputError(f"the database is not empty (table {name}); use an empty database")


def fill(connection: Connection, described: Sequence[Table], lines_in: Callable[[str], Iterable[bytes]]) -> None:
    """Put rows into the tables of a database that nobody has used, at the revision that they were read at.

    `lines_in`: the lines of the table of a name. Raises InputError where tables and rows do not fit.
    """
    existing = {described_table["name"]: described_table for described_table in tables_of(connection)}
    if {name: _columns(described_table) for name,
        described_table in existing.items()} != {described_table["name"]: _columns(described_table)
                                                 for described_table in described}:
        raise InputError("the backup's tables do not match its revision; it was not written by demotape, or was "
                         "changed")
    for name in MADE_ANEW:
        if name in existing:
            connection.execute(delete(_clause(existing[name])))
    for described_table in described:
        try:
            _insert(connection, described_table, lines_in(described_table["name"]))
        except (DataError, IntegrityError, StatementError) as error:
            cause = str(error.orig or error).strip().partition("\n")[0] if isinstance(error, IntegrityError) else (
                type(error.orig or error).__name__)
            raise InputError(f"table {described_table['name']}: rows do not fit into this database ({cause})") from None
        _advance(connection, described_table)


def _insert(connection: Connection, described: Described, lines: Iterable[bytes]) -> None:
    names = [described_column["name"] for described_column in described["columns"]]
    times = {number for number, described_column in enumerate(described["columns"])
             if described_column["kind"] == "time"}
    clause = _clause(described)
    remaining = iter(lines)
    while batch := list(islice(remaining, BATCH)):
        connection.execute(insert(clause), [
            dict(zip(names, (datetime.fromisoformat(value) if number in times and value else value
                             for number, value in enumerate(json.loads(line))), strict=True)) for line in batch])


def _advance(connection: Connection, described: Described) -> None:
    """PostgreSQL counts ids apart from the rows: the next one comes after those that were put in."""
    if connection.dialect.name != "postgresql":
        return
    for described_column in described["columns"]:
        if described_column["kind"] == "integer":
            connection.execute(text(
                "SELECT setval(held.sequence, newest.id) FROM "
                f"(SELECT max(\"{described_column['name']}\") AS id FROM \"{described['name']}\") AS newest, "
                "(SELECT pg_get_serial_sequence(:table, :column) AS sequence) AS held "
                "WHERE held.sequence IS NOT NULL AND newest.id IS NOT NULL"),
                {"table": f"\"{described['name']}\"", "column": described_column["name"]})


def _clause(described: Described) -> TableClause:
    return table(described["name"], *(column(described_column["name"], TYPES[described_column["kind"]])
                                      for described_column in described["columns"]))


def _columns(described: Described) -> dict[str, str]:
    return {described_column["name"]: described_column["kind"] for described_column in described["columns"]}


def _kind_of(type_: Any) -> str:
    for known, kind in _KINDS:
        if isinstance(type_, known):
            return kind
    raise TypeError(f"no kind of column is known for {type_!r}")
