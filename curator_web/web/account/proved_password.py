"""Between password and code: the signed cookie says whose password was right in this browser, and for how long that
counts. It opens nothing but the page that asks for the code."""

import hashlib
import time

from flask import session as cookie

from curator_web import users
from curator_web.access.services import services
from curator_web.db.models.core import ACTIVE, User

_KEY = "password-proved"
_LASTS = 600  # seconds to take the phone out


def note(proved: User) -> None:
    """The password of this user was right."""
    cookie[_KEY] = [proved.name, _mark(proved), int(time.time()) + _LASTS]


def user() -> User | None:
    """The user whose password was right in this browser, if that counts still."""
    name, mark, until = cookie.get(_KEY) or ("", "", 0)
    candidate = users.user_named(services().db, name)
    fresh = candidate is not None and candidate.state == ACTIVE and until > time.time() and mark == _mark(candidate)
    return candidate if fresh else None


def _mark(user_: User) -> str:
    """Another one after a new password."""
    return hashlib.sha256((user_.password_hash or "").encode()).hexdigest()[:16]
