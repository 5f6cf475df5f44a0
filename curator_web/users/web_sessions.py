"""Browser sessions, valid only while they are in the database, so that signing out ends copies of the cookie.

The cookie holds a random id, the database its SHA-256.
"""

import hashlib
import secrets
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import ACTIVE, BROWSER_LENGTH, User, WebSession
from curator_web.errors import ErrorText, NotSignedIn

LASTS = timedelta(days=14)  # after its last use
LONGEST = timedelta(days=90)  # after signing in
NOTED_EVERY = timedelta(minutes=5)  # the last use: noting each would make every request a change


def begin(db: Database, user: User, browser: str) -> str:
    """Begin a session for a user who has just proved to be it; returns the id for the cookie.

    Raises NotSignedIn when the user was disabled or got another password meanwhile.
    """
    secret, now = secrets.token_urlsafe(32), datetime.now(UTC)
    with db.writing() as session:
        row = session.get(User, user.name, with_for_update=True)
        if row is None or row.state != ACTIVE or row.password_hash != user.password_hash:
            raise NotSignedIn(ErrorText("the account was changed; sign in again"))
        session.add(WebSession(id_sha256=_digest(secret), who=user.name, browser=browser[:BROWSER_LENGTH], made_at=now,
                               used_at=now, expires_at=now + LASTS))
        audit.note(session, user.name, "signed in")
    return secret


def find(db: Database, secret: str) -> tuple[User, WebSession] | None:
    """Whose session it is, and the session itself; None when it has ended."""
    now = datetime.now(UTC)
    with db.reading() as session:
        row_pair = session.execute(
            select(User, WebSession).join(WebSession, WebSession.who == User.name).where(
                WebSession.id_sha256 == _digest(secret), WebSession.expires_at > now, User.state == ACTIVE)).first()
    if row_pair is None:
        return None
    user, row = row_pair
    if row.used_at < now - NOTED_EVERY:
        with db.writing() as session:
            session.execute(update(WebSession).where(WebSession.id_sha256 == row.id_sha256).values(
                used_at=now, expires_at=min(now + LASTS, row.made_at + LONGEST)))
    return user, row


def sessions_of(db: Database, user_name: str) -> list[WebSession]:
    """A user's sessions, the one used last first."""
    with db.reading() as session:
        return list(session.scalars(select(WebSession).where(
            WebSession.who == user_name, WebSession.expires_at > datetime.now(UTC)
        ).order_by(WebSession.used_at.desc())))


def end(db: Database, user_name: str, id_sha256: str) -> None:
    """End one session of a user; nothing when it has ended already."""
    with db.writing() as session:
        ended = session.scalars(delete(WebSession).where(WebSession.who == user_name, WebSession.id_sha256 == id_sha256)
                                .returning(WebSession.id_sha256)).all()
        if ended:
            audit.note(session, user_name, "session ended")


def end_others(db: Database, user_name: str, id_sha256: str | None) -> None:
    """End all sessions of a user but one."""
    with db.writing() as session:
        audit.note(session, user_name, "sessions ended", of=user_name, sessions=end_all(session, user_name, id_sha256))


def end_all(session: Session, user_name: str, but: str | None = None) -> int:
    """End a user's sessions, but one, inside a transaction that notes it; returns how many."""
    return len(session.scalars(delete(WebSession).where(WebSession.who == user_name,
                                                        WebSession.id_sha256 != (but or ""))
                               .returning(WebSession.id_sha256)).all())


def forget_old(db: Database) -> None:
    """Take away the sessions whose time is over."""
    with db.writing() as session:
        session.execute(delete(WebSession).where(WebSession.expires_at < datetime.now(UTC)))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
