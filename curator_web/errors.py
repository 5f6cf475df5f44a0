"""Errors of the review app that reach a user, in addition to InputError."""

from schemas import DemotapeError, InputError


class ErrorText(str):
    """The text of an error, in English, with what it was made from: pages show it in the language of who asks.

    `template` has `%(name)s` where the values stand, and `%%` for a percent sign where there are any.
    """

    template: str
    values: dict[str, object]

    def __new__(cls, template: str, **values: object) -> "ErrorText":
        text = super().__new__(cls, template % values if values else template)
        text.template, text.values = template, values
        return text


class NotFound(InputError):
    """There is no such demonstration or recording."""


class NotSignedIn(InputError):
    """Nobody is known by what was sent to sign in."""


class NotAllowed(InputError):
    """Who asks is known and may not do this."""


class TooManyAttempts(InputError):
    """Signing in failed too often."""


class Busy(DemotapeError):
    """The server has too much to do at the moment; nothing was done."""


class Conflict(DemotapeError):
    """Somebody else changed the demonstration meanwhile, or its status does not allow the change."""


class Damaged(InputError):
    """A demonstration's data cannot be read or shown; the message says which and why."""

    def __init__(self, demonstration: str, reason: str):
        super().__init__(f"demonstration {demonstration} is damaged: {reason}")
        self.demonstration, self.reason = demonstration, reason


class ServiceUnavailable(DemotapeError):
    """A service that the app needs fails for the moment. The error's text is for the operator, `message` for users."""

    service = "something"
    message = ErrorText("a service that the review app needs does not respond; try again later")


class DatabaseUnavailable(ServiceUnavailable):
    """The database does not answer, or takes nothing."""

    service = "database"
    message = ErrorText("the database does not respond; try again later")


class StoreUnavailable(ServiceUnavailable):
    """The place that recordings are kept in does not do what it is asked."""

    service = "storage"
    message = ErrorText("the storage of the recordings does not respond; try again later")


class DiskFull(ServiceUnavailable):
    """The disk is nearly full."""

    service = "disk"
    message = ErrorText("the server's disk is full; contact its administrator")


__all__ = ["Busy", "Conflict", "Damaged", "DatabaseUnavailable", "DemotapeError", "DiskFull", "InputError",
           "NotAllowed", "NotFound", "NotSignedIn", "ServiceUnavailable", "StoreUnavailable", "TooManyAttempts"]
