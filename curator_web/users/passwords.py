"""Passwords: kept as salted scrypt hashes, of which a process makes only a few at a time."""

import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from werkzeug.security import check_password_hash, generate_password_hash

from curator_web.db.request_lock import stepping_aside
from curator_web.errors import Busy, ErrorText, InputError

LENGTH = 10  # at least; only length makes a password good
LIMIT = 1000
METHOD = "scrypt:32768:8:1"  # 32 MiB and some 60 ms each
AT_ONCE = max(1, (os.cpu_count() or 1) // 2)  # hashes of one process, so that others are answered meanwhile
WAIT_SECONDS = 20.0
NOBODYS = f"{METHOD}${secrets.token_hex(8)}${secrets.token_hex(64)}"  # what no password has
_turns = threading.BoundedSemaphore(AT_ONCE)


def hashed(password: str) -> str:
    """The hash to keep; raises InputError for what cannot be a password, Busy when too many wait already."""
    if not LENGTH <= len(password) <= LIMIT:
        raise InputError(ErrorText("password: must have %(length)s to %(limit)s characters", length=LENGTH,
                                   limit=LIMIT))
    with stepping_aside(), _turn():
        return generate_password_hash(password, method=METHOD)


def is_right(stored_hash: str | None, password: str) -> bool:
    """Whether a password is the one of a hash. Without one it takes as long, so that the time tells nothing.

    Raises Busy when too many wait already.
    """
    with stepping_aside(), _turn():
        return check_password_hash(stored_hash or NOBODYS, password[:LIMIT]) and stored_hash is not None


@contextmanager
def _turn() -> Iterator[None]:
    if not _turns.acquire(timeout=WAIT_SECONDS):
        raise Busy(ErrorText("too many simultaneous sign-ins; try again later"))
    try:
        yield
    finally:
        _turns.release()
