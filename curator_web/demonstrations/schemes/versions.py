"""The versions of a project's labelling scheme."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import Project
from curator_web.db.models.scheme_models import SchemeVersion
from curator_web.users import Account
from curator_web.users.projects import require_lead
from pipeline.labelling.scheme_files import read_scheme
from schemas import types
from schemas.text import storable


@dataclass(frozen=True)
class NumberedScheme:
    """A scheme and the number of its version; 0 for a project without one, which asks nothing."""

    number: int
    scheme: types.Scheme


def current_scheme(session: Session, project: str) -> NumberedScheme:
    """The scheme in force in a project."""
    row = session.execute(_newest(project).with_only_columns(SchemeVersion.number, SchemeVersion.content)).first()
    return NumberedScheme(row.number, row.content) if row else NumberedScheme(0, {"questions": []})


def read_current(db: Database, project: str) -> NumberedScheme:
    """As `current_scheme`, in a separate transaction."""
    with db.reading() as session:
        return current_scheme(session, project)


def versions(db: Database, project: str) -> list[SchemeVersion]:
    """All versions of a project's scheme, the newest first."""
    with db.reading() as session:
        return list(session.scalars(_newest(project).limit(None)))


def save(db: Database, source: str, account: Account) -> SchemeVersion:
    """Have the account's project ask the questions of a scheme from now on; answers to earlier versions remain.

    A text that is that of the newest version makes no new one. Raises NotAllowed, SchemeError.
    """
    require_lead(account)
    source = storable(source).replace("\r\n", "\n").strip() + "\n"
    scheme = read_scheme(source)
    with db.writing() as session:
        session.get_one(Project, account.project, with_for_update=True)  # nobody else numbers a version meanwhile
        newest = session.scalars(_newest(account.project)).first()
        if newest and newest.source == source:
            return newest
        row = SchemeVersion(project=account.project, number=newest.number + 1 if newest else 1, source=source,
                            content=scheme, who=account.name, saved_at=datetime.now(UTC))
        session.add(row)
        audit.note(session, account.name, "scheme saved", project=account.project, number=row.number)
        return row


def _newest(project: str) -> Select[SchemeVersion]:
    return (select(SchemeVersion).where(SchemeVersion.project == project)
            .order_by(SchemeVersion.number.desc()).limit(1))
