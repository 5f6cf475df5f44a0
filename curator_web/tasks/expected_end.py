"""The expected end of a task, and who sees it: not the navigator, unless a lead of the project allows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import Project
from curator_web.db.models.task_models import TAKEN, Assignment, Task
from curator_web.users import Account
from curator_web.users.projects import require_lead


@dataclass(frozen=True)
class VisibleTask:
    """A task as somebody sees it. `with_end`: whether its expected answer, and why it cannot be done, are shown; else
    both are empty."""

    task: Task
    with_end: bool

    @property
    def answer(self) -> str:
        return self.task.answer if self.with_end else ""

    @property
    def unachievable(self) -> str:
        return self.task.unachievable if self.with_end else ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.task, name)


def shown_to_navigator(session: Session, task: Task) -> VisibleTask:
    """A task for who is given it, whatever their role."""
    return VisibleTask(task, session.get_one(Project, task.project).answers_shown)


def with_ends(session: Session, account: Account, tasks: Sequence[Task]) -> set[str]:
    """The ids of those whose ends this person sees: all where it is switched on, and a lead; else those that they
    proposed or decide about, and have not taken."""
    ids = [task.id for task in tasks]
    if account.leads or session.get_one(Project, account.project).answers_shown:
        return set(ids)
    assigned_ids = set(session.scalars(select(Assignment.task_id).where(
        Assignment.task_id.in_(ids), Assignment.who == account.name, Assignment.state == TAKEN)))
    return {task.id for task in tasks
            if task.id not in assigned_ids and (account.reviews or task.proposed_by == account.name)}


def show_answers(db: Database, account: Account, shown: bool) -> None:
    """Have who is given a task of the account's project see its end, or not. Raises NotAllowed."""
    require_lead(account)
    with db.writing() as session:
        session.get_one(Project, account.project, with_for_update=True).answers_shown = shown
        audit.note(session, account.name, "answers shown" if shown else "answers hidden", project=account.project)
