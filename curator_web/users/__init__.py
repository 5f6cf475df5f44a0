"""Who may sign in, and how: names and roles, passwords, second factors and how often one
may try, sessions of browsers, tokens."""

from .people import (
    BY_COMMAND,
    LOCAL,
    Account,
    add_user,
    disable,
    enable,
    end_sessions,
    everybody,
    has_accounts,
    remove,
    set_password,
    set_role,
    user_named,
)
from .renaming import rename
from .second_factor import SecondFactors
from .sign_in_attempts import SignInAttemptLimits
from .signing_in import check_code, check_password

__all__ = ["BY_COMMAND", "LOCAL", "Account", "SecondFactors", "SignInAttemptLimits", "add_user", "check_code",
           "check_password", "disable", "enable", "end_sessions", "everybody", "has_accounts", "remove", "rename",
           "set_password", "set_role", "user_named"]
