"""Moving demonstrations to another project, with all that was said and done about them."""

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models import LEAD, Project
from curator_web.errors import InputError, NotAllowed
from curator_web.users import Account, members

from . import leases


def move(db: Database, ids: list[str], to: str, account: Account) -> int:
    """Move demonstrations of the account's project to another one that they lead too; returns how many were moved.

    Nobody has them there yet: assignments and leases end; they are of no task there. What was said by labels stays
    said. Raises NotAllowed,
    NotFound, InputError for a project that they are not in or too many at once; then none is moved.
    """
    if not account.leads:
        raise NotAllowed("only a lead moves demonstrations")
    with db.writing() as session:
        role = LEAD if account.alone else members.role_of(session, account.name, to)
        if role is None or session.get(Project, to) is None:
            raise InputError(f"field to: you are in no project {to[:40]!r}")
        if role != LEAD:
            raise NotAllowed(f"only a lead of {to!r} takes demonstrations into it")
        rows = leases.chosen(session, ids, account)
        for row in rows:
            audit.note(session, account.name, "moved", row.id, before=row.project, to=to)
            row.project, row.assigned_to, row.task_id = to, None, None
            leases.give_back(row)
        return len(rows)
