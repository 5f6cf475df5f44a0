"""How long PostgreSQL is waited for. A server that has gone is noticed by the network; one that hangs takes what it is
sent and says nothing, so whoever waits counts the seconds. Jobs, migrations and commands wait as long as it takes. The
storage asks here, too, whether somebody waits."""

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from typing import Any

# Parameters of libpq: seconds until there is a connection; the other side is asked for a sign of life after 10 seconds,
# and given up 15 later; milliseconds after which what was sent must have been received.
NETWORK = {"connect_timeout": "3", "keepalives": "1", "keepalives_idle": "10", "keepalives_interval": "5",
           "keepalives_count": "3", "tcp_user_timeout": "20000"}
STATEMENT = 8.0  # seconds for each statement while somebody waits for a page
ALIVE = 2.0  # seconds in which a connection that rested must show that it is alive
CANCEL = 1.0  # seconds for telling the server that nobody waits any more
_seconds: ContextVar[float | None] = ContextVar("seconds", default=None)


class _Late(Exception):
    """Time is up."""


def limit_statements() -> None:
    """End each statement of this thread after STATEMENT seconds, with DatabaseUnavailable, until
    `unlimit_statements`."""
    _seconds.set(STATEMENT)


def somebody_waits() -> bool:
    """Whether this thread works for somebody who waits for a page."""
    return _seconds.get() is not None


def unlimit_statements() -> None:
    """Wait as long as it takes again."""
    _seconds.set(None)


@contextmanager
def statement_limit(seconds: float) -> Iterator[None]:
    """Within the block, end each statement of this thread after so many seconds, with DatabaseUnavailable; afterwards
    what was set before counts again."""
    before = _seconds.set(seconds)
    try:
        yield
    finally:
        _seconds.reset(before)


@cache
def connection_class() -> Any:
    """psycopg's connection, with these limits; its library is there on demand only."""
    import psycopg

    class Patient(psycopg.Connection):
        """Everything that waits for the server waits here."""

        def wait(self, gen: Any, *about: Any, **options: Any) -> Any:
            seconds = _seconds.get()
            if seconds is None:
                return super().wait(gen, *about, **options)
            try:
                return super().wait(_until(gen, time.monotonic() + seconds), *about, **options)
            except _Late:
                if psycopg.capabilities.has_cancel_safe():  # the older way waits for the server itself
                    with suppress(psycopg.Error):
                        self.cancel_safe(timeout=CANCEL)
                self.pgconn.finish()  # what it has to say comes too late for anybody
                raise psycopg.OperationalError(f"the database did not respond within {seconds:g} seconds") from None
    return Patient


def _until(waiting: Generator[Any, Any, Any], end: float) -> Generator[Any, Any, Any]:
    """A generator of psycopg's, which is asked several times a second whether it goes on."""
    ready = None
    while True:
        try:
            awaited = waiting.send(ready)
        except StopIteration as done:
            return done.value
        ready = yield awaited
        if not ready and time.monotonic() > end:
            raise _Late
