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


class Conflict(DemotapeError):
    """Somebody else changed the demonstration meanwhile, or its status does not allow the change."""


__all__ = ["Conflict", "DemotapeError", "InputError", "NotAllowed", "NotFound", "NotSignedIn", "TooManyTries"]
