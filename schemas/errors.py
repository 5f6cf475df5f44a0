"""Exceptions whose messages are shown to users. Each message is one line that names the file, line or field and the
mend."""


class DemotapeError(Exception):
    """Something could not be done; the message says what and what to do about it."""

    exit_code = 1


class DiskFull(DemotapeError):
    """There is no room left where something was to be written."""


class InputError(DemotapeError):
    """What the user handed in is wrong: a path, a URL, a file's content, an option."""

    exit_code = 2
