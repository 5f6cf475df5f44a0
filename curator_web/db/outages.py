"""Database errors that mean an outage or a full disk, not a wrong statement.

PostgreSQL tells them by the classes of SQLSTATE (PostgreSQL, "Appendix A. PostgreSQL Error Codes"), or has none where
the connection itself failed; SQLite by result codes ("Result and Error Codes"), as "no such table" is of the same
kind of error there.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, TimeoutError

from curator_web.errors import DatabaseUnavailable, DemotapeError, DiskFull

FULL = "53100"  # disk_full
# connection exceptions, transactions that were undone (a deadlock, as beside a migration), locks that were not had,
# insufficient resources, an operator's intervention, errors of the system
AWAY = ("08", "40", "53", "55P", "57P", "58")
READ_ONLY = "25006"  # what is left to ask is a standby
SQLITE_AWAY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN,
               sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PROTOCOL}
NO_ROOM = "the disk of the database is full; nothing was saved"


@contextmanager
def translate_outage() -> Iterator[None]:
    """Raise DatabaseUnavailable or DiskFull in place of a driver's errors that mean so. Those hold the statement with
    captured values, so they are left out of the traceback."""
    try:
        yield
    except (DBAPIError, TimeoutError) as error:
        if (instead := _translated(error)) is None:
            raise
        raise instead from None


def _translated(error: DBAPIError | TimeoutError) -> DemotapeError | None:
    if isinstance(error, TimeoutError):  # of the pool: all connections are in use
        return DatabaseUnavailable(str(error))
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            return DiskFull(NO_ROOM)
        return DatabaseUnavailable(str(cause)) if code in SQLITE_AWAY else None
    state = getattr(cause, "sqlstate", None)
    if state == FULL:
        return DiskFull(NO_ROOM)
    kinds = {kind.__name__ for kind in type(cause).__mro__}  # psycopg has kinds of its own of these
    lost = state is None and not kinds.isdisjoint(("OperationalError", "InterfaceError"))
    if lost or error.connection_invalidated or (state or "").startswith(AWAY) or state == READ_ONLY:
        return DatabaseUnavailable(str(cause))
    return None
