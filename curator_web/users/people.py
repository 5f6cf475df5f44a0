"""Who may sign in: a name, a role, a token that is told once, and a password for the browser."""

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import select

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models import ANNOTATOR, ID_LENGTH, LEAD, ROLES, VALIDATOR, User
from curator_web.errors import InputError

from . import passwords

NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._@-]{{0,{ID_LENGTH - 1}}}")


@dataclass(frozen=True)
class Account:
    """Who asks. `alone`: there are no accounts, and the one person of this machine may do everything."""

    name: str
    role: str
    alone: bool = False

    @property
    def reviews(self) -> bool:
        """Whether this person decides about what others submitted."""
        return self.role in (VALIDATOR, LEAD)

    @property
    def leads(self) -> bool:
        return self.role == LEAD

    @property
    def annotates(self) -> bool:
        return self.role == ANNOTATOR


def add_user(db: Database, name: str, role: str, password: str | None = None) -> str:
    """Make a user; returns the token, of which only the SHA-256 is kept (it is random, so that is enough).

    Without a password the user cannot sign in to the pages. Raises InputError for a name that cannot be one or is
    taken, for a role that does not exist, and for a password that is too short.
    """
    if not NAME.fullmatch(name):
        raise InputError(f"name: {name[:40]!r} cannot be one; letters, digits, . _ @ and - only, {ID_LENGTH} at most")
    if role not in ROLES:
        raise InputError(f"role: {role[:40]!r} is none; {', '.join(ROLES)} are")
    hashed = None if password is None else passwords.hashed(password)
    token = secrets.token_urlsafe(32)
    with db.writing() as session:
        if session.get(User, name):
            raise InputError(f"name: there is a user {name!r} already")
        session.add(User(name=name, role=role, token_sha256=_digest(token), password_hash=hashed,
                         made_at=datetime.now(UTC)))
        audit.note(session, name, "user added", role=role)
    return token


def set_password(db: Database, name: str, password: str) -> None:
    """Give a user a new password, which ends the sessions made with the old one. Raises InputError."""
    hashed = passwords.hashed(password)
    with db.writing() as session:
        row = session.get(User, name, with_for_update=True)
        if row is None:
            raise InputError(f"name: there is no user {name[:ID_LENGTH]!r}")
        row.password_hash = hashed
        audit.note(session, name, "password set")


def user_of(db: Database, token: str) -> User | None:
    """The user to whom a token belongs."""
    with db.reading() as session:
        return session.scalars(select(User).where(User.token_sha256 == _digest(token))).first()


def user_named(db: Database, name: str) -> User | None:
    """The user of a name."""
    with db.reading() as session:
        return session.get(User, name if NAME.fullmatch(name) else "")


def everybody(db: Database) -> list[User]:
    """All users by name."""
    with db.reading() as session:
        return list(session.scalars(select(User).order_by(User.name)))


def has_accounts(db: Database) -> bool:
    """Whether anybody has one; from then on everybody signs in."""
    with db.reading() as session:
        return session.scalars(select(User.name).limit(1)).first() is not None


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
