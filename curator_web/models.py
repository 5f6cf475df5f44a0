"""The tables. Only portable types, so that SQLite and PostgreSQL hold the same."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, DateTime, ForeignKey, Index, MetaData, String, Text, TypeDecorator
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

DRAFT, SUBMITTED, APPROVED, INVALID = STATUSES = ("draft", "submitted", "approved", "invalid")
ROLES = ("annotator", "validator", "lead")
RECEIVING, PROCESSING, IMPORTED, FAILED = UPLOAD_STATES = ("receiving", "processing", "imported", "failed")
ID_LENGTH = 100


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


class Base(DeclarativeBase):
    """Constraints have names, so that later migrations can change them."""

    metadata = MetaData(naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
    })
    type_annotation_map = {datetime: UtcTime, dict[str, Any]: JSON, list[Any]: JSON}


class Demonstration(Base):
    """One demonstration. The counts are of the current turns, kept here so that lists need not fold edits."""

    __tablename__ = "demonstrations"
    __table_args__ = (Index("ix_demonstrations_status_imported_at", "status", "imported_at"),)

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    recording: Mapped[str] = mapped_column(String(ID_LENGTH), index=True)
    task: Mapped[str] = mapped_column(Text)
    site: Mapped[str] = mapped_column(String(255), index=True)
    status: Mapped[str] = mapped_column(String(20))
    version: Mapped[int]
    turns: Mapped[int]
    dropped: Mapped[int]
    edited: Mapped[int]
    checks: Mapped[int]
    recorded_at: Mapped[datetime]
    imported_at: Mapped[datetime] = mapped_column(index=True)
    changed_at: Mapped[datetime]


class BaseTurns(Base):
    """The demonstration as the pipeline made it; apart from the list's table, because it is large."""

    __tablename__ = "base_turns"

    demonstration_id: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), primary_key=True)
    content: Mapped[dict[str, Any]]


class Edit(Base):
    """One edit, numbered from 1 in its demonstration. Rows are added, never changed."""

    __tablename__ = "edits"

    demonstration_id: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    content: Mapped[dict[str, Any]]
    who: Mapped[str] = mapped_column(String(ID_LENGTH))
    made_at: Mapped[datetime]


class StatusChange(Base):
    """One change of status, numbered from 1 in its demonstration. Rows are added, never changed."""

    __tablename__ = "status_changes"

    demonstration_id: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    status: Mapped[str] = mapped_column(String(20))
    reason: Mapped[str] = mapped_column(Text)
    who: Mapped[str] = mapped_column(String(ID_LENGTH))
    made_at: Mapped[datetime]


class User(Base):
    """Somebody who may sign in with a token. The token itself is not kept, only its SHA-256."""

    __tablename__ = "users"

    name: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    role: Mapped[str] = mapped_column(String(20))
    token_sha256: Mapped[str] = mapped_column(String(64), unique=True)
    made_at: Mapped[datetime]


class Upload(Base):
    """A package on its way in. Its bytes lie in the data folder; `digests` are its chunks' SHA-256 in order."""

    __tablename__ = "uploads"

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    who: Mapped[str] = mapped_column(ForeignKey("users.name"), index=True)
    size: Mapped[int] = mapped_column(BigInteger)
    chunk_size: Mapped[int]
    digests: Mapped[list[Any]]
    state: Mapped[str] = mapped_column(String(20))
    error: Mapped[str | None] = mapped_column(Text)
    demonstration: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    begun_at: Mapped[datetime]


class UploadedChunk(Base):
    """A chunk of an upload that is on disk and was verified, numbered from 0."""

    __tablename__ = "uploaded_chunks"

    upload_id: Mapped[str] = mapped_column(ForeignKey("uploads.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
