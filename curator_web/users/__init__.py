"""Who may sign in, and how: names and roles, passwords, how often one may try."""

from .people import Account, User, add_user, everybody, has_accounts, set_password, user_named, user_of
from .signing_in import session_mark, sign_in
from .tries import Tries

__all__ = ["Account", "Tries", "User", "add_user", "everybody", "has_accounts", "session_mark", "set_password",
           "sign_in", "user_named", "user_of"]
