"""Packages on their way in: each chunk is verified and stored once, in any order; then the whole is imported.

A package is the file `uploads/<id>.zip` of the store; which of its chunks are there stands in the database. When all
are, it is imported by a job, like one that was dropped on the page.
"""

import hashlib
import secrets
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import (
    FAILED,
    ID_LENGTH,
    IMPORTED,
    MAIN,
    PROCESSING,
    RECEIVING,
    Upload,
    UploadedChunk,
    User,
)
from curator_web.db.models.job_models import DONE, JOB_FAILED, Job
from curator_web.demonstrations.library.library import Imported
from curator_web.errors import Conflict, InputError, NotFound
from curator_web.storage.files import Files
from curator_web.storage.recordings import ID, RecordingStore
from schemas import limits
from schemas.files import is_disk_full

from .queue import Jobs, Step

KIND = "import"  # the job that every package becomes
UNFINISHED_DAYS = 7.0


@dataclass(frozen=True)
class UploadStatus:
    """How far an upload has come: `received` are the numbers of its chunks that are there; the rest is what its job
    says once they all are."""

    row: Upload
    received: list[int]
    state: str
    demonstration: str | None = None
    error: str | None = None
    notice: str | None = None


def run(db: Database, import_package: Callable[..., Imported], store: RecordingStore, job: Job, step: Step
        ) -> dict[str, Any]:
    """The job: `import_package` makes the package a demonstration of the job's project. It goes when it is in or
    refused, which is noted before: whoever does the job once more, as this server was stopped, finds it.

    Its arguments: the package's `file` among the store's, its `name` for people, `who` sent it, and of how many
    `pieces` it is made.
    """
    arguments, files = job.arguments, store.files
    name, pieces = arguments["file"], arguments.get("pieces", 0)
    step(0, None, "processing")
    with ExitStack() as stack:
        try:
            path = stack.enter_context(files.assembled(name, pieces))
        except NotFound:
            return _known(db, store, job)
        try:
            imported = import_package(path, arguments["who"], job.project)
        except InputError as error:
            files.require_room(0)  # what is refused while the disk is full may be as it should be
            if is_disk_full(error):
                raise
            said = store.without_paths(str(error).replace(str(path), arguments["name"]))
            return _ended(db, files, job, {"refused": said})
    result = {"demonstration": imported.id, "outcome": imported.outcome} | (
        {"sent_as": imported.sent_as} if imported.sent_as else {})
    return _ended(db, store.files, job, result)


def _known(db: Database, store: RecordingStore, job: Job) -> dict[str, Any]:
    """The result of a job whose package has gone, or part of it. Raises InputError where nothing did."""
    with db.reading() as session:
        result = session.get_one(Job, job.id).result
    if result.keys().isdisjoint(("demonstration", "refused")):
        raise InputError("the package no longer exists; send it again")
    return _ended(db, store.files, job, result)


def _ended(db: Database, files: Files, job: Job, result: dict[str, Any]) -> dict[str, Any]:
    """Note the result of a job, then take its package away. Raises InputError for what was refused."""
    with db.writing() as session:
        session.get_one(Job, job.id, with_for_update=True).result = result
    files.remove(job.arguments["file"], job.arguments.get("pieces", 0))
    if "refused" in result:
        raise InputError(result["refused"])
    return result


@dataclass(frozen=True)
class Package:
    """A package that a job imports, or could not: its `file` in the store, made of so many `pieces`. `is_awaited`: the
    job is yet to be done."""

    file: str
    pieces: int
    is_awaited: bool


def packages_of_jobs(session: Session) -> list[Package]:
    """The packages that are not imported yet."""
    jobs = session.scalars(select(Job).where(Job.kind == KIND, Job.state != DONE).order_by(Job.id))
    return [Package(job.arguments["file"], job.arguments.get("pieces", 0), job.state != JOB_FAILED)
            for job in jobs if "removed" not in job.result]


