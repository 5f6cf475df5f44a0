"""Changing a demonstration: edits and status. Every change names the version it was made on; none overwrites another.

The version of a demonstration grows by one with each change, so a change that names an old version was made by
somebody who has not seen what others did meanwhile: it is refused, and they choose after a look.
"""

from datetime import UTC, datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from pipeline.edits import append, fold
from schemas import InputError

from .database import Database
from .errors import Conflict
from .library import Review, load
from .models import APPROVED, DRAFT, INVALID, STATUSES, SUBMITTED, Edit, StatusChange
from .summary import counts, well_formed

LOCAL = "local"
LOCKED = (APPROVED, INVALID)
NEXT = {
    DRAFT: (SUBMITTED, APPROVED, INVALID),
    SUBMITTED: (DRAFT, APPROVED, INVALID),
    APPROVED: (DRAFT,),
    INVALID: (DRAFT,),
}
REASON_LENGTH = 2000


def add_edit(db: Database, demonstration_id: str, edit: dict, version: int, who: str = LOCAL) -> int:
    """Append an edit and return the new version; an edit that changes nothing is not kept.

    Raises InputError when the edit does not fit, Conflict when the version is stale or the demonstration is
    approved or invalid, NotFound.
    """
    with db.writing() as session:
        found = load(session, demonstration_id, lock=True)
        _expect(found, version)
        if found.row.status in LOCKED:
            raise Conflict(f"this demonstration is {found.row.status}; reopen it to change it")
        edits = append(found.base["turns"], found.edits, well_formed(edit))
        turns = fold(found.base["turns"], edits)
        if edit["op"] not in ("undo", "redo") and turns == found.current()["turns"]:
            return version
        now = datetime.now(UTC)
        session.add(Edit(demonstration_id=demonstration_id, number=len(edits), content=edits[-1], who=who, made_at=now))
        for name, value in counts(found.base["turns"], turns, edits).items():
            setattr(found.row, name, value)
        return _grow(found, now)


def set_status(db: Database, demonstration_id: str, status: str, version: int, who: str = LOCAL,
               reason: str = "") -> int:
    """Change the status and return the new version; `invalid` needs a reason.

    Raises InputError for a status that does not exist or cannot follow, Conflict when the version is stale, NotFound.
    """
    reason = well_formed(reason).strip()[:REASON_LENGTH]
    if status not in STATUSES:
        raise InputError(f"field status: {status!r} is none; {', '.join(STATUSES)} are")
    if status == INVALID and not reason:
        raise InputError("field reason: say why the demonstration is invalid")
    with db.writing() as session:
        found = load(session, demonstration_id, lock=True)
        _expect(found, version)
        if status not in NEXT[found.row.status]:
            raise InputError(f"field status: this demonstration is {found.row.status}; "
                             f"it can become {' or '.join(NEXT[found.row.status])}")
        now = datetime.now(UTC)
        session.add(StatusChange(demonstration_id=demonstration_id, number=_count(session, demonstration_id) + 1,
                                 status=status, reason=reason, who=who, made_at=now))
        found.row.status = status
        return _grow(found, now)


def edit_log(db: Database, demonstration_id: str) -> list[Edit]:
    """Every edit ever made, undone ones too, in order; raises NotFound."""
    with db.reading() as session:
        load(session, demonstration_id)
        return list(session.scalars(
            select(Edit).where(Edit.demonstration_id == demonstration_id).order_by(Edit.number)))


def last_status_change(db: Database, demonstration_id: str) -> StatusChange | None:
    """Who gave the present status, when and why; None for a fresh draft."""
    with db.reading() as session:
        return session.scalars(
            select(StatusChange).where(StatusChange.demonstration_id == demonstration_id)
            .order_by(StatusChange.number.desc()).limit(1)).first()


def _expect(found: Review, version: int) -> None:
    if found.row.version != version:
        raise Conflict("somebody changed this demonstration meanwhile; "
                       "your change was not saved, so that theirs is not lost")


def _grow(found: Review, now: datetime) -> int:
    found.row.version += 1
    found.row.changed_at = now
    return found.row.version


def _count(session: Session, demonstration_id: str) -> int:
    return session.scalar(select(func.count()).select_from(StatusChange)
                          .where(StatusChange.demonstration_id == demonstration_id))
