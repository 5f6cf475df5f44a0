"""The table of notifications."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from curator_web.db.columns import ID_LENGTH

from .core import Base

KINDS = (MENTIONED, COMMENTED, ASKED, ANSWERED, ASSIGNED, RETURNED, JOB_DONE, JOB_FAILED, TASK_ACCEPTED, TASK_RETURNED,
         TASK_REFUSED, WEBHOOK_OFF) = (
    "mentioned", "commented", "asked", "answered", "assigned", "returned", "job-done", "job-failed", "task-accepted",
    "task-returned", "task-refused", "webhook-off")


class Notification(Base):
    """Something that somebody is told of. `by`: who did it, None for the app; `count`: of how many demonstrations, of
    which none is named where they are several."""

    __tablename__ = "notifications"
    __table_args__ = (Index("ix_notifications_who_read_at_id", "who", "read_at", "id"),
                      Index("ix_notifications_read_at", "read_at"))

    id: Mapped[int] = mapped_column(primary_key=True)
    who: Mapped[str] = mapped_column(String(ID_LENGTH))
    project: Mapped[str] = mapped_column(ForeignKey("projects.id"))
    kind: Mapped[str] = mapped_column(String(20))
    by: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    demonstration_id: Mapped[str | None] = mapped_column(ForeignKey("demonstrations.id"))
    comment: Mapped[int | None] = mapped_column(ForeignKey("comments.id"))
    task_id: Mapped[str | None] = mapped_column(ForeignKey("tasks.id"))
    job: Mapped[int | None] = mapped_column(ForeignKey("jobs.id"))
    count: Mapped[int] = mapped_column(default=1)
    made_at: Mapped[datetime]
    read_at: Mapped[datetime | None]
