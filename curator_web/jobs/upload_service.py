"""Packages on their way in: each chunk is verified and stored once, in any order; then the whole is imported.

A package is the file `uploads/<id>.zip` of the store; which of its chunks are there stands in the database. When all
are, it is imported by a job, like one that was dropped on the page.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from curator_web.db.database import Database
from curator_web.db.models import (
    DONE,
    FAILED,
    IMPORTED,
    JOB_FAILED,
    PROCESSING,
    RECEIVING,
    Job,
    Upload,
    UploadedChunk,
)
from curator_web.demonstrations.library import Imported
from curator_web.errors import Conflict, InputError, NotFound
from curator_web.storage.files import Files
from curator_web.storage.recordings import ID

from .queue import Jobs, Step

KIND = "import"  # the job that every package becomes
CHUNK_LIMIT = 4 << 20  # bytes
SIZE_LIMIT = 4 << 30
UNFINISHED_LIMIT = 100  # of one user


@dataclass(frozen=True)
class UploadStatus:
    """How far an upload has come: `received` are the numbers of its chunks that are there; the rest is what its job
    says once they all are."""

    row: Upload
    received: list[int]
    state: str
    demonstration: str | None = None
    error: str | None = None


def run(import_package: Callable[[Path, str], Imported], files: Files, _job_id: int, arguments: dict[str, Any],
        step: Step) -> dict[str, Any]:
    """The job: `import_package` makes the package a demonstration. It goes when it is in, or when it is refused.

    `arguments`: the package's `file` among the store's, its `name` for people, `who` sent it, and of how many `pieces`
    it is made.
    """
    name, pieces = arguments["file"], arguments.get("pieces", 0)
    step(0, None, "processing")
    with files.whole(name, pieces) as path:
        try:
            found = import_package(path, arguments["who"]).id
        except InputError as error:
            files.remove(name, pieces)
            raise InputError(str(error).replace(str(path), arguments["name"])) from None
    files.remove(name, pieces)
    return {"demonstration": found}


class UploadService:
    """The uploads of one store."""

    def __init__(self, db: Database, files: Files, jobs: Jobs):
        self._db, self._files, self._jobs = db, files, jobs

    def plan(self, who: str, upload_id: str, size: int, chunk_size: int, digests: list[str]) -> UploadStatus:
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
            elif _outcome(session, row).state == FAILED or (
                    row.state == RECEIVING and (row.size, row.chunk_size, row.digests) != (size, chunk_size, digests)):
                session.execute(delete(UploadedChunk).where(UploadedChunk.upload_id == upload_id))
                self._files.remove(_file(upload_id), len(row.digests))
                row.size, row.chunk_size, row.digests, row.state, row.job = size, chunk_size, digests, RECEIVING, None
        return self.status(who, upload_id)

    def put(self, who: str, upload_id: str, number: int, content: bytes) -> None:
        """Store a chunk; storing it again changes nothing.

        Raises NotFound, and InputError when it is not what the plan says.
        """
        status = self.status(who, upload_id)
        row = status.row
        if not 0 <= number < len(row.digests):
            raise NotFound(f"there is no chunk {number}; the upload has {len(row.digests)}")
        if row.state != RECEIVING or number in status.received:
            return
        if hashlib.sha256(content).hexdigest() != row.digests[number]:
            raise InputError(f"chunk {number}: its SHA-256 is not the planned one; send it again")
        self._files.put(_file(upload_id), number, number * row.chunk_size, content)
        with self._db.writing() as session:
            if not session.get(UploadedChunk, (upload_id, number)):
                session.add(UploadedChunk(upload_id=upload_id, number=number))

    def finish(self, who: str, upload_id: str) -> UploadStatus:
        """All is sent: import it in the background. Raises Conflict when chunks are missing."""
        status = self.status(who, upload_id)
        if status.state == RECEIVING:
            if missing := len(status.row.digests) - len(status.received):
                raise Conflict(f"{missing} chunks are missing")
            with self._db.together() as (session, joined):
                row = session.get(Upload, upload_id, with_for_update=True)
                if row and row.state == RECEIVING:
                    row.state = PROCESSING
                    row.job = self._jobs.add(KIND, who, {"file": _file(upload_id), "name": f"recording {upload_id}",
                                                         "who": who, "pieces": len(row.digests)}, joined)
            self._jobs.wake()
        return self.status(who, upload_id)

    def status(self, who: str, upload_id: str) -> UploadStatus:
        """How far an upload has come; raises NotFound, also for somebody else's."""
        with self._db.reading() as session:
            row = session.get(Upload, upload_id) if ID.fullmatch(upload_id) else None
            if row is None or row.who != who:
                raise NotFound("there is no such upload")
            received = session.scalars(select(UploadedChunk.number).where(UploadedChunk.upload_id == upload_id)
                                       .order_by(UploadedChunk.number)).all()
            outcome = _outcome(session, row)
        return replace(outcome, received=list(received))

    def _begin(self, session: Session, who: str, upload_id: str, size: int, chunk_size: int,
               digests: list[str]) -> None:
        unfinished = session.scalars(select(Upload.id).where(Upload.who == who, Upload.state == RECEIVING)).all()
        if len(unfinished) >= UNFINISHED_LIMIT:
            raise InputError(f"{len(unfinished)} uploads are not finished; finish some of them first")
        session.add(Upload(id=upload_id, who=who, size=size, chunk_size=chunk_size, digests=digests, state=RECEIVING,
                           begun_at=datetime.now(UTC)))


def _outcome(session: Session, row: Upload) -> UploadStatus:
    """What has become of an upload, without its chunks."""
    job = session.get(Job, row.job) if row.state == PROCESSING and row.job else None
    if job is not None and job.state == DONE:
        return UploadStatus(row, [], IMPORTED, demonstration=job.result["demonstration"])
    if job is not None and job.state == JOB_FAILED:
        return UploadStatus(row, [], FAILED, error=job.note)
    return UploadStatus(row, [], row.state, row.demonstration, row.error)


def _file(upload_id: str) -> str:
    return f"uploads/{upload_id}.zip"


def _check_plan(upload_id: str, size: int, chunk_size: int, digests: list[str]) -> None:
    if not ID.fullmatch(upload_id):
        raise InputError("id: letters, digits, - and _ only, 100 at most")
    if size > SIZE_LIMIT:
        raise InputError(f"size: larger than {SIZE_LIMIT >> 30} GiB")
    if not 0 < chunk_size <= CHUNK_LIMIT or len(digests) != -(-size // chunk_size):
        raise InputError(f"chunks: {len(digests)} of {chunk_size} bytes do not make {size} bytes")
