"""The tables of judges beside people: a sample's demonstrations, what people say of them, and what judges said.

All of it is of the project that a demonstration was in then; in another one nothing of it is known.
"""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, ForeignKeyConstraint, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from curator_web.db.columns import ID_LENGTH

from .core import Base

JUDGE_LENGTH = 100
HOST_LENGTH = 300


class Sampled(Base):
    """A demonstration that was drawn for people to label, numbered from 1 in the order in which it is handed out."""

    __tablename__ = "judging_sample"

    project: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    demonstration_id: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), primary_key=True, index=True)
    number: Mapped[int]
    made_by: Mapped[str] = mapped_column(String(ID_LENGTH))
    made_at: Mapped[datetime]


class PersonLabel(Base):
    """What somebody says of one of a sample. `done`: whether the task was done; None where they gave up saying it, to
    see what others said. `shown_at`: since when they may see that, and their label changes no more."""

    __tablename__ = "judging_labels"
    __table_args__ = (ForeignKeyConstraint(
        ["project", "demonstration_id"], ["judging_sample.project", "judging_sample.demonstration_id"]),)

    project: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    demonstration_id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    who: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    done: Mapped[bool | None]
    made_at: Mapped[datetime]
    shown_at: Mapped[datetime | None]


class Verdict(Base):
    """What a judge said of a demonstration, as `demotape judge` wrote it."""

    __tablename__ = "judging_verdicts"

    project: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    demonstration_id: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), primary_key=True, index=True)
    judge: Mapped[str] = mapped_column(String(JUDGE_LENGTH), primary_key=True)
    host: Mapped[str] = mapped_column(String(HOST_LENGTH), primary_key=True)
    verdict: Mapped[str] = mapped_column(String(20))
    reason: Mapped[str] = mapped_column(Text)
    milliseconds: Mapped[int] = mapped_column(BigInteger)
    prompt_tokens: Mapped[int | None] = mapped_column(BigInteger)
    completion_tokens: Mapped[int | None] = mapped_column(BigInteger)
