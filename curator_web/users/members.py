"""Members of a project and their roles, inside a transaction."""

from datetime import UTC, datetime

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from curator_web.db.models.core import ACTIVE, COPIES, LEAD, Demonstration, Member, Project, User
from curator_web.db.models.task_models import GIVEN_BACK, TAKEN, Assignment, Task
from curator_web.errors import ErrorText, InputError


def join(session: Session, user_name: str, role: str, project: str | None = None) -> None:
    """Have a new user in a project: in the named one, or in the only one that there is. Raises InputError."""
    project_ids = session.scalars(select(Project.id).order_by(Project.made_at)).all()
    if project is not None and project not in project_ids:
        raise InputError(ErrorText("project: unknown project %(project)r; choose one of "
                                   "%(which)s", project=project[:40],
                                   which=", ".join(project_ids)))
    if project or len(project_ids) == 1:
        session.add(Member(project=project or project_ids[0], who=user_name, role=role, joined_at=datetime.now(UTC)))


def role_of(session: Session, user_name: str, project: str) -> str | None:
    """What a user is in a project; None for who is not in it."""
    row = session.get(Member, (project, user_name))
    return row.role if row else None


def release(session: Session, user_name: str, project: str | None = None) -> None:
    """Have a user give back what they had to do: in a project, or in all of them."""
    for column, released_values in ((Demonstration.assigned_to, {"assigned_to": None}),
                                    (Demonstration.lease_who, {"lease_who": None, "lease_until": None})):
        in_project = [Demonstration.project.in_((project, COPIES + project))] if project else []
        session.execute(update(Demonstration).where(column == user_name, *in_project).values(released_values))
    of_project = select(Task.id).where(Task.project == project) if project else select(Task.id)
    session.execute(update(Assignment).where(Assignment.who == user_name, Assignment.state == TAKEN,
                                             Assignment.task_id.in_(of_project)).values(state=GIVEN_BACK))


def leads(session: Session, project: str) -> int:
    """How many leads a project has who may sign in."""
    active = select(func.count()).select_from(Member).join(User, User.name == Member.who)
    return session.scalar(active.where(Member.project == project, Member.role == LEAD, User.state == ACTIVE)) or 0
