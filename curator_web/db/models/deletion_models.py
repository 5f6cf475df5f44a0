"""The table of what was deleted and can be restored."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from curator_web.db.columns import ID_LENGTH

from .core import Base

NOWHERE = ""  # the project of a deleted demonstration: nobody is in it, and no list, queue or export has it


class Deletion(Base):
    """A demonstration that was deleted, and the project that it was in. `batch`: what was deleted at once."""

    __tablename__ = "deletions"
    __table_args__ = (Index("ix_deletions_project_made_at", "project", "made_at"),)

    demonstration_id: Mapped[str] = mapped_column(ForeignKey("demonstrations.id"), primary_key=True)
    project: Mapped[str] = mapped_column(ForeignKey("projects.id"))
    batch: Mapped[str] = mapped_column(String(ID_LENGTH), index=True)
    who: Mapped[str] = mapped_column(String(ID_LENGTH))
    made_at: Mapped[datetime]
