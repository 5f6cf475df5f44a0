"""One request at a time in a process, but for those that wait. Threads of one process hinder each other: after each
answer of the database one waits until another lets go of the interpreter. Yet who waits for the storage, for a password
to be hashed, or for what somebody sends over a slow line, must keep nobody else waiting.
"""

import io
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from werkzeug.sansio.utils import get_content_length

SHORT = 65_536  # bytes of a body that is read at once
_own = threading.local()  # `working`: the lock that this thread holds, if it serves a request


class OneAtATime:
    """A WSGI app whose requests are worked on one after another, where the server has several threads."""

    def __init__(self, app: Callable[..., Iterable[bytes]]):
        self._app, self._working = app, _Turn()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """What the app answers; what it sends piece by piece is no longer in the way of others."""
        if not environ.get("wsgi.multithread"):
            return self._app(environ, start_response)
        body = environ["wsgi.input"]
        length = get_content_length(environ.get("CONTENT_LENGTH"), environ.get("HTTP_TRANSFER_ENCODING"))
        # A short body is read before it is this request's turn, also from who sends it slowly.
        environ["wsgi.input"] = _Sent(body) if length is None or length > SHORT else io.BytesIO(body.read(length))
        self._working.acquire()
        _own.working = self._working
        try:
            return self._app(environ, start_response)
        finally:
            _own.working = None
            self._working.release()


@contextmanager
def stepping_aside() -> Iterator[None]:
    """Let other requests go on while this thread waits for something else; nothing where it serves none."""
    working = getattr(_own, "working", None)
    if working is None:
        yield
        return
    _own.working = None
    working.release()
    try:
        yield
    finally:
        working.acquire()
        _own.working = working


@contextmanager
def staying() -> Iterator[None]:
    """Step aside for nothing within: others would wait for what this thread holds, and it for them."""
    working = getattr(_own, "working", None)
    _own.working = None
    try:
        yield
    finally:
        _own.working = working


class _Turn:
    """A lock that is given in the order in which it was asked for."""

    def __init__(self) -> None:
        self._lock, self._taken = threading.Lock(), False
        self._waiting: deque[threading.Lock] = deque()

    def acquire(self) -> None:
        with self._lock:
            if not self._taken:
                self._taken = True
                return
            own = threading.Lock()
            own.acquire()
            self._waiting.append(own)
        own.acquire()

    def release(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False


class _Sent:
    """The body of a request, which others do not wait for."""

    def __init__(self, body: Any):
        self._body = body

    def read(self, *size: int) -> bytes:
        with stepping_aside():
            return self._body.read(*size)

    def readline(self, *size: int) -> bytes:
        with stepping_aside():
            return self._body.readline(*size)

    def readlines(self, *hint: int) -> list[bytes]:
        with stepping_aside():
            return self._body.readlines(*hint)

    def __iter__(self) -> Iterator[bytes]:
        while line := self.readline():
            yield line
