"""The table of saved filters of the list."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from curator_web.db.columns import ID_LENGTH

from .core import Base

FILTER_NAME_LENGTH = 60


class SavedFilter(Base):
    """A filter of a project's list under a name, for who saved it or, `shared`, for everybody in the project.

    `content`: its parameters in the list's address.
    """

    __tablename__ = "saved_filters"
    __table_args__ = (UniqueConstraint("project", "who", "name", name="uq_saved_filters_project_who_name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    project: Mapped[str] = mapped_column(ForeignKey("projects.id"))
    who: Mapped[str] = mapped_column(String(ID_LENGTH))
    name: Mapped[str] = mapped_column(String(FILTER_NAME_LENGTH))
    shared: Mapped[bool]
    content: Mapped[dict[str, Any]]
    made_at: Mapped[datetime]
