"""Kinds of columns that SQLite and PostgreSQL hold alike: times, names in one order, pieces of the formats."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, String, TypeDecorator

from schemas.upgrade import HEADS, PIECES, VERSIONS, require_known, upgrade

ID_LENGTH = 100

# Ordered by code points everywhere, so that "begins with" is a range of the index.
BY_BYTES = String(ID_LENGTH).with_variant(String(ID_LENGTH, collation="C"), "postgresql")


class UtcTime(TypeDecorator):
    """A time with its zone; SQLite keeps none, so it is stored in UTC and read back as UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect) -> datetime | None:
        return value and value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Stored(TypeDecorator):
    """JSON of one of the formats, kept as it came and read as the newest version of demotape has it."""

    impl = JSON
    cache_ok = True

    def __init__(self, piece: str):
        super().__init__()
        self.piece = piece

    def process_bind_param(self, value: dict[str, Any] | None, dialect) -> dict[str, Any] | None:
        """An edit says no version itself, so it is kept beside it; rows from before that was so are of version 1."""
        if value is None or "version" in value:
            return value
        return value | {"version": VERSIONS[PIECES[self.piece]]}

    def process_result_value(self, value: dict[str, Any] | None, dialect) -> dict[str, Any] | None:
        """Raises InputError for what a newer version of demotape stored."""
        if value is None:
            return None
        where, version = f"the database's {self.piece}", value.get("version", 1)
        require_known(version, self.piece, where)
        if self.piece not in HEADS:
            value = {name: field_value for name, field_value in value.items() if name != "version"}
        return upgrade(value, self.piece, version, where)
