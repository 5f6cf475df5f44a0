"""The task bank of a project: proposals, files, decisions, and near-duplicates.

People propose tasks with a few others before them, and who reviews checks each (Mind2Web, section 2.2).
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from marshmallow import fields, validate
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import INVALID, Demonstration
from curator_web.db.models.task_models import (
    ACCEPTED,
    CATEGORY_LENGTH,
    PROPOSED,
    REFUSED,
    RETURNED,
    UNACHIEVABLE,
    Assignment,
    Task,
)
from curator_web.errors import ErrorText, InputError, NotAllowed, NotFound
from curator_web.notifications import publish
from curator_web.users import BY_COMMAND, Account
from schemas.addresses import split_address
from schemas.formats.parts import Strict
from schemas.text import storable

from . import expected_end

DIFFICULTIES = ("easy", "medium", "hard")
TEXT_LENGTH, URL_LENGTH, SITE_LENGTH, MOST_WANTED = 2000, 2000, 255, 1000
PAGE = 50  # tasks on one page
SEEDS = 5  # shown to who proposes others
MAX_TASKS_AT_ONCE = 2000  # of a request
_COMPARED = 1000  # tasks of a site that a new one is compared with, besides those that come with it
_MAX_SIMILAR = 5  # of those that are nearly the same, so many are kept


class TaskSchema(Strict):
    """A task as it is proposed: a row of a file, a form, a body."""

    text = fields.String(required=True, validate=validate.Length(1, TEXT_LENGTH), metadata={
        "description": "what is to be done, in one or two sentences"})
    url = fields.String(validate=validate.Length(max=URL_LENGTH), metadata={
        "description": "where it begins, with http:// or https://"})
    site = fields.String(validate=validate.Length(max=SITE_LENGTH), metadata={
        "description": "by default, that of the url"})
    category = fields.String(validate=validate.Length(max=CATEGORY_LENGTH), metadata={"description": "such as Travel"})
    difficulty = fields.String(validate=validate.OneOf(
        ("", *DIFFICULTIES), error=f"one of {', '.join(DIFFICULTIES)}"))
    answer = fields.String(validate=validate.Length(max=TEXT_LENGTH), metadata={
        "description": "what is expected at its end"})
    unachievable = fields.String(validate=validate.Length(max=TEXT_LENGTH), metadata={
        "description": "why it cannot be done, of a task that is meant to be one"})
    wanted = fields.Integer(validate=validate.Range(0, MOST_WANTED), metadata={
        "description": "how many demonstrations; 1 by default, 0 asks for none"})
    seed = fields.Boolean(metadata={"description": "shown to who proposes others"})


_SCHEMA = TaskSchema()  # to be made takes longer than to check many a task
COLUMNS = tuple(_SCHEMA.fields)
_BLANK = {"url": "", "site": "", "category": "", "difficulty": "", "answer": "", "unachievable": "", "wanted": 1,
          "seed": False}


@dataclass(frozen=True)
class Listed(expected_end.VisibleTask):
    """A task as somebody sees it, how many demonstrations of it there are, and who said why it cannot be done."""

    recorded: int
    objections: Sequence[Assignment] = ()


@dataclass(frozen=True)
class TaskPage:
    """A page of tasks, how many there are of them in all, and of each state."""

    tasks: list[Listed]
    total: int
    by_state: dict[str, int]


def propose(db: Database, account: Account, proposals: Iterable[Mapping[str, Any]]) -> list[Task]:
    """Add tasks to the account's project, with what is told of each (TaskSchema); a lead's are accepted at once.

    All or none. Raises InputError, also for more than 2,000 at once.
    """
    proposals = list(proposals)
    if len(proposals) > MAX_TASKS_AT_ONCE:
        raise InputError(ErrorText("field tasks: at most %(most_at_once)s per request; use demotape task add for more",
                                   most_at_once=format(MAX_TASKS_AT_ONCE, ",")))
    return _add(db, account.project, [dict(proposal) for proposal in proposals], account.name,
                ACCEPTED if account.leads else PROPOSED)


def add_all(db: Database, project: str, tasks: Sequence[Mapping[str, Any]], state: str = ACCEPTED) -> list[Task]:
    """The same by command, in a state; all or none. Raises InputError."""
    return _add(db, project, [dict(task) for task in tasks], BY_COMMAND, state)


def add_proposals(db: Database, project: str, tasks: Sequence[Mapping[str, Any]], user_name: str) -> list[Task]:
    """The same as proposals of somebody who is no member, such as a model. Raises InputError."""
    return _add(db, project, [dict(task) for task in tasks], user_name, PROPOSED)


def without_similar(db: Database, project: str, tasks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those of some tasks (`site`, `text`) that are not nearly the same as one of their site that is there, whatever
    its state, or that comes before them."""
    similar = _similar_ids(db, project,
                           [(f"new-{number}", task["site"], task["text"]) for number, task in enumerate(tasks)])
    return [task for task, similar_ids in zip(tasks, similar, strict=True) if not similar_ids]


