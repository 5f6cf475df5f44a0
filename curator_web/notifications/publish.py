"""Write notifications in the transaction of their cause; nobody is notified of their own actions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from curator_web.db.models.core import ACTIVE, LEAD, QUESTION, Comment, Demonstration, Member, User
from curator_web.db.models.job_models import JOB_FAILED as FAILED
from curator_web.db.models.job_models import Job
from curator_web.db.models.notification_models import (
    ANSWERED,
    ASKED,
    ASSIGNED,
    COMMENTED,
    JOB_DONE,
    JOB_FAILED,
    MENTIONED,
    RETURNED,
    TASK_ACCEPTED,
    TASK_REFUSED,
    TASK_RETURNED,
    WEBHOOK_OFF,
    Notification,
)
from curator_web.db.models.task_models import ACCEPTED, REFUSED, Task
from curator_web.db.models.task_models import RETURNED as TASK_SENT_BACK

from . import mentions

TOGETHER = timedelta(hours=1)  # what somebody assigns to somebody in batches is told of once
UnseenBy = Callable[[Session, Demonstration, Iterable[str]], set[str]]
_UNTOLD = ("recount",)  # kinds of jobs that nobody waits for: only their failing is told
_DECIDED = {ACCEPTED: TASK_ACCEPTED, TASK_SENT_BACK: TASK_RETURNED, REFUSED: TASK_REFUSED}


def of_comment(session: Session, row: Demonstration, comment: Comment, unseen_by: UnseenBy) -> None:
    """Tell who is mentioned, who recorded or annotated the demonstration, and who said what is answered; each once, and
    nobody who may not see it yet."""
    kinds: dict[str | None, str] = dict.fromkeys((row.recorded_by, row.submitted_by, row.assigned_to), COMMENTED)
    if comment.answers is not None:
        kinds[session.get_one(Comment, comment.answers).who] = ANSWERED
    elif comment.kind == QUESTION:
        kinds[row.recorded_by] = ASKED
    kinds |= dict.fromkeys(mentions.names(comment.text), MENTIONED)
    named = [name for name in kinds if name]
    for name in unseen_by(session, row, named):
        del kinds[name]
    _notify(session, row.home, kinds, comment.who, demonstration_id=row.id, comment=comment.id)


def of_assigning(session: Session, rows: Sequence[Demonstration], to: str, by: str) -> None:
    """Tell somebody that demonstrations of one project are theirs now; of many in one line."""
    project = rows[0].home if rows else ""
    if len(rows) == 1:
        _notify(session, project, {to: ASSIGNED}, by, demonstration_id=rows[0].id)
    elif rows:
        before = session.scalars(select(Notification).where(
            Notification.who == to, Notification.read_at.is_(None), Notification.kind == ASSIGNED,
            Notification.by == by, Notification.project == project, Notification.demonstration_id.is_(None),
            Notification.made_at > datetime.now(UTC) - TOGETHER).limit(1)).first()
        if before is None:
            _notify(session, project, {to: ASSIGNED}, by, count=len(rows))
        else:
            before.count += len(rows)


def of_returning(session: Session, row: Demonstration, by: str) -> None:
    """Tell who submitted a demonstration that it was sent back."""
    _notify(session, row.home, {row.submitted_by: RETURNED}, by, demonstration_id=row.id)


def of_decision(session: Session, task: Task, by: str) -> None:
    """Tell who proposed a task what became of it."""
    _notify(session, task.project, {task.proposed_by: _DECIDED[task.state]}, by, task_id=task.id)


def of_job(session: Session, job: Job) -> None:
    """Tell who began a job that it has ended."""
    if job.state != FAILED and job.kind in _UNTOLD:
        return
    kind = JOB_FAILED if job.state == FAILED else JOB_DONE
    _notify(session, job.project, {job.who: kind}, None, job=job.id,
            demonstration_id=(job.result or {}).get("demonstration"))


def of_webhook_off(session: Session, project: str) -> None:
    """Tell the leads of a project that the app switched a webhook off."""
    leads = session.scalars(select(Member.who).where(Member.project == project, Member.role == LEAD))
    _notify(session, project, dict.fromkeys(leads, WEBHOOK_OFF), None)


def _notify(session: Session, project: str, kinds: Mapping[Any, str], by: str | None, **about: Any) -> None:
    """`kinds`: what each is told; who is no member, or did it, is not."""
    now = datetime.now(UTC)
    for recipient in _members(session, project, kinds):
        if recipient != by:
            session.add(Notification(who=recipient, project=project, kind=kinds[recipient], by=by, made_at=now,
                                     **about))


def _members(session: Session, project: str, names: Iterable[str | None]) -> Sequence[str]:
    wanted = [name for name in names if name]
    if not wanted:
        return ()
    return session.scalars(select(Member.who).join(User, User.name == Member.who).where(
        Member.project == project, Member.who.in_(wanted), User.state == ACTIVE).order_by(Member.who)).all()
