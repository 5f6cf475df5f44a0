"""Signing in with a name and a password, and with a second factor where the user has one."""

from curator_web.db.database import Database
from curator_web.db.models.core import ACTIVE, User
from curator_web.errors import Busy, ErrorText, NotSignedIn

from . import passwords
from .people import user_named
from .second_factor import SecondFactors
from .sign_in_attempts import SignInAttemptLimits

WRONG = ErrorText("the name or the password is wrong")
WRONG_CODE = ErrorText("the code is wrong or was already used")


def check_password(db: Database, sign_in_attempts: SignInAttemptLimits, name: str, password: str, address: str,
                   browser: str | None = None) -> User:
    """The user with that name and password, asked for from a network address and a browser.

    Raises NotSignedIn, and TooManyAttempts after many failures, without looking at the password; both tell nothing of
    whether there is such a name. `browser`: see Tries.reserve.
    """
    reserved = sign_in_attempts.reserve(name, address, browser)
    user = user_named(db, name)
    stored_hash = user.password_hash if user and user.state == ACTIVE else None
    try:
        is_right = passwords.is_right(stored_hash, password)
    except Busy:
        sign_in_attempts.give_back(reserved)
        raise
    if user is None or not is_right:
        raise NotSignedIn(WRONG)
    sign_in_attempts.succeed(reserved)
    return user


def check_code(factors: SecondFactors, sign_in_attempts: SignInAttemptLimits, name: str, code: str,
               address: str) -> None:
    """Have a code of the second factor of a user, whose password was right; raises NotSignedIn, TooManyAttempts."""
    reserved = sign_in_attempts.reserve(name, address, kind="code")
    if not factors.is_right(name, code):
        raise NotSignedIn(WRONG_CODE)
    sign_in_attempts.succeed(reserved)
