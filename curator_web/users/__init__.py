"""Who may sign in, and how: names and roles, passwords and how often one may try, sessions of browsers, tokens."""

from .people import (
    BY_COMMAND,
    Account,
    add_user,
    disable,
    enable,
    end_sessions,
    everybody,
    has_accounts,
    remove,
    set_password,
    user_named,
)
from .signing_in import check_password
from .tries import Tries

__all__ = ["BY_COMMAND", "Account", "Tries", "add_user", "check_password", "disable", "enable", "end_sessions",
           "everybody", "has_accounts", "remove", "set_password", "user_named"]
