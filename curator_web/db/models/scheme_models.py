"""The tables of labelling schemes: their versions, and the answers of people."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from curator_web.db.columns import ID_LENGTH
from schemas import types
from schemas.formats.scheme import NAME_LENGTH

from .core import Base

SOURCE_LENGTH = 80  # of the name of a model or file


class SchemeVersion(Base):
    """A version of a project's labelling scheme, numbered from 1; the newest one counts. Rows are added, never changed.

    `source`: the text that a lead wrote; `content`: what it says.
    """

    __tablename__ = "scheme_versions"

    project: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    source: Mapped[str] = mapped_column(Text)
    content: Mapped[types.Scheme] = mapped_column(JSON)
    who: Mapped[str] = mapped_column(String(ID_LENGTH))
    saved_at: Mapped[datetime]


class Answer(Base):
    """The answer of one person to a question about a demonstration or, with `turn`, a turn of it (else empty).

    `scheme`: the version of the scheme in which it was answered. `independent`: whether the person could not see
    another person's answer to it at that time. `prelabel`: the source of the pre-label that it confirms.
    """

    __tablename__ = "answers"

    demonstration_id: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), primary_key=True)
    question: Mapped[str] = mapped_column(String(NAME_LENGTH), primary_key=True)
    turn: Mapped[str] = mapped_column(Text, primary_key=True)
    who: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    value: Mapped[Any] = mapped_column(JSON)
    scheme: Mapped[int]
    independent: Mapped[bool]
    prelabel: Mapped[str | None] = mapped_column(String(SOURCE_LENGTH))
    changed_at: Mapped[datetime]


class Prelabel(Base):
    """An answer of a model or a file, `source`, which counts only once a person confirms it."""

    __tablename__ = "prelabels"

    demonstration_id: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), primary_key=True)
    question: Mapped[str] = mapped_column(String(NAME_LENGTH), primary_key=True)
    turn: Mapped[str] = mapped_column(Text, primary_key=True)
    value: Mapped[Any] = mapped_column(JSON)
    source: Mapped[str] = mapped_column(String(SOURCE_LENGTH))
    saved_at: Mapped[datetime]


class KnownAnswer(Base):
    """The answer to a question that a lead, `who`, knows, and with which those of annotators are compared."""

    __tablename__ = "known_answers"

    demonstration_id: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), primary_key=True)
    question: Mapped[str] = mapped_column(String(NAME_LENGTH), primary_key=True)
    turn: Mapped[str] = mapped_column(Text, primary_key=True)
    value: Mapped[Any] = mapped_column(JSON)
    who: Mapped[str] = mapped_column(String(ID_LENGTH))
    saved_at: Mapped[datetime]
