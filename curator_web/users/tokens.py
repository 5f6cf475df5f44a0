"""Tokens: what programs sign in with. A user has several, each with a name, with what it may do, and for how long."""

import hashlib
import secrets
from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, or_, select, update
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import ACTIVE, Token, User
from curator_web.errors import ErrorText, InputError

READ, WRITE, UPLOAD = SCOPES = ("read", "write", "upload")
NAME_LENGTH = 60
DAYS_LIMIT = 3650
LIMIT = 50  # of one user
NOTED_EVERY = timedelta(minutes=5)  # a token's last use: noting each would make every request a change


def add_token(db: Database, user_name: str, name: str, scopes: Collection[str], days: int | None, *, by: str) -> str:
    """Make a token for a user; returns it, of which only the SHA-256 is kept (it is random, so that is enough).

    Without `days` it does not expire. Raises InputError.
    """
    if not 0 < len(name) <= NAME_LENGTH or not name.isprintable() or name != name.strip():
        raise InputError(ErrorText("token name: 1 to %(name_length)s letters, digits and signs, on one line",
                                   name_length=NAME_LENGTH))
    if not scopes or not set(scopes) <= set(SCOPES):
        raise InputError(ErrorText("scopes: choose from %(which)s", which=", ".join(SCOPES)))
    if days is not None and not 0 < days <= DAYS_LIMIT:
        raise InputError(ErrorText("days: 1 to %(days_limit)s, or none for a token that does not expire",
                                   days_limit=DAYS_LIMIT))
    with db.writing() as session:
        user = session.get(User, user_name, with_for_update=True)
        if user is None or user.state != ACTIVE:
            raise InputError(ErrorText("name: unknown user %(who)r", who=user_name[:NAME_LENGTH]))
        existing = session.scalars(select(Token.name).where(Token.who == user_name)).all()
        if name in existing:
            raise InputError(ErrorText("token name: %(who)s already has a token %(name)r", who=user_name, name=name))
        if len(existing) >= LIMIT:
            raise InputError(ErrorText("%(who)s has %(held)s tokens; revoke some of them first",
                                       who=user_name, held=len(existing)))
        ordered = [scope for scope in SCOPES if scope in scopes]
        token = add(session, user_name, name, ordered, datetime.now(UTC) + timedelta(days=days) if days else None)
        audit.note(session, by, "token added", of=user_name, token=name, scopes=ordered, days=days)
    return token


def add(session: Session, user_name: str, name: str, scopes: Collection[str], expires_at: datetime | None) -> str:
    """Make a token inside a transaction that notes it; returns it."""
    token = secrets.token_urlsafe(32)
    session.add(Token(who=user_name, name=name, sha256=_digest(token), scopes=list(scopes), made_at=datetime.now(UTC),
                      expires_at=expires_at))
    return token


def renew(db: Database, user_name: str, name: str, *, by: str) -> str:
    """Another token in place of one, for the same and as long as that was made for; returns it, the old one ends.
    Raises InputError when there is none of that name."""
    with db.writing() as session:
        row = session.scalars(select(Token).where(Token.who == user_name, Token.name == name).with_for_update()).first()
        if row is None:
            raise _unknown(user_name, name)
        token, now = secrets.token_urlsafe(32), datetime.now(UTC)
        row.expires_at = row.expires_at and now + (row.expires_at - row.made_at)
        row.sha256, row.made_at, row.used_at = _digest(token), now, None
        audit.note(session, by, "token renewed", of=user_name, token=name, scopes=row.scopes)
    return token


def tokens_of(db: Database, user_name: str) -> list[Token]:
    """A user's tokens, the newest first."""
    with db.reading() as session:
        return list(session.scalars(select(Token).where(Token.who == user_name).order_by(Token.made_at.desc(),
                                                                                         Token.id)))


def revoke(db: Database, user_name: str, name: str, *, by: str) -> None:
    """Take a token away; raises InputError when there is none of that name."""
    with db.writing() as session:
        revoked = session.scalars(delete(Token).where(Token.who == user_name,
                                                      Token.name == name).returning(Token.id)).all()
        if not revoked:
            raise _unknown(user_name, name)
        audit.note(session, by, "token revoked", of=user_name, token=name)


def revoke_all(session: Session, user_name: str) -> int:
    """Take all of a user's tokens away inside a transaction that notes it; returns how many."""
    return len(session.scalars(delete(Token).where(Token.who == user_name).returning(Token.id)).all())


def find(db: Database, token: str) -> tuple[User, Token] | None:
    """Whose token it is, and the token itself; None when it is not known, expired, or its user may not sign in."""
    now = datetime.now(UTC)
    with db.reading() as session:
        row_pair = session.execute(
            select(User, Token).join(Token, Token.who == User.name).where(
                Token.sha256 == _digest(token), User.state == ACTIVE,
                or_(Token.expires_at.is_(None), Token.expires_at > now))).first()
    if row_pair is None:
        return None
    user, row = row_pair
    if row.used_at is None or row.used_at < now - NOTED_EVERY:
        with db.writing() as session:
            session.execute(update(Token).where(Token.id == row.id).values(used_at=now))
    return user, row


def _unknown(user_name: str, name: str) -> InputError:
    return InputError(ErrorText("%(who)s has no token %(name)r", who=user_name[:NAME_LENGTH], name=name[:NAME_LENGTH]))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