def change(db: Database, account: Account, task_id: str, changes: Mapping[str, Any]) -> Task:
    """Change what is told of a task: who proposed it until it is decided, a lead always. What was sent back is proposed
    again. Raises NotFound, NotAllowed, InputError."""
    columns = columns_of(changes)
    similar, = _similar_ids(db, account.project, [(task_id, columns["site"], columns["text"])])
    with db.writing() as session:
        task = _task(session, account, task_id)
        own = task.proposed_by == account.name and task.state in (PROPOSED, RETURNED)
        if not (own or account.leads):
            raise NotAllowed(ErrorText("only a lead, or the proposer before the decision, can change a task"))
        for name, value in columns.items():
            setattr(task, name, value)
        if task.state == RETURNED and own:
            task.state, task.reason = PROPOSED, ""
        task.alike = similar
        audit.note(session, account.name, "task changed", task=task_id)
        return task


def decide(db: Database, account: Account, task_id: str, state: str, reason: str = "") -> Task:
    """Accept a task, send it back or refuse it, the latter two with a reason. Raises NotFound, NotAllowed for who does
    not review, InputError."""
    if not account.reviews:
        raise NotAllowed(ErrorText("only reviewers can decide about tasks"))
    reason = storable(reason).strip()
    if state not in (ACCEPTED, RETURNED, REFUSED):
        raise InputError(ErrorText("field state: must be %(accepted)s, %(returned)s or %(refused)s", accepted=ACCEPTED,
                                   returned=RETURNED, refused=REFUSED))
    if state != ACCEPTED and not reason:
        raise InputError(ErrorText("field reason: enter a reason"))
    if len(reason) > TEXT_LENGTH:
        raise InputError(ErrorText("field reason: must have at most %(text_length)s characters",
                                   text_length=format(TEXT_LENGTH, ",")))
    with db.writing() as session:
        task = _task(session, account, task_id)
        task.state, task.reason, task.decided_by = state, "" if state == ACCEPTED else reason, account.name
        audit.note(session, account.name, f"task {state}", task=task_id)
        publish.of_decision(session, task, account.name)
        return task


def find(db: Database, account: Account, state: str = "", search: str = "", site: str = "", category: str = "",
         page: int = 1) -> TaskPage:
    """A page of the project's tasks, the newest first: of a state, a site and a category, with words in their text."""
    conditions = [Task.project == account.project]
    conditions += [column == value for column, value in ((Task.site, site), (Task.category, category)) if value]
    conditions += [Task.text.icontains(word, autoescape=True) for word in storable(search).split()[:20]]
    sought = [*conditions, Task.state == state] if state else conditions
    with db.reading() as session:
        by_state = {name: count for name, count in session.execute(
            select(Task.state, func.count()).where(*conditions).group_by(Task.state))}
        rows = list(session.scalars(select(Task).where(*sought).order_by(Task.made_at.desc(), Task.id)
                                    .offset((page - 1) * PAGE).limit(PAGE)))
        total = by_state.get(state, 0) if state else sum(by_state.values())
        return TaskPage(_listed(session, account, rows), total, by_state)


def show(db: Database, account: Account, task_id: str) -> tuple[Listed, list[Task]]:
    """A task, and those that were nearly the same when it was proposed. Raises NotFound."""
    with db.reading() as session:
        task = _task(session, account, task_id)
        similar = session.scalars(select(Task).where(Task.id.in_(task.alike), Task.project == task.project))
        return _listed(session, account, [task])[0], list(similar)


