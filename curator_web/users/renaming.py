"""Rename a user, in all rows that name the user. The audit log keeps the old one."""

from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models import (
    filter_models,
    job_models,
    project_settings_models,
)
from curator_web.db.models.core import REMOVED, AuditLine, Base, Facet, SecondFactor, User
from curator_web.errors import InputError

from . import web_sessions
from .people import BY_COMMAND, existing_user, require_free, require_name

# Columns that hold names of users.
NAMES = frozenset({"who", "by", "first", "second", "recorded_by", "assigned_to", "lease_who", "submitted_by",
                   "reviewed_by", "touched_by", "resolved_by", "made_by", "ended_by", "changed_by", "proposed_by",
                   "decided_by", "trained_by", "instructor", "opened_by"})
# What of the JSON of these columns holds one, or several.
_IN_JSON = ((filter_models.SavedFilter, "content", ("person", "assigned")),
            (project_settings_models.ExportPreset, "content", ("recorded_by",)),
            (job_models.Job, "arguments", ("who", "recorded_by")))


def rename(db: Database, old: str, new: str, *, by: str = BY_COMMAND) -> bool:
    """Have a user be called otherwise; the old name stays taken. The sessions end, the tokens stay.

    Returns whether recovery codes ended, which are kept as digests with the old name in them. Raises InputError for a
    name that cannot be one, or that somebody has or had.
    """
    require_name(new)
    with db.writing() as session:
        row = existing_user(session, old)
        require_free(session, new)
        if session.scalars(select(job_models.Job.id).where(job_models.Job.state == job_models.RUNNING,
                                                           job_models.Job.who == old)).first():
            raise InputError(f"a job of {old} is running; wait until it ends")
        ended = web_sessions.end_all(session, old)
        session.execute(insert(User).values(name=new, role=row.role, made_at=row.made_at, state=row.state,
                                            password_hash=row.password_hash))
        for table in Base.metadata.sorted_tables:
            if table.name != AuditLine.__tablename__:
                for column in (column for column in table.columns if column.name in NAMES):
                    session.execute(update(table).where(column == old).values({column: new}))
        session.execute(update(Facet).where(Facet.facet == "person", Facet.value == old).values(value=new))
        _in_json(session, old, new)
        row.state, row.password_hash = REMOVED, None
        factor = session.get(SecondFactor, new, populate_existing=True)
        had_codes = bool(factor and factor.recovery)
        if factor:
            factor.recovery = []
        audit.note(session, by, "user renamed", of=old, to=new, sessions=ended)
    return had_codes


def _in_json(session: Session, old: str, new: str) -> None:
    def renamed(value: Any) -> Any:
        if isinstance(value, list):
            return [renamed(entry) for entry in value]
        return new if value == old else value
    for model, column, fields in _IN_JSON:
        for row in session.scalars(select(model).execution_options(yield_per=1000)):
            content = getattr(row, column)
            changed = content | {field: renamed(content[field]) for field in fields if field in content}
            if changed != content:
                setattr(row, column, changed)
