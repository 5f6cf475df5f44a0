"""The tables of tasks: what people are to be asked to do, and who was given which."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from curator_web.db.columns import ID_LENGTH

from .core import Base

PROPOSED, ACCEPTED, RETURNED, REFUSED = TASK_STATES = ("proposed", "accepted", "returned", "refused")
TAKEN, RECORDED, GIVEN_BACK, UNACHIEVABLE = ASSIGNMENT_STATES = ("taken", "recorded", "given-back", "unachievable")
CATEGORY_LENGTH = 80


class Task(Base):
    """One task of a project. `answer`: what is expected at its end; `unachievable`: why it cannot be done, if that is
    the point; `wanted`: how many demonstrations of it; `alike`: ids of tasks of the same site that were nearly the same
    when it was proposed; `seed`: shown to who proposes others."""

    __tablename__ = "tasks"
    __table_args__ = (Index("ix_tasks_project_state_made_at_id", "project", "state", "made_at", "id"),
                      Index("ix_tasks_project_site", "project", "site"))

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    project: Mapped[str] = mapped_column(ForeignKey("projects.id"))
    state: Mapped[str] = mapped_column(String(20))
    text: Mapped[str] = mapped_column(Text)
    url: Mapped[str] = mapped_column(Text)
    site: Mapped[str] = mapped_column(String(255))
    category: Mapped[str] = mapped_column(String(CATEGORY_LENGTH))
    difficulty: Mapped[str] = mapped_column(String(20))
    answer: Mapped[str] = mapped_column(Text)
    unachievable: Mapped[str] = mapped_column(Text)
    wanted: Mapped[int]
    seed: Mapped[bool]
    alike: Mapped[list[Any]]
    proposed_by: Mapped[str] = mapped_column(String(ID_LENGTH))
    made_at: Mapped[datetime]
    decided_by: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    reason: Mapped[str] = mapped_column(Text)


class Assignment(Base):
    """What somebody does with a task that they were given; each is given to them once."""

    __tablename__ = "assignments"

    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"), primary_key=True)
    who: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True, index=True)
    state: Mapped[str] = mapped_column(String(20))
    reason: Mapped[str] = mapped_column(Text)
    changed_at: Mapped[datetime]
