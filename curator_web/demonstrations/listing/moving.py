"""Moving demonstrations to another project, with all that was said and done about them."""

from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import LEAD, Project
from curator_web.demonstrations.leases import leases, training_attempts
from curator_web.demonstrations.library import copies, recounting
from curator_web.errors import ErrorText, InputError, NotAllowed
from curator_web.users import Account, members, project_settings


def move(db: Database, ids: list[str], to: str, account: Account, refused: dict[str, str] | None = None) -> int:
    """Move demonstrations of the account's project to another one that they lead too; returns how many were moved.

    Nobody has them there yet: assignments and leases end; they are of no task and no
    training there. What was said by labels stays
    said. Raises NotAllowed, NotFound, InputError for a project that they are not in or too many at once; then none is
    moved. With `refused` those that are missing are put there by id, and all others are moved.
    """
    with db.writing() as session:
        require_leads_both(session, to, account)
        rows = leases.chosen(session, ids, account, refused)
        if not project_settings.settings_of(session,
                                            account.project).counts_as(project_settings.settings_of(session, to)):
            recounting.queue_recount(session, to, account.name, copies.with_copies(session, (row.id for row in rows)))
        for row in rows:
            audit.note(session, account.name, "moved", row.id, before=row.project, to=to)
            row.project, row.assigned_to, row.task_id = to, None, None
            leases.give_back(row)
        training_attempts.take_out(session, [row.id for row in rows])
        copies.move_with_originals(session, (row.id for row in rows), to)
        return len(rows)


def require_leads_both(session: Session, to: str, account: Account) -> None:
    """Raises NotAllowed for who does not lead the account's project and the other one, InputError for one that they
    are not in."""
    if not account.leads:
        raise NotAllowed(ErrorText("only a lead can move demonstrations"))
    role = LEAD if account.alone else members.role_of(session, account.name, to)
    if role is None or session.get(Project, to) is None:
        raise InputError(ErrorText("field to: you are not a member of the project %(to)r", to=to[:40]))
    if role != LEAD:
        raise NotAllowed(ErrorText("only a lead of %(to)r can move demonstrations into it", to=to))
