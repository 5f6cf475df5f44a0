"""Somebody's notifications: how many are new, all of them, marking them as read; of projects that they are in still."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Select, and_, delete, func, literal, select, update

from curator_web.db.database import Database
from curator_web.db.models.core import COPIES, Comment, Demonstration, Member
from curator_web.db.models.job_models import Job
from curator_web.db.models.notification_models import Notification
from curator_web.db.models.task_models import Task
from curator_web.errors import ErrorText, NotFound
from curator_web.users import Account

COUNTED = 99  # more unread ones are not counted
SHOWN = 200
RETENTION = timedelta(days=90)  # after they were read


@dataclass(frozen=True)
class NotificationRow:
    """A notification. `about`: the text of the task, where what it tells of is there still; `turn`: the comment's;
    `work`: the kind of the job."""

    row: Notification
    about: str | None
    turn: str | None
    work: str | None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.row, name)


def unread(db: Database, account: Account) -> int:
    """How many are not read yet, COUNTED + 1 at most."""
    unread_rows = _own(account, select(literal(1))).where(Notification.read_at.is_(None)).limit(COUNTED + 1).subquery()
    with db.reading() as session:
        return session.scalar(select(func.count()).select_from(unread_rows)) or 0


def latest_notifications(db: Database, account: Account, only_unread: bool = False) -> list[NotificationRow]:
    """The latest: those that are not read yet first, each kind the newest first."""
    query = _joined(account).order_by(Notification.read_at.is_not(None), Notification.id.desc()).limit(SHOWN)
    if only_unread:
        query = query.where(Notification.read_at.is_(None))
    with db.reading() as session:
        return [NotificationRow(*row) for row in session.execute(query)]


def follow(db: Database, account: Account, number: int) -> NotificationRow:
    """One of them, which is read from now on. Raises NotFound."""
    with db.reading() as session:
        row = session.execute(_joined(account).where(Notification.id == number)).first()
    if row is None:
        raise NotFound(ErrorText("unknown notification %(number)s", number=number))
    mark_read(db, account, [number])
    return NotificationRow(*row)


def mark_read(db: Database, account: Account, ids: Sequence[int] | None = None) -> int:
    """Have some be read, or with None all; returns how many were not. Others' are left alone."""
    chosen = [Notification.who == account.name, Notification.read_at.is_(None)]
    if ids is not None:
        chosen.append(Notification.id.in_(ids))
    with db.reading() as session:  # looking costs no turn to write
        if not session.scalars(select(Notification.id).where(*chosen).limit(1)).first():
            return 0
    with db.writing() as session:
        done: Any = session.execute(update(Notification).where(*chosen).values(read_at=datetime.now(UTC)))
        return done.rowcount


def forget_old(db: Database) -> None:
    """Take away those that were read long ago."""
    old = Notification.read_at < datetime.now(UTC) - RETENTION
    with db.reading() as session:
        if not session.scalars(select(Notification.id).where(old).limit(1)).first():
            return
    with db.writing() as session:
        session.execute(delete(Notification).where(old))


def _own(account: Account, wanted: Select) -> Select:
    """Only somebody's own, of projects that they are in now."""
    return wanted.select_from(Notification).join(
        Member, and_(Member.project == Notification.project, Member.who == Notification.who)
    ).where(Notification.who == account.name)


def _joined(account: Account) -> Select:
    is_visible = and_(Demonstration.id == Notification.demonstration_id, Demonstration.project.in_(
        (Notification.project, literal(COPIES).concat(Notification.project))))
    return (_own(account, select(Notification, func.coalesce(Demonstration.task, Task.text), Comment.turn, Job.kind))
            .outerjoin(Demonstration, is_visible).outerjoin(Comment, Comment.id == Notification.comment)
            .outerjoin(Task, Task.id == Notification.task_id).outerjoin(Job, Job.id == Notification.job))
