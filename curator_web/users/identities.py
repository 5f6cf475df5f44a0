"""Identities at an OpenID provider, and the users that they belong to.

Known by issuer and subject, which never change (OpenID Connect Core 1.0, section 5.7). An e-mail address links the two
once: at the first sign-in, if the provider says that it has verified it, to the user of that name.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import ACTIVE, ISSUER_LENGTH, SUBJECT_LENGTH, Identity, User
from curator_web.errors import ErrorText, NotSignedIn

from . import members
from .people import NAME

NO_ACCOUNT = ErrorText("you have no account here; ask your lead")


@dataclass(frozen=True)
class Claims:
    """What the provider says of who signed in; `mail` only if it has verified it."""

    issuer: str
    subject: str
    mail: str | None


def user_of(db: Database, claims: Claims, new_role: str | None) -> User:
    """The user who that is; with `new_role` somebody unknown becomes a user with this role, named by mail address.

    Raises NotSignedIn when there is none, or the user may not sign in.
    """
    if not 0 < len(claims.subject) <= SUBJECT_LENGTH or len(claims.issuer) > ISSUER_LENGTH:
        raise NotSignedIn(NO_ACCOUNT)
    try:
        return _find_or_add(db, claims, new_role)
    except IntegrityError:  # the same person signs in twice for the first time, at once
        return _find_or_add(db, claims, new_role)


def _find_or_add(db: Database, claims: Claims, new_role: str | None) -> User:
    with db.writing() as session:
        known = session.get(Identity, (claims.issuer, claims.subject))
        user = session.get(User, known.who) if known else _linked(session, claims, new_role)
        if user is None or user.state != ACTIVE:
            raise NotSignedIn(NO_ACCOUNT)
        return user


def _linked(session: Session, claims: Claims, new_role: str | None) -> User | None:
    """The user of the mail address, who is known from now on; None when there is none and none is to be made."""
    name = (claims.mail or "").lower()
    if not NAME.fullmatch(name):
        return None
    now, user = datetime.now(UTC), session.get(User, name)
    if user is None and new_role:
        user = User(name=name, role=new_role, state=ACTIVE, made_at=now)
        session.add(user)
        session.flush()
        members.join(session, name, new_role)
        audit.note(session, name, "user added", of=name, role=new_role)
    if user is not None and user.state == ACTIVE:
        session.add(Identity(issuer=claims.issuer, subject=claims.subject, who=name, made_at=now))
        audit.note(session, name, "identity linked", of=name, issuer=claims.issuer)
    return user
