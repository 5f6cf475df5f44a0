"""The table of demonstrations that two people annotate: an original and its copy, which shares its base turns."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from curator_web.db.columns import ID_LENGTH

from .core import Base

SETTLED, AGREED, ENDED = OUTCOMES = ("settled", "agreed", "ended")  # by somebody; nothing differed; not compared


class Pair(Base):
    """Two annotations of one recording. The copy is a row of `demonstrations` without base turns of its own.

    `told`: what each had submitted on their own, counted (`differences.observed`); None until both have.
    `outcome`: one of OUTCOMES; None while they annotate or are to be compared.
    """

    __tablename__ = "pairs"

    original: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), primary_key=True)
    copy: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), unique=True)
    made_by: Mapped[str] = mapped_column(String(ID_LENGTH))
    made_at: Mapped[datetime]
    told: Mapped[dict[str, Any] | None]
    outcome: Mapped[str | None] = mapped_column(String(20))
    ended_by: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    ended_at: Mapped[datetime | None]
