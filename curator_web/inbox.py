"""Packages on their way in: each chunk is verified and stored once, in any order; then the whole is imported.

A package is one file of the data folder, `uploads/<id>.zip`, into which the chunks are written where they belong; which
of them are there stands in the database.
"""

import hashlib
import logging
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from .database import Database
from .errors import Conflict, InputError, NotFound
from .models import FAILED, IMPORTED, PROCESSING, RECEIVING, Upload, UploadedChunk
from .storage import ID

CHUNK_LIMIT = 4 << 20  # bytes
SIZE_LIMIT = 4 << 30
UNFINISHED_LIMIT = 100  # of one user
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Arrival:
    """How far an upload has come: `received` are the numbers of its chunks that are there."""

    row: Upload
    received: list[int]


class Inbox:
    """The uploads of one data folder. `take` makes a package a demonstration and returns its id; raises InputError."""

    def __init__(self, db: Database, data_dir: Path, take: Callable[[Path, str], str]):
        self._db = db
        self._folder = data_dir / "uploads"
        self._take = take
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="inbox")
        self._folder.mkdir(parents=True, exist_ok=True)
        with db.reading() as session:
            cut_off = session.scalars(select(Upload.id).where(Upload.state == PROCESSING)).all()
        for upload_id in cut_off:
            self._worker.submit(self._import, upload_id)

    def close(self) -> None:
        """Let what is being imported end."""
        self._worker.shutdown(wait=True)

    def plan(self, who: str, upload_id: str, size: int, chunk_size: int, digests: list[str]) -> Arrival:
        """Begin an upload, or go on with it. Another plan for the same package begins it anew, unless it is in already.

        Raises InputError for a plan that cannot be, Conflict when the id is somebody else's.
        """
        _check_plan(upload_id, size, chunk_size, digests)
        with self._db.writing() as session:
            row = session.get(Upload, upload_id, with_for_update=True)
            if row is None:
                self._begin(session, who, upload_id, size, chunk_size, digests)
            elif row.who != who:
                raise Conflict("this recording is sent by somebody else already")
            elif row.state == FAILED or (row.state == RECEIVING and (row.size, row.chunk_size, row.digests) !=
                                         (size, chunk_size, digests)):
                session.execute(delete(UploadedChunk).where(UploadedChunk.upload_id == upload_id))
                self._path(upload_id).unlink(missing_ok=True)
                row.size, row.chunk_size, row.digests, row.state, row.error = size, chunk_size, digests, RECEIVING, None
        return self.arrival(who, upload_id)

    def put(self, who: str, upload_id: str, number: int, content: bytes) -> None:
        """Store a chunk; storing it again changes nothing.

        Raises NotFound, and InputError when it is not what the plan says.
        """
        arrival = self.arrival(who, upload_id)
        row = arrival.row
        if not 0 <= number < len(row.digests):
            raise NotFound(f"there is no chunk {number}; the upload has {len(row.digests)}")
        if row.state != RECEIVING or number in arrival.received:
            return
        if hashlib.sha256(content).hexdigest() != row.digests[number]:
            raise InputError(f"chunk {number}: its SHA-256 is not the planned one; send it again")
        with os.fdopen(os.open(self._path(upload_id), os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
            file.seek(number * row.chunk_size)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with self._db.writing() as session:
            if not session.get(UploadedChunk, (upload_id, number)):
                session.add(UploadedChunk(upload_id=upload_id, number=number))

    def finish(self, who: str, upload_id: str) -> Arrival:
        """All is sent: import it in the background. Raises Conflict when chunks are missing."""
        arrival = self.arrival(who, upload_id)
        if arrival.row.state == RECEIVING:
            if len(arrival.received) < len(arrival.row.digests):
                raise Conflict(f"{len(arrival.row.digests) - len(arrival.received)} chunks are missing")
            if self._set(upload_id, RECEIVING, state=PROCESSING):
                self._worker.submit(self._import, upload_id)
        return self.arrival(who, upload_id)

    def arrival(self, who: str, upload_id: str) -> Arrival:
        """How far an upload has come; raises NotFound, also for somebody else's."""
        with self._db.reading() as session:
            row = session.get(Upload, upload_id) if ID.fullmatch(upload_id) else None
            if row is None or row.who != who:
                raise NotFound("there is no such upload")
            received = session.scalars(select(UploadedChunk.number).where(UploadedChunk.upload_id == upload_id)
                                       .order_by(UploadedChunk.number)).all()
        return Arrival(row, list(received))

    def _begin(self, session: Session, who: str, upload_id: str, size: int, chunk_size: int,
               digests: list[str]) -> None:
        unfinished = session.scalars(select(Upload.id).where(Upload.who == who, Upload.state == RECEIVING)).all()
        if len(unfinished) >= UNFINISHED_LIMIT:
            raise InputError(f"{len(unfinished)} uploads are not finished; finish some of them first")
        self._path(upload_id).unlink(missing_ok=True)
        session.add(Upload(id=upload_id, who=who, size=size, chunk_size=chunk_size, digests=digests, state=RECEIVING,
                           begun_at=datetime.now(UTC)))

    def _import(self, upload_id: str) -> None:
        """Run by the worker."""
        with self._db.reading() as session:
            who = session.get_one(Upload, upload_id).who
        path = self._path(upload_id)
        try:
            demonstration = self._take(path, who)
        except InputError as error:
            self._set(upload_id, PROCESSING, state=FAILED, error=str(error).replace(str(path), "the recording"))
        except Exception:
            _log.exception("an upload could not be imported")
            self._set(upload_id, PROCESSING, state=FAILED, error="the fault is in the review app; it is in its log")
            return  # the package stays, for who looks into it
        else:
            self._set(upload_id, PROCESSING, state=IMPORTED, demonstration=demonstration)
        path.unlink(missing_ok=True)

    def _set(self, upload_id: str, expected: str, **fields) -> bool:
        """Change an upload if it is in the expected state; returns whether it was."""
        with self._db.writing() as session:
            row = session.get(Upload, upload_id, with_for_update=True)
            if row is None or row.state != expected:
                return False
            for name, value in fields.items():
                setattr(row, name, value)
            return True

    def _path(self, upload_id: str) -> Path:
        return self._folder / f"{upload_id}.zip"


def _check_plan(upload_id: str, size: int, chunk_size: int, digests: list[str]) -> None:
    if not ID.fullmatch(upload_id):
        raise InputError("id: letters, digits, - and _ only, 100 at most")
    if size > SIZE_LIMIT:
        raise InputError(f"size: larger than {SIZE_LIMIT >> 30} GiB")
    if not 0 < chunk_size <= CHUNK_LIMIT or len(digests) != -(-size // chunk_size):
        raise InputError(f"chunks: {len(digests)} of {chunk_size} bytes do not make {size} bytes")