class UploadService:
    """The uploads of one store."""

    def __init__(self, db: Database, files: Files, jobs: Jobs, days: float = UNFINISHED_DAYS):
        """`days`: how long an upload may rest before it is given up."""
        self._db, self._files, self._jobs, self._days = db, files, jobs, days

    def plan(self, user_name: str, upload_id: str, size: int, chunk_size: int, digests: list[str],
             project: str = MAIN) -> UploadStatus:
        """Begin an upload into a project, or go on with it. Another plan for the same package begins it again, unless
        it is in already.

        Raises InputError for a plan that cannot be or is more than the user may have unfinished, DiskFull.
        """
        _check_plan(upload_id, size, chunk_size, digests)
        try:
            self._plan(user_name, upload_id, size, chunk_size, digests, project)
        except IntegrityError:  # PostgreSQL: another user began one of that name at the same moment
            self._plan(user_name, upload_id, size, chunk_size, digests, project)
        return self.status(user_name, upload_id)

    def _plan(self, user_name: str, upload_id: str, size: int, chunk_size: int, digests: list[str],
              project: str) -> None:
        with self._db.writing() as session:
            session.get(User, user_name,
                        with_for_update=True)  # whose unfinished uploads are counted one plan after another
            row = _row(session, user_name, upload_id, lock=True)
            if row is None:
                self._require_room(session, user_name, upload_id, size)
                now = datetime.now(UTC)
                session.add(Upload(id=_free_id(session, upload_id), who=user_name, name=upload_id, size=size,
                                   chunk_size=chunk_size, digests=digests, project=project, state=RECEIVING,
                                   begun_at=now, touched_at=now))
            elif _outcome(session, row).state == FAILED or (
                    row.state == RECEIVING and (row.size, row.chunk_size, row.digests) != (size, chunk_size, digests)):
                self._require_room(session, user_name, upload_id, size)
                session.execute(delete(UploadedChunk).where(UploadedChunk.upload_id == row.id))
                self._files.remove(_file(row.id), len(row.digests))
                row.size, row.chunk_size, row.digests, row.state, row.job = size, chunk_size, digests, RECEIVING, None
                row.project, row.touched_at = project, datetime.now(UTC)
            elif row.state == RECEIVING:
                row.project = project

    def awaited(self, user_name: str, upload_id: str, number: int) -> int | None:
        """How many bytes a chunk has by the plan; None when it is there already. Raises NotFound."""
        status = self.status(user_name, upload_id)
        if not 0 <= number < len(status.row.digests):
            raise NotFound(f"unknown chunk {number}; the upload has {len(status.row.digests)}")
        if status.row.state != RECEIVING or number in status.received:
            return None
        return min(status.row.chunk_size, status.row.size - number * status.row.chunk_size)

    def put(self, user_name: str, upload_id: str, number: int, content: bytes) -> None:
        """Store a chunk; storing it again changes nothing.

        Raises NotFound, DiskFull, and InputError when it is not what the plan says.
        """
        planned = self.awaited(user_name, upload_id, number)
        if planned is None:
            return
        row = self.status(user_name, upload_id).row
        upload_id = row.id
        require_length(number, planned, len(content))
        if hashlib.sha256(content).hexdigest() != row.digests[number]:
            raise InputError(f"chunk {number}: its SHA-256 is not the declared one; send it again")
        self._files.require_room(len(content))
        self._files.put(_file(upload_id), number, number * row.chunk_size, content)
        with self._db.writing() as session:
            upload = session.get(Upload, upload_id, with_for_update=True)
            if upload is None:  # given up at this moment
                self._files.remove(_file(upload_id), len(row.digests))
                raise NotFound("unknown upload")
            upload.touched_at = datetime.now(UTC)
            if not session.get(UploadedChunk, (upload_id, number)):
                session.add(UploadedChunk(upload_id=upload_id, number=number))

    def finish(self, user_name: str, upload_id: str) -> UploadStatus:
        """All is sent: import it in the background. Raises Conflict when chunks are missing."""
        status = self.status(user_name, upload_id)
        if status.state == RECEIVING:
            if missing := len(status.row.digests) - len(status.received):
                raise Conflict(f"{missing} chunks are missing")
            with self._db.together() as (session, joined):
                row = _row(session, user_name, upload_id, lock=True)
                if row and row.state == RECEIVING:
                    row.state = PROCESSING
                    row.job = self._jobs.add(KIND, user_name, {"file": _file(row.id), "name": f"recording {upload_id}",
                                                               "who": user_name, "pieces": len(row.digests)}, joined,
                                             row.project)
            self._jobs.wake()
        return self.status(user_name, upload_id)

    def status(self, user_name: str, upload_id: str) -> UploadStatus:
        """How far an upload has come; raises NotFound, also for somebody else's."""
        with self._db.reading() as session:
            row = _row(session, user_name, upload_id) if ID.fullmatch(upload_id) else None
            if row is None:
                raise NotFound("unknown upload")
            received = session.scalars(select(UploadedChunk.number).where(UploadedChunk.upload_id == row.id)
                                       .order_by(UploadedChunk.number)).all()
            outcome = _outcome(session, row)
        return replace(outcome, received=list(received))

    def give_up_old(self) -> None:
        """Take away the uploads that have rested too long, and what is left of packages that could not be imported."""
        before = datetime.now(UTC) - timedelta(days=self._days)
        with self._db.reading() as session:
            ids = session.scalars(select(Upload.id).where(Upload.state == RECEIVING, Upload.touched_at < before)).all()
            failed = session.scalars(select(Job.id).where(Job.kind == KIND, Job.state == JOB_FAILED,
                                                          Job.ended_at < before)).all()
        for upload_id in ids:
            self._give_up(upload_id, before)
        for job_id in failed:
            self._forget_package(job_id)

    def _give_up(self, upload_id: str, before: datetime) -> None:
        with self._db.writing() as session:
            row = session.get(Upload, upload_id, with_for_update=True)
            if row is None or row.state != RECEIVING or row.touched_at >= before:
                return
            self._files.remove(_file(upload_id), len(row.digests))
            session.execute(delete(UploadedChunk).where(UploadedChunk.upload_id == upload_id))
            session.delete(row)
            audit.note(session, row.who, "upload given up", upload=upload_id, size=row.size)

    def _forget_package(self, job_id: int) -> None:
        """Its job was stopped again and again, or the store was away: then the package is still there."""
        with self._db.writing() as session:
            job = session.get(Job, job_id, with_for_update=True)
            if job is None or "removed" in job.result:
                return
            file = job.arguments["file"]
            if not session.scalars(select(Upload.id).where(Upload.state == RECEIVING,
                                                           Upload.id == Path(file).stem)).first():
                self._files.remove(file, job.arguments.get("pieces", 0))
            job.result = {"removed": True}

    def _require_room(self, session: Session, user_name: str, upload_id: str, size: int) -> None:
        """Raises InputError when the user's other unfinished uploads are too many with this one, DiskFull."""
        count, total = session.execute(select(func.count(), func.coalesce(func.sum(Upload.size), 0)).where(
            Upload.who == user_name, Upload.state == RECEIVING, Upload.name != upload_id)).one()
        if count >= limits.UNFINISHED:
            raise InputError(f"{count} uploads are unfinished; finish some of them first")
        if total + size > limits.UNFINISHED_BYTES:
            raise InputError(f"uploads of {limits.size(int(total))} are unfinished; this one exceeds the limit of "
                             f"{limits.size(limits.UNFINISHED_BYTES)}; finish some of them first")
        self._files.require_room(size)


