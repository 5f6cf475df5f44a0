"""Projects: one data set in the making each, and who is in it as what. Nobody sees one that they are not in."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Select, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import (
    ACTIVE,
    LEAD,
    PROJECT_NAME_LENGTH,
    REMOVED,
    ROLES,
    Guidelines,
    Member,
    Project,
    User,
)
from curator_web.errors import ErrorText, InputError, NotAllowed, NotFound
from schemas.text import storable

from .members import leads, release
from .people import BY_COMMAND, Account

ID = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
GUIDELINES_LENGTH = 100_000


@dataclass(frozen=True)
class Membership:
    """A project that somebody is in, and their role there."""

    project: Project
    role: str

    @property
    def id(self) -> str:
        return self.project.id

    @property
    def name(self) -> str:
        return self.project.name


def memberships(db: Database, account: Account) -> list[Membership]:
    """The projects that this person is in, in the order in which they joined; all of them for who is alone."""
    with db.reading() as session:
        if account.alone:
            return [Membership(project, LEAD) for project in session.scalars(select(Project).order_by(Project.made_at))]
        rows = session.execute(select(Project, Member.role).join(Member, Member.project == Project.id)
                               .where(Member.who == account.name).order_by(Member.joined_at, Project.id))
        return [Membership(project, role) for project, role in rows]


def everything(db: Database) -> list[Project]:
    """All projects, the first made first; for commands on the server."""
    with db.reading() as session:
        return list(session.scalars(select(Project).order_by(Project.made_at)))


def named(db: Database, project: str | None) -> str:
    """The project that is meant on the server's command line: of this id, or the only one. Raises InputError."""
    project_ids = [project_row.id for project_row in everything(db)]
    if project in project_ids:
        return project
    if project is None and len(project_ids) == 1:
        return project_ids[0]
    raise InputError(f"--project: {'missing' if project is None else f'unknown project {project[:40]!r}'}; "
                     f"choose one of {', '.join(project_ids)}")


def add(db: Database, project: str, name: str, account: Account | None = None) -> Project:
    """Make a project; who makes it leads it. Raises InputError for an id or a name that cannot be, or is taken."""
    name = storable(name).strip() or project
    if not ID.fullmatch(project):
        raise InputError(ErrorText("field project: %(project)r is not a valid id; use at most 40 lower case letters, "
                                   "digits and -", project=project[:40]))
    if len(name) > PROJECT_NAME_LENGTH:
        raise InputError(ErrorText("field name: must have at most %(project_name_length)s characters",
                                   project_name_length=PROJECT_NAME_LENGTH))
    by, now = account.name if account else BY_COMMAND, datetime.now(UTC)
    try:
        with db.writing() as session:
            row = Project(id=project, name=name, labels=[], made_at=now)
            session.add(row)
            session.flush()
            if account and not account.alone:
                session.add(Member(project=project, who=account.name, role=LEAD, joined_at=now))
            audit.note(session, by, "project made", project=project)
            return row
    except IntegrityError:
        raise InputError(ErrorText("field project: the id %(project)r is already in use", project=project)) from None


def rename(db: Database, name: str, account: Account) -> None:
    """Give the account's project another name. Raises NotAllowed, InputError."""
    require_lead(account)
    name = storable(name).strip()
    if not 0 < len(name) <= PROJECT_NAME_LENGTH:
        raise InputError(ErrorText("field name: 1 to %(project_name_length)s characters",
                                   project_name_length=PROJECT_NAME_LENGTH))
    with db.writing() as session:
        session.get_one(Project, account.project).name = name
        audit.note(session, account.name, "project renamed", project=account.project)


def members(db: Database, project: str) -> list[Member]:
    """Who is in a project, by name."""
    with db.reading() as session:
        return list(session.scalars(_join_members(select(Member), project)))


def member_names(db: Database, project: str) -> list[str]:
    """The names of who is in a project, in order."""
    with db.reading() as session:
        return list(session.scalars(_join_members(select(Member.who), project)))


def _join_members(query: Select, project: str) -> Select:
    return (query.join(User, User.name == Member.who).where(Member.project == project, User.state == ACTIVE)
            .order_by(Member.who))


def set_member(db: Database, project: str, user_name: str, role: str | None, account: Account | None = None) -> None:
    """Have somebody in a project as annotator, validator or lead; with None, no longer. Only its lead may.

    Who goes gives back what they had to do there. Raises NotAllowed; InputError for somebody or a role that does not
    exist, and for the last lead.
    """
    if account:
        require_lead(account)
        if account.project != project:
            raise NotFound(ErrorText("unknown project %(project)r", project=project[:40]))
    if role is not None and role not in ROLES:
        raise InputError(ErrorText("field role: unknown role %(role)r; choose from %(which)s",
                                   role=role[:40], which=", ".join(ROLES)))
    with db.writing() as session:
        if session.get(Project, project, with_for_update=True) is None:
            raise InputError(ErrorText("unknown project %(project)r", project=project[:40]))
        user = session.get(User, storable(user_name))
        if user is None or user.state == REMOVED:
            raise InputError(ErrorText("field who: unknown user %(who)r", who=user_name[:80]))
        row = session.get(Member, (project, user.name))
        if row and row.role == LEAD != role and leads(session, project) == 1:
            raise InputError(ErrorText("%(name)s is the only lead of this project; make another member a lead first",
                                       name=user.name))
        if row is None and role:
            session.add(Member(project=project, who=user.name, role=role, joined_at=datetime.now(UTC)))
        elif row and role:
            row.role = role
        elif row:
            session.delete(row)
            release(session, user.name, project)
        audit.note(session, account.name if account else BY_COMMAND, "member set", project=project, of=user.name,
                   role=role)


def guidelines(db: Database, project: str) -> list[Guidelines]:
    """All versions of a project's guidelines, the newest first."""
    with db.reading() as session:
        return list(session.scalars(select(Guidelines).where(Guidelines.project == project)
                                    .order_by(Guidelines.number.desc())))


def newest_guidelines(db: Database, project: str) -> Guidelines | None:
    """The guidelines that count now."""
    with db.reading() as session:
        return _newest(session, project)


def write_guidelines(db: Database, text: str, account: Account) -> Guidelines:
    """A new version of the guidelines of the account's project, in Markdown. Raises NotAllowed, InputError."""
    require_lead(account)
    text = storable(text).replace("\r\n", "\n").strip()
    if len(text) > GUIDELINES_LENGTH:
        raise InputError(ErrorText("field text: must have at most %(guidelines_length)s characters",
                                   guidelines_length=format(GUIDELINES_LENGTH, ",")))
    with db.writing() as session:
        session.get_one(Project, account.project, with_for_update=True)
        last = _newest(session, account.project)
        if last and last.text == text:
            return last
        row = Guidelines(project=account.project, number=last.number + 1 if last else 1, text=text, who=account.name,
                         made_at=datetime.now(UTC))
        session.add(row)
        audit.note(session, account.name, "guidelines written", project=account.project, number=row.number)
        return row


def _newest(session: Session, project: str) -> Guidelines | None:
    return session.scalars(select(Guidelines).where(Guidelines.project == project)
                           .order_by(Guidelines.number.desc()).limit(1)).first()


def require_lead(account: Account) -> None:
    """Raises NotAllowed for who does not lead the project."""
    if not account.leads:
        raise NotAllowed(ErrorText("only a lead of the project can do this"))
