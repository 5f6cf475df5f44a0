"""The table of jobs: work in the background."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from curator_web.db.columns import ID_LENGTH

from .core import MAIN, Base

QUEUED, RUNNING, DONE, JOB_FAILED = JOB_STATES = ("queued", "running", "done", "failed")


class Job(Base):
    """Work in the background. `beat_at` tells that somebody is at it; when it stops, another process takes over.

    `waits_for` and `waits_since`: what the job needs and was away when it was last tried, and from when on; `next_at`:
    when it is tried again.
    """

    __tablename__ = "jobs"
    __table_args__ = (Index("ix_jobs_state_id", "state", "id"),
                      Index("ix_jobs_project_kind_id", "project", "kind", "id"))

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(20))
    project: Mapped[str] = mapped_column(String(ID_LENGTH), default=MAIN, server_default=MAIN)
    who: Mapped[str] = mapped_column(String(ID_LENGTH))
    state: Mapped[str] = mapped_column(String(20))
    arguments: Mapped[dict[str, Any]]
    done: Mapped[int] = mapped_column(default=0)
    total: Mapped[int | None]
    note: Mapped[str] = mapped_column(Text, default="")
    result: Mapped[dict[str, Any]] = mapped_column(default=dict)
    worker: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    tries: Mapped[int] = mapped_column(default=0)
    made_at: Mapped[datetime]
    beat_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    waits_for: Mapped[str | None] = mapped_column(String(20))
    waits_since: Mapped[datetime | None]
    next_at: Mapped[datetime | None]
