"""Who may sign in: a name, a role, and a token that is told once."""

import hashlib
import re
import secrets
from datetime import UTC, datetime

from sqlalchemy import select

from .database import Database
from .errors import InputError
from .models import ID_LENGTH, ROLES, User

NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._@-]{{0,{ID_LENGTH - 1}}}")


def add_user(db: Database, name: str, role: str) -> str:
    """Make a user; returns the token, of which only the SHA-256 is kept (it is random, so that is enough).

    Raises InputError for a name that cannot be one or is taken, and for a role that does not exist.
    """
    if not NAME.fullmatch(name):
        raise InputError(f"name: {name[:40]!r} cannot be one; letters, digits, . _ @ and - only, {ID_LENGTH} at most")
    if role not in ROLES:
        raise InputError(f"role: {role[:40]!r} is none; {', '.join(ROLES)} are")
    token = secrets.token_urlsafe(32)
    with db.writing() as session:
        if session.get(User, name):
            raise InputError(f"name: there is a user {name!r} already")
        session.add(User(name=name, role=role, token_sha256=_digest(token), made_at=datetime.now(UTC)))
    return token


def user_of(db: Database, token: str) -> User | None:
    """The user to whom a token belongs."""
    with db.reading() as session:
        return session.scalars(select(User).where(User.token_sha256 == _digest(token))).first()


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