def seeds(db: Database, account: Account) -> list[Task]:
    """A few tasks for who proposes others: those that are marked for it, the newest first."""
    with db.reading() as session:
        return list(session.scalars(
            select(Task).where(Task.project == account.project, Task.state == ACCEPTED, Task.seed)
            .order_by(Task.made_at.desc(), Task.id).limit(SEEDS)))


def recorded(session: Session, task_ids: Iterable[str]) -> dict[str, int]:
    """How many demonstrations there are of tasks; invalid ones do not count."""
    return {name: count for name, count in session.execute(
        select(Demonstration.task_id, func.count())
        .join(Task, Task.id == Demonstration.task_id)
        .where(Demonstration.task_id.in_(list(task_ids)), Demonstration.status != INVALID,
               Demonstration.project == Task.project)
        .group_by(Demonstration.task_id)) if name is not None}


def _listed(session: Session, account: Account, tasks: Sequence[Task]) -> list[Listed]:
    counts = recorded(session, [task.id for task in tasks])
    objections: dict[str, list[Assignment]] = {}
    for assignment in session.scalars(select(Assignment).where(
            Assignment.task_id.in_([task.id for task in tasks]), Assignment.state == UNACHIEVABLE)
            .order_by(Assignment.changed_at)):
        objections.setdefault(assignment.task_id, []).append(assignment)
    with_end = expected_end.with_ends(session, account, tasks)
    return [Listed(task, task.id in with_end, counts.get(task.id, 0), objections.get(task.id, ())) for task in tasks]


def _task(session: Session, account: Account, task_id: str) -> Task:
    task = session.get(Task, storable(task_id), with_for_update=True)
    if task is None or task.project != account.project:
        raise NotFound(ErrorText("unknown task %(task_id)r", task_id=task_id[:40]))
    return task


def _add(db: Database, project: str, tasks: list[dict[str, Any]], user_name: str, state: str) -> list[Task]:
    now = datetime.now(UTC)
    rows = [Task(id=secrets.token_hex(8), project=project, state=state, alike=[], proposed_by=user_name,
                 made_at=now + timedelta(microseconds=number), decided_by=user_name if state == ACCEPTED else None,
                 reason="",
                 **columns_of(fields)) for number, fields in enumerate(tasks)]  # in the order in which they were given
    for task, similar in zip(rows, _similar_ids(db, project, [(task.id, task.site, task.text) for task in rows]),
                             strict=True):
        task.alike = similar
    with db.writing() as session:
        session.add_all(rows)
        audit.note(session, user_name, "tasks added", project=project, count=len(rows))
    return rows


def columns_of(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of what is told of a task; raises InputError."""
    values = {name: value.strip() if isinstance(value, str) else value for name,
              value in storable(dict(fields)).items()}
    if errors := _SCHEMA.validate(values):
        field, reasons = next(iter(errors.items()))
        raise InputError(ErrorText("field %(field)s: %(why)s", field=field,
                                   why=reasons[0] if isinstance(reasons, list) else reasons))
    row = _BLANK | _SCHEMA.load(values)
    if row["url"]:
        address = split_address(row["url"])
        if address.scheme not in ("http", "https") or not address.hostname:
            raise InputError(ErrorText("field url: must be an address with http:// or https:// and a host"))
        row["site"] = row["site"] or address.hostname[:SITE_LENGTH]
    row["site"] = row["site"].lower()
    return row


def _similar_ids(db: Database, project: str, tasks: Sequence[tuple[str, str, str]]) -> list[list[str]]:
    """Of each task (id, site, text), ids of those of its site that are nearly the same: of the newest that are there,
    and of those before it. Not within a transaction that others wait for: of many it takes seconds."""
    from pipeline.export.near_duplicates import TaskTexts  # here, as datasketch is slow to import

    new, texts = {key for key, _, _ in tasks}, {site: TaskTexts() for site in {site for _, site, _ in tasks}}
    with db.reading() as session:
        for site, known in texts.items():
            for key, text in session.execute(
                    select(Task.id, Task.text).where(Task.project == project, Task.site == site)
                    .order_by(Task.made_at.desc(), Task.id).limit(_COMPARED)):
                if key not in new:
                    known.add(key, text)
    return [texts[site].add(key, text)[:_MAX_SIMILAR] for key, site, text in tasks]
