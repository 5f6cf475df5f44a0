"""User accounts: name, role, and password for the browser. Programs have tokens (tokens.py)."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import (
    ACTIVE,
    ANNOTATOR,
    DISABLED,
    ID_LENGTH,
    LEAD,
    MAIN,
    REMOVED,
    ROLES,
    VALIDATOR,
    Identity,
    Member,
    SecondFactor,
    User,
)
from curator_web.db.models.key_models import OwnKeys
from curator_web.errors import ErrorText, InputError

from . import members, passwords, tokens, web_sessions

NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._@-]{{0,{ID_LENGTH - 1}}}")
LOCAL = "local"  # who is alone at this machine
BY_COMMAND = "command line"  # who, in the audit log; with its blank it is nobody's name
FIRST_TOKEN = "first"


@dataclass(frozen=True)
class Account:
    """Who asks, and in which project with which role. `alone`: there are no accounts, and the one person of this
    machine may do everything. `manages`: whether they manage accounts and make projects."""

    name: str
    role: str
    alone: bool = False
    project: str = MAIN
    manages: bool = False

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


def add_user(db: Database, name: str, role: str, password: str | None = None, *, project: str | None = None,
             by: str = BY_COMMAND) -> str:
    """Make a user with a token that may do all that the user may; returns the token, which is kept as SHA-256 only.

    Without a password the user cannot sign in to the pages. Raises InputError for a name that cannot be one or is
    taken, for a role that does not exist, and for a password that is too short.
    """
    require_name(name)
    _require_role(role)
    hashed = None if password is None else passwords.hashed(password)
    with db.writing() as session:
        require_free(session, name)
        session.add(User(name=name, role=role, state=ACTIVE, password_hash=hashed, made_at=datetime.now(UTC)))
        session.flush()
        members.join(session, name, role, project)
        audit.note(session, by, "user added", of=name, role=role)
        return tokens.add(session, name, FIRST_TOKEN, tokens.SCOPES, None)


def set_password(db: Database, name: str, password: str, *, keep_tokens: bool = False, by: str = BY_COMMAND) -> None:
    """Give a user a new password, which ends the user's sessions and tokens. Raises InputError."""
    hashed = passwords.hashed(password)
    with db.writing() as session:
        row = existing_user(session, name)
        row.password_hash = hashed
        audit.note(session, by, "password set", of=name, sessions=web_sessions.end_all(session, name),
                   tokens=0 if keep_tokens else tokens.revoke_all(session, name))


def disable(db: Database, name: str, *, by: str = BY_COMMAND) -> None:
    """Let a user in no more, until `enable`: the sessions end, the tokens rest. Raises InputError."""
    with db.writing() as session:
        existing_user(session, name).state = DISABLED
        audit.note(session, by, "user disabled", of=name, sessions=web_sessions.end_all(session, name))


def enable(db: Database, name: str, *, by: str = BY_COMMAND) -> None:
    """Let a disabled user in again. Raises InputError."""
    with db.writing() as session:
        existing_user(session, name).state = ACTIVE
        audit.note(session, by, "user enabled", of=name)


def set_role(db: Database, name: str, role: str, *, by: str = BY_COMMAND) -> None:
    """Have a user manage accounts and make projects (lead), or not; what they are in projects stays. Raises
    InputError."""
    _require_role(role)
    with db.writing() as session:
        row = existing_user(session, name)
        audit.note(session, by, "role set", of=name, role=role, before=row.role)
        row.role = role


def remove(db: Database, name: str, *, by: str = BY_COMMAND) -> None:
    """Take a user's password, sessions and tokens away for good, and give back what the user had to do.

    What the user did keeps its name, which nobody else gets. Raises InputError.
    """
    with db.writing() as session:
        row = existing_user(session, name)
        row.state, row.password_hash = REMOVED, None
        for of_user in (SecondFactor, Identity, Member, OwnKeys):
            session.execute(delete(of_user).where(of_user.who == name))
        members.release(session, name)
        audit.note(session, by, "user removed", of=name, sessions=web_sessions.end_all(session, name),
                   tokens=tokens.revoke_all(session, name))


def end_sessions(db: Database, name: str, *, by: str) -> None:
    """End all of a user's sessions. Raises InputError."""
    with db.writing() as session:
        existing_user(session, name)
        audit.note(session, by, "sessions ended", of=name, sessions=web_sessions.end_all(session, name))


def user_named(db: Database, name: str) -> User | None:
    """The user of a name, whatever the state."""
    with db.reading() as session:
        return session.get(User, name if NAME.fullmatch(name) else "")


def everybody(db: Database, *states: str) -> list[User]:
    """All users in these states by name; without states, those who may sign in."""
    with db.reading() as session:
        return list(session.scalars(select(User).where(User.state.in_(states or (ACTIVE,))).order_by(User.name)))


def has_accounts(db: Database) -> bool:
    """Whether anybody has, or had, one; from then on everybody signs in."""
    with db.reading() as session:
        return session.scalars(select(User.name).limit(1)).first() is not None


def require_name(name: str) -> None:
    """Raises InputError for what cannot be a user's name."""
    if not NAME.fullmatch(name):
        raise InputError(ErrorText("name: %(name)r is not a valid name; use at most %(id_length)s letters, digits, . "
                                   "_ @ and -",
                                   name=name[:40], id_length=ID_LENGTH))


def require_free(session: Session, name: str) -> None:
    """Raises InputError for a name that somebody has, or had."""
    if existing := session.get(User, name):
        was = "; it was deleted, and its name cannot be used again" if existing.state == REMOVED else ""
        raise InputError(ErrorText("name: the user %(name)r already exists%(was)s", name=name, was=was))


def _require_role(role: str) -> None:
    if role not in ROLES:
        raise InputError(ErrorText("role: unknown role %(role)r; choose from "
                                   "%(which)s", role=role[:40], which=", ".join(ROLES)))


def existing_user(session: Session, name: str) -> User:
    """The user of a name, locked; raises InputError where there is none or they were removed."""
    row = session.get(User, name, with_for_update=True) if NAME.fullmatch(name) else None
    if row is None or row.state == REMOVED:
        raise InputError(ErrorText("name: unknown user %(name)r", name=name[:ID_LENGTH]))
    return row
