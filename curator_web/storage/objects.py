"""Objects under `s3://bucket/prefix`, for the review app: read, sent, deleted. The client is the export's."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import IO

from curator_web.db import timeouts
from curator_web.db.request_lock import stepping_aside
from curator_web.errors import DemotapeError, StoreUnavailable
from pipeline.export.destinations.s3_errors import NoAnswer, explain_errors
from pipeline.export.destinations.s3_objects import Bucket
from pipeline.export.destinations.s3_parts import send

from .breaker import Breaker
from .bulkhead import Bulkhead

ATTEMPTS = 3  # of a request that sends something
ATTEMPTS_WAITED_FOR = 2  # of one whose answer somebody waits for
# Seconds until there is a connection, and until the next bytes come over it; what is sent is written there first.
SENDING, SENDING_WAITED_FOR, READING = (3, 20), (2, 5), (2, 2)
LINK_SECONDS = 3600
_log = logging.getLogger(__name__)
NOT_THERE = ("NoSuchKey", "404", "NotFound")


@cache
def _connected(address: str, endpoint_url: str | None, away: Path | None) -> "Objects":
    """Those of a process that was sent some: connected once."""
    return Objects(address, endpoint_url, known=True, away=away)


class Objects:
    """What lies under an address. Safe to use from several threads; sent to another process, it connects again.

    Making it raises InputError when the bucket is not there or the keys are wrong, but not where the service does not
    answer now, or the bucket is `known`; everything else raises StoreUnavailable when the service fails, and
    immediately until it answers again. `away`: the file by which processes tell each other that it does not.
    """

    def __init__(self, address: str, endpoint_url: str | None = None, known: bool = False, away: Path | None = None):
        self._given = address, endpoint_url, away
        self.address = address.rstrip("/")
        with explain_errors(self.address, "try again"):
            self._bucket = Bucket(self.address, endpoint_url, ATTEMPTS, SENDING)
            self._readable = Bucket(self.address, endpoint_url, ATTEMPTS_WAITED_FOR, READING)
        self.breaker, self._bulkhead = Breaker(self._answers, away), Bulkhead()
        if not known:
            try:
                self._probe()
            except NoAnswer as error:
                _log.error("%s", error)
                self.breaker.open(str(error))

    def __reduce__(self):
        return _connected, self._given

    def require_reachable(self) -> None:
        """Raises StoreUnavailable where the service does not answer."""
        with self._translated_errors(""):
            self._probe()

    def exists(self, name: str) -> bool:
        """Whether there is an object of that name."""
        with self._translated_errors(name):
            return self._readable.exists(name)

    def read(self, name: str) -> Iterator[bytes] | None:
        """An object's content in chunks; None when there is none of that name."""
        with self._translated_errors(name):
            pieces = self._open(name)
        return pieces and self._remaining(name, pieces, timeouts.somebody_waits())

    def link(self, name: str, called: str) -> str:
        """A signed address of an object for LINK_SECONDS, which is saved as `called`. Nothing is asked for it."""
        return self._readable.link(name, called, LINK_SECONDS)

    def fetch(self, name: str, target: IO[bytes]) -> bool:
        """Write an object's content into a file; False when there is none of that name."""
        pieces = self.read(name)
        for piece in pieces or ():
            target.write(piece)
        return pieces is not None

    def send(self, name: str, file: IO[bytes]) -> None:
        """Make or replace an object by what is in a file, from its beginning."""
        with self._translated_errors(name):
            send(self._sending, name, file, file.seek(0, 2), "")

    def put(self, name: str, content: bytes) -> None:
        """Make or replace a small object."""
        with self._translated_errors(name):
            self._sending.put(name, content, "")

    def delete(self, name: str) -> None:
        """Take an object away; nothing when it is not there."""
        with self._translated_errors(name):
            self._sending.delete(name)

    def folders(self, folder: str) -> Iterator[str]:
        """The names of the folders in a folder."""
        with self._translated_errors(folder, somebody_waits=False):  # callers do other work in between
            yield from self._readable.folders(folder)

    def listed(self, folder: str) -> Iterator[tuple[str, int, datetime]]:
        """Each object in a folder: its name, bytes, and when it was written."""
        with self._translated_errors(folder, somebody_waits=False):
            yield from self._readable.list_pages(folder)

    def sizes(self, folder: str) -> dict[str, int]:
        """Bytes of each object in a folder, by its name in it."""
        with self._translated_errors(folder):
            listed = Bucket(f"{self.address}/{folder}", self._given[1], ATTEMPTS, SENDING)
            try:
                listed.load()
                return {name: size for name in listed.names() if (size := listed.size(name)) is not None}
            finally:
                listed.close()

    @property
    def _sending(self) -> Bucket:
        return self._hurried if timeouts.somebody_waits() else self._bucket

    @cached_property
    def _hurried(self) -> Bucket:
        return Bucket(self.address, self._given[1], ATTEMPTS_WAITED_FOR, SENDING_WAITED_FOR)

    def _answers(self) -> bool:
        """Whether the service answers, and be it that the keys are wrong: then the next request tells so."""
        try:
            self._probe()
        except NoAnswer:
            return False
        except DemotapeError:
            return True
        return True

    def _probe(self) -> None:
        """Ask for what need not be there: tells whether there is such a bucket, and whether the keys are right."""
        with explain_errors(self.address, "try again"):
            self._open("recordings")

    def _open(self, name: str) -> Iterator[bytes] | None:
        pieces = self._readable.read(name)
        try:
            return chain([next(pieces, b"")], pieces)
        except Exception as error:
            if _is_not_there(error):
                return None
            raise

    def _remaining(self, name: str, pieces: Iterator[bytes], somebody_waits: bool) -> Iterator[bytes]:
        while True:
            with self._translated_errors(name, somebody_waits):  # who is given a piece may take long over it
                piece = next(pieces, None)
            if piece is None:
                return
            yield piece

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        with stepping_aside(), self._bulkhead.acquire(self.address):
            yield

    @contextmanager
    def _translated_errors(self, name: str, somebody_waits: bool | None = None) -> Iterator[None]:
        """Tell what goes wrong. Jobs, for which nobody waits, take no place: they hold up no page."""
        self.breaker.require_closed()
        waits = timeouts.somebody_waits() if somebody_waits is None else somebody_waits
        try:
            with self._waiting() if waits else nullcontext(), explain_errors(f"{self.address}/{name}", "try again"):
                yield
        except StoreUnavailable:
            raise
        except DemotapeError as error:
            if isinstance(error, NoAnswer):
                self.breaker.open(str(error))
            raise StoreUnavailable(str(error)) from None


def _is_not_there(error: Exception) -> bool:
    answer = getattr(error, "response", None) or {}
    return str(answer.get("Error", {}).get("Code", "")) in NOT_THERE


def is_address(text: str) -> bool:
    """Whether a place is one in S3."""
    return text.startswith("s3://")