def notice(result: dict[str, Any]) -> str | None:
    """What there is to know of an import that went well, for who sent it."""
    if "sent_as" not in result:
        return None
    return (f"another user's recording has the id {result['sent_as']}; yours is stored as {result['demonstration']}")


def require_length(number: int, planned: int, length: int) -> None:
    """Raises InputError when a chunk has another length than planned."""
    if length != planned:
        raise InputError(f"chunk {number}: {length} bytes, but {planned} were declared")


def _row(session: Session, user_name: str, name: str, *, lock: bool = False) -> Upload | None:
    """The upload that this user calls so; others' of the same name are none of theirs."""
    wanted = select(Upload).where(Upload.who == user_name, Upload.name == name)
    return session.scalars(wanted.with_for_update() if lock else wanted).first()


def _free_id(session: Session, name: str) -> str:
    """An id for a new upload, its name if no other has that; the package's file is called by it."""
    return name if session.get(Upload, name) is None else f"{name[:ID_LENGTH - 17]}-{secrets.token_hex(8)}"


def _outcome(session: Session, row: Upload) -> UploadStatus:
    """What has become of an upload, without its chunks."""
    job = session.get(Job, row.job) if row.state == PROCESSING and row.job else None
    if job is not None and job.state == DONE:
        return UploadStatus(row, [], IMPORTED, demonstration=job.result["demonstration"], notice=notice(job.result))
    if job is not None and job.state == JOB_FAILED:
        return UploadStatus(row, [], FAILED, error=job.note)
    return UploadStatus(row, [], row.state, row.demonstration, row.error)


def _file(upload_id: str) -> str:
    return f"uploads/{upload_id}.zip"


def _check_plan(upload_id: str, size: int, chunk_size: int, digests: list[str]) -> None:
    if not ID.fullmatch(upload_id):
        raise InputError("id: must have at most 100 letters, digits, - and _")
    if size > limits.UPLOAD:
        raise InputError(f"size: larger than {limits.size(limits.UPLOAD)}")
    if not 0 < chunk_size <= limits.CHUNK or len(digests) != -(-size // chunk_size):
        raise InputError(f"chunks: {len(digests)} of {chunk_size} bytes do not add up to {size} bytes")
