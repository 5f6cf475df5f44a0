"""Deleting demonstrations, and restoring them: nothing leaves the disk, and nobody sees what is deleted."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import DRAFT, SUBMITTED, Demonstration
from curator_web.db.models.deletion_models import NOWHERE, Deletion
from curator_web.db.models.project_settings_models import ProjectSettings
from curator_web.demonstrations.leases import leases
from curator_web.demonstrations.library import copies, library, recounting
from curator_web.errors import ErrorText, NotAllowed, NotFound
from curator_web.users import Account
from curator_web.users.projects import require_lead
from schemas.text import storable

SHOWN = 500  # the latest
WITHDRAWN_WHILE = (DRAFT, SUBMITTED)


@dataclass(frozen=True)
class Deleted:
    """One that can be restored."""

    id: str
    task: str
    site: str
    batch: str
    who: str
    made_at: datetime


def delete(db: Database, ids: list[str], account: Account) -> str:
    """Delete demonstrations of the account's project; returns the batch by which they are restored. No list, queue,
    figure or export has them then. Raises NotAllowed for who does not lead it, NotFound, InputError for none or too
    many at once; then none is deleted."""
    require_lead(account)
    with db.writing() as session:
        return _delete(session, leases.chosen(session, ids, account), account)


def withdraw(db: Database, demonstration_id: str, account: Account) -> str:
    """Delete what this person recorded, while it is a draft or submitted; a lead can restore it. Returns the batch.

    Raises NotAllowed for what is another's or too far on its way, Conflict while somebody else is at work on it,
    NotFound.
    """
    with db.writing() as session:
        row = library.row_of(session, demonstration_id, lock=True)
        if not is_own(row, account):
            raise NotAllowed(ErrorText("only the person who recorded a demonstration can withdraw it"))
        if row.status not in WITHDRAWN_WHILE:
            raise NotAllowed(ErrorText("this demonstration is %(status)s; it can be withdrawn only while it is "
                                       "%(which)s; ask a lead", status=row.status, which=" or ".join(WITHDRAWN_WHILE)))
        leases.require_free(row, account)
        return _delete(session, [row], account)


def is_own(row: Demonstration, account: Account) -> bool:
    """Whether this person recorded it."""
    return not account.alone and row.recorded_by == account.name


def may_withdraw(row: Demonstration, account: Account) -> bool:
    """Whether this person could withdraw it now, unless somebody is at work on it."""
    return is_own(row, account) and row.status in WITHDRAWN_WHILE


def _delete(session: Session, rows: Sequence[Demonstration], account: Account) -> str:
    batch, now = secrets.token_hex(8), datetime.now(UTC)
    for row in rows:
        session.add(Deletion(demonstration_id=row.id, project=row.project, batch=batch, who=account.name, made_at=now))
        row.project = NOWHERE
        leases.give_back(row)
        audit.note(session, account.name, "deleted", row.id, batch=batch)
    copies.move_with_originals(session, (row.id for row in rows), NOWHERE)
    return batch


def restore(db: Database, batch: str, account: Account) -> int:
    """Restore what was deleted at once, as it was; returns how many. Raises NotAllowed, NotFound."""
    require_lead(account)
    with db.writing() as session:
        deletions = session.scalars(select(Deletion).where(
            Deletion.batch == storable(batch), Deletion.project == account.project).with_for_update()).all()
        if not deletions:
            raise NotFound(ErrorText("unknown deletion %(batch)r; it may have been restored",
                                     batch=batch[:40]))
        for deletion in deletions:
            session.get_one(Demonstration, deletion.demonstration_id).project = deletion.project
            audit.note(session, account.name, "restored", deletion.demonstration_id, batch=deletion.batch)
            session.delete(deletion)
        ids = [deletion.demonstration_id for deletion in deletions]
        copies.move_with_originals(session, ids, account.project)
        if session.get(ProjectSettings, account.project):  # which may have changed meanwhile
            recounting.queue_recount(session, account.project, account.name, copies.with_copies(session, ids))
        return len(deletions)


def deleted(db: Database, account: Account) -> list[Deleted]:
    """The latest that can be restored in the account's project. Raises NotAllowed."""
    require_lead(account)
    with db.reading() as session:
        rows = session.execute(
            select(Demonstration.id, Demonstration.task, Demonstration.site, Deletion.batch, Deletion.who,
                   Deletion.made_at).join(Deletion, Deletion.demonstration_id == Demonstration.id)
            .where(Deletion.project == account.project).order_by(Deletion.made_at.desc(), Demonstration.id)
            .limit(SHOWN))
        return [Deleted(*row) for row in rows]
