"""Everybody at a glance, for the lead."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import func, select

from curator_web.db.database import Database
from curator_web.db.models.core import REMOVED, Token, User, WebSession


@dataclass(frozen=True)
class Person:
    """A user, and how much of theirs is open."""

    user: User
    sessions: int
    tokens: int
    seen_at: datetime | None


def people(db: Database) -> list[Person]:
    """All users by name, those who were removed last."""
    open_ones = WebSession.expires_at > datetime.now(UTC)
    with db.reading() as session:
        users = session.scalars(select(User).order_by(User.name)).all()
        figures = {model: {row[0]: row[1:] for row in session.execute(
            select(model.who, func.count(), func.max(model.used_at)).where(*conditions).group_by(model.who))}
            for model, conditions in ((WebSession, (open_ones,)), (Token, ()))}
    none = (0, None)
    rows = [(user, figures[WebSession].get(user.name, none), figures[Token].get(user.name, none)) for user in users]
    return sorted((Person(user, sessions[0], tokens[0], max(filter(None, (sessions[1], tokens[1])), default=None))
                   for user, sessions, tokens in rows), key=lambda person: person.user.state == REMOVED)
