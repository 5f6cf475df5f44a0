"""Errors of the review app that reach a user, besides InputError."""

from schemas import DemotapeError, InputError


class ErrorText(str):
    """The text of an error, in English, with what it was made from: pages show it in the language of who asks.

    `template` has `%(name)s` where the values stand, and `%%` for a percent sign where there are any.
    """

    template: str
    values: dict[str, object]

    def __new__(cls, template: str, **values: object) -> "ErrorText":
        made = super().__new__(cls, template % values if values else template)
        made.template, made.values = template, values
        return made


class NotFound(InputError):
    """There is no such demonstration or recording."""


class NotSignedIn(InputError):
    """Nobody is known by what was sent to sign in."""


class NotAllowed(InputError):
    """Who asks is known and may not do this."""


class TooManyTries(InputError):
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


class Away(DemotapeError):
    """Something that the app needs does not do what it is asked now; the message is for who runs the server, `told` for
    everybody else."""

    what = "something"
    told = ErrorText("something that the review app needs does not answer; try again in a while")


class DatabaseAway(Away):
    """The database does not answer, or takes nothing."""

    what = "database"
    told = ErrorText("the database does not answer; try again in a while")


class StoreAway(Away):
    """The place that recordings are kept in does not do what it is asked."""

    what = "storage"
    told = ErrorText("the place where the recordings are kept does not answer; try again in a while")


class NoRoom(Away):
    """The disk is nearly full."""

    what = "disk"
    told = ErrorText("the server's disk is full; tell who runs it")


__all__ = ["Away", "Busy", "Conflict", "Damaged", "DatabaseAway", "DemotapeError", "InputError", "NoRoom", "NotAllowed",
           "NotFound", "NotSignedIn", "StoreAway", "TooManyTries"]
