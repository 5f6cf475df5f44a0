"""The tables of training: demonstrations with a known answer, and what new annotators answer."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from curator_web.db.columns import ID_LENGTH

from .core import Base


class Training(Base):
    """A settled demonstration that new annotators do first; what it holds is the known answer."""

    __tablename__ = "training"

    demonstration_id: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), primary_key=True)
    made_by: Mapped[str] = mapped_column(String(ID_LENGTH))
    made_at: Mapped[datetime]


class TrainingAttempt(Base):
    """One annotator's answer: a row of `demonstrations` without base turns of its own, as a pair's copy is.

    When it was submitted, `told` is what both said, counted (`differences.observed`), `agreed` of `points` said the
    same (`differences.agreed`), and `answer` was the original's version. `ended_at`: since then it counts no more, as
    it was given again, a lead let the annotator through, or the original is no training any more.
    """

    __tablename__ = "training_tries"

    copy: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), primary_key=True)
    original: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), index=True)
    who: Mapped[str] = mapped_column(ForeignKey("users.name"), index=True)
    made_at: Mapped[datetime]
    told: Mapped[dict[str, Any] | None]
    agreed: Mapped[int | None]
    points: Mapped[int | None]
    answer: Mapped[int | None]
    submitted_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]

    @property
    def open(self) -> bool:
        """Whether it is worked on."""
        return self.submitted_at is None and self.ended_at is None
