"""Filters of the list that people saved: their own, and those that are shared in the project."""

from datetime import UTC, datetime

from sqlalchemy import or_, select

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import Project
from curator_web.db.models.filter_models import FILTER_NAME_LENGTH, SavedFilter
from curator_web.errors import ErrorText, InputError, NotAllowed, NotFound
from curator_web.users import Account
from schemas.text import storable

from .listing import Filter

MAX_FILTERS = 100  # of one person in a project


def saved(db: Database, account: Account) -> list[SavedFilter]:
    """Those that this person has in the project, by name."""
    with db.reading() as session:
        return list(session.scalars(
            select(SavedFilter).where(SavedFilter.project == account.project,
                                      or_(SavedFilter.who == account.name, SavedFilter.shared))
            .order_by(SavedFilter.name, SavedFilter.id)))


def save(db: Database, account: Account, name: str, sought: Filter, shared: bool = False) -> SavedFilter:
    """Keep a filter under a name; one of theirs that has it already is changed. Raises InputError."""
    name, content = " ".join(storable(name).split()), sought.parameters()
    if not 0 < len(name) <= FILTER_NAME_LENGTH:
        raise InputError(ErrorText("field name: 1 to %(filter_name_length)s characters",
                                   filter_name_length=FILTER_NAME_LENGTH))
    if not content:
        raise InputError(ErrorText("field filter: the filter is empty"))
    with db.writing() as session:
        session.get_one(Project, account.project, with_for_update=True)
        own = {row.name: row for row in session.scalars(select(SavedFilter).where(
            SavedFilter.project == account.project, SavedFilter.who == account.name))}
        row = own.get(name)
        if row is None and len(own) >= MAX_FILTERS:
            raise InputError(ErrorText("you have %(most)s filters here; remove one first", most=MAX_FILTERS))
        if row is None:
            row = SavedFilter(project=account.project, who=account.name, name=name, made_at=datetime.now(UTC))
            session.add(row)
        row.shared, row.content = shared, content
        audit.note(session, account.name, "filter saved", project=account.project, shared=shared)
        return row


def remove(db: Database, account: Account, filter_id: int) -> None:
    """Forget one of theirs; a lead also those that others share. Raises NotFound, NotAllowed."""
    with db.writing() as session:
        row = session.get(SavedFilter, filter_id)
        if row is None or row.project != account.project or not (row.shared or row.who == account.name):
            raise NotFound(ErrorText("unknown filter %(filter_id)s", filter_id=filter_id))
        if row.who != account.name and not account.leads:
            raise NotAllowed(ErrorText("only its author or a lead can delete a filter"))
        session.delete(row)
        audit.note(session, account.name, "filter removed", project=account.project)
