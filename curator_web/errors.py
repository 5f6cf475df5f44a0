"""Errors of the review app that reach a user, besides InputError."""

from schemas import DemotapeError, InputError


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
    told = "something that the review app needs does not answer; try again in a while"


class DatabaseAway(Away):
    """The database does not answer, or takes nothing."""

    what = "database"
    told = "the database does not answer; try again in a while"


class StoreAway(Away):
    """The place that recordings are kept in does not do what it is asked."""

    what = "storage"
    told = "the place where the recordings are kept does not answer; try again in a while"


class NoRoom(Away):
    """The disk is nearly full."""

    what = "disk"
    told = "the server's disk is full; tell who runs it"


__all__ = ["Away", "Busy", "Conflict", "Damaged", "DatabaseAway", "DemotapeError", "InputError", "NoRoom", "NotAllowed",
           "NotFound", "NotSignedIn", "StoreAway", "TooManyTries"]
