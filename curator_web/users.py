"""Who may sign in: a name, a role, a token that is told once, and a password for the browser."""

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session
from werkzeug.security import check_password_hash, generate_password_hash

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models import ANNOTATOR, ID_LENGTH, LEAD, ROLES, VALIDATOR, FailedSignIn, User

from .errors import InputError, NotSignedIn, TooManyTries

NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._@-]{{0,{ID_LENGTH - 1}}}")
PASSWORD_LENGTH = 10  # at least; only length makes a password good
PASSWORD_LIMIT = 1000
TRIES_AT_ONE_NAME = 10  # from one address, within the time below
TRIES_FROM_ONE_ADDRESS = 50
TRIES_COUNT_FOR = timedelta(minutes=15)
WRONG = "the name or the password is wrong"


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
    hashed = None if password is None else _hashed(password)
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
    hashed = _hashed(password)
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
        return session.get(User, name)


def everybody(db: Database) -> list[User]:
    """All users by name."""
    with db.reading() as session:
        return list(session.scalars(select(User).order_by(User.name)))


def has_accounts(db: Database) -> bool:
    """Whether anybody has one; from then on everybody signs in."""
    with db.reading() as session:
        return session.scalars(select(User.name).limit(1)).first() is not None


def sign_in(db: Database, name: str, password: str, address: str) -> User:
    """The user with that name and password, asked for from a network address.

    Raises NotSignedIn, and TooManyTries after many failures, without looking at the password.
    """
    name, address = name[:ID_LENGTH], address[:ID_LENGTH]
    now = datetime.now(UTC)
    with db.reading() as session:
        if _tries(session, now, FailedSignIn.address == address) >= TRIES_FROM_ONE_ADDRESS or \
                _tries(session, now, FailedSignIn.address == address, FailedSignIn.name == name) >= TRIES_AT_ONE_NAME:
            minutes = TRIES_COUNT_FOR // timedelta(minutes=1)
            raise TooManyTries(f"too many sign-ins failed; try again in {minutes} minutes")
        user = session.get(User, name) if NAME.fullmatch(name) else None
    # A name that is not there takes as long as one that is, so that the time tells nothing.
    kept = user.password_hash if user is not None else None
    right = check_password_hash(_nobody() if kept is None else kept, password[:PASSWORD_LIMIT]) and kept is not None
    with db.writing() as session:
        if user is not None and right:
            session.execute(delete(FailedSignIn).where(FailedSignIn.address == address, FailedSignIn.name == name))
            audit.note(session, name, "signed in")
            return user
        session.execute(delete(FailedSignIn).where(FailedSignIn.made_at < now - TRIES_COUNT_FOR))
        session.add(FailedSignIn(name=name if user else "", address=address, made_at=now))
    raise NotSignedIn(WRONG)


def session_mark(user: User) -> str:
    """Changes with the password: a session with another mark counts no more."""
    return _digest(f"{user.password_hash}{user.token_sha256}")[:16]


def _tries(session: Session, now: datetime, *conditions) -> int:
    return session.scalar(select(func.count()).select_from(FailedSignIn)
                          .where(FailedSignIn.made_at >= now - TRIES_COUNT_FOR, *conditions)) or 0


def _hashed(password: str) -> str:
    if not PASSWORD_LENGTH <= len(password) <= PASSWORD_LIMIT:
        raise InputError(f"password: {PASSWORD_LENGTH} characters at least, {PASSWORD_LIMIT} at most")
    return generate_password_hash(password, method="scrypt")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


@cache
def _nobody() -> str:
    """The hash of a password that nobody knows."""
    return generate_password_hash(secrets.token_hex(16), method="scrypt")
