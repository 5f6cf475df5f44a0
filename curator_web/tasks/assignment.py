"""Assign tasks: the next task of a person, and its end: recorded, returned, or not achievable."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import INVALID, Demonstration, Project
from curator_web.db.models.task_models import ACCEPTED, GIVEN_BACK, RECORDED, TAKEN, UNACHIEVABLE, Assignment, Task
from curator_web.errors import ErrorText, InputError, NotFound
from curator_web.users import LOCAL, Account
from schemas.text import storable
from schemas.types.origin import Provenance

from . import expected_end
from .bank import TEXT_LENGTH

ASSIGNMENT_PERIOD = timedelta(days=7)  # after which a task that was taken and not recorded is given to others, too
_SEPARATOR = "/"


def name_of(task: Task | expected_end.VisibleTask) -> str:
    """How a recording tells that it is of this task."""
    return f"{task.project}{_SEPARATOR}{task.id}"


def give(db: Database, account: Account) -> expected_end.VisibleTask:
    """The next task for who asks: the one that they have taken already, else one that wants more demonstrations than
    there are and others are at, of which they had none; those first that have fewest. Raises NotFound where none is
    left."""
    with db.writing() as session:
        session.get_one(Project, account.project, with_for_update=True)  # one at a time: no task is given too often
        task = _assigned(session, account)
        if task is None and (task := _free(session, account)):
            session.add(Assignment(task_id=task.id, who=account.name, state=TAKEN, reason="",
                                   changed_at=datetime.now(UTC)))
            audit.note(session, account.name, "task taken", task=task.id)
        if task is None:
            raise NotFound(ErrorText("no task is left for you in this project"))
        return expected_end.shown_to_navigator(session, task)


def give_back(db: Database, account: Account, task_id: str, reason: str = "", unachievable: bool = False) -> None:
    """Have others do a task that this person had taken, who is not given it again; `unachievable`: it cannot be done,
    for this reason. Raises NotFound, InputError."""
    reason = storable(reason).strip()
    if unachievable and not reason:
        raise InputError(ErrorText("field reason: enter the reason why the task is not achievable"))
    if len(reason) > TEXT_LENGTH:
        raise InputError(ErrorText("field reason: must have at most %(text_length)s characters",
                                   text_length=format(TEXT_LENGTH, ",")))
    with db.writing() as session:
        task, row = session.get(Task, storable(task_id)), session.get(Assignment, (storable(task_id), account.name))
        if task is None or task.project != account.project or row is None or row.state == RECORDED:
            raise NotFound(ErrorText("unknown task %(task_id)r", task_id=task_id[:40]))
        row.state, row.reason = UNACHIEVABLE if unachievable else GIVEN_BACK, reason
        row.changed_at = datetime.now(UTC)
        audit.note(session, account.name, f"task {row.state}", task=task.id)


def assigned_task(db: Database, account: Account) -> Task | None:
    """The task that this person has taken; None where there is none."""
    with db.reading() as session:
        return _assigned(session, account)


def link_recording(session: Session, row: Demonstration, provenance: Provenance | None, user_name: str | None) -> None:
    """Have a demonstration be of the task that its recording tells, if its project has that; and the task recorded for
    who was given it."""
    project, _, task_id = (provenance or {}).get("task_id", "").partition(_SEPARATOR)
    task = session.get(Task, task_id) if project == row.project else None
    if task is None or task.project != project:
        return
    row.task_id = task.id
    if assignment := session.get(Assignment, (task.id, user_name or LOCAL)):
        assignment.state, assignment.reason, assignment.changed_at = RECORDED, "", datetime.now(UTC)


def _assigned(session: Session, account: Account) -> Task | None:
    return session.scalars(
        select(Task).join(Assignment, Assignment.task_id == Task.id)
        .where(Task.project == account.project, Task.state == ACCEPTED, Assignment.who == account.name,
               Assignment.state == TAKEN).order_by(Assignment.changed_at).limit(1)).first()


def _free(session: Session, account: Account) -> Task | None:
    """What is wanted more often than it is there or on its way, and was not given to this person."""
    recorded_count = (select(func.count()).select_from(Demonstration)
                      .where(Demonstration.task_id == Task.id, Demonstration.status != INVALID,
                             Demonstration.project == Task.project)
                      .correlate(Task).scalar_subquery())
    coming = (select(func.count()).select_from(Assignment)
              .where(Assignment.task_id == Task.id, Assignment.state == TAKEN,
                     Assignment.changed_at > datetime.now(UTC) - ASSIGNMENT_PERIOD).correlate(Task).scalar_subquery())
    assigned = select(Assignment.task_id).where(Assignment.who == account.name)
    return session.scalars(
        select(Task).where(Task.project == account.project, Task.state == ACCEPTED, Task.wanted > recorded_count
                           + coming,
                           Task.id.not_in(assigned)).order_by(recorded_count + coming, Task.made_at,
                                                              Task.id).limit(1)).first()
