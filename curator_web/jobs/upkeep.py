"""Database and storage compared with each other, both ways; and taking away what nothing refers to."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import BaseTurns, Demonstration, Upload
from curator_web.db.models.job_models import DONE, JOB_FAILED, Job
from curator_web.demonstrations.library.damage import blobs_of
from curator_web.errors import NotFound, ServiceUnavailable
from curator_web.storage.recordings import RecordingStore
from curator_web.users import BY_COMMAND
from schemas import DemotapeError

from . import exporting, upload_service

MISSING, LACKS, BROKEN = "recording missing", "blobs missing", "recording broken"
UNKNOWN, EXPORT, OLD_EXPORT, PACKAGE = (
    "recording without a demonstration", "export without a job", "old export", "package without a job")
AT_REST = timedelta(days=1)  # what came later may belong to something that is just being made
Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class Finding:
    """Something that does not fit: `name` is a demonstration's, a recording's or a file's; `size` in bytes, where
    something lies in the storage for nothing."""

    kind: str
    name: str
    detail: str = ""
    size: int = 0


def check(db: Database, store: RecordingStore, progress: Progress = lambda done, total: None) -> Iterator[Finding]:
    """What does not fit between database and storage. Every recording is opened, and every picture and page that a
    demonstration began with is looked for. Raises DatabaseUnavailable, StoreUnavailable."""
    with db.reading() as session:
        owners = {row.recording: row.id for row in session.execute(
            select(BaseTurns.demonstration_id.label("id"), Demonstration.recording)
            .join(Demonstration, Demonstration.id == BaseTurns.demonstration_id).order_by(Demonstration.id))}
    for number, (recording, demonstration) in enumerate(owners.items()):
        progress(number, len(owners))
        yield from _of_recording(db, store, recording, demonstration)
    progress(len(owners), len(owners))
    yield from unused(db, store, older_than=None)


def unused(db: Database, store: RecordingStore, older_than: timedelta | None) -> Iterator[Finding]:
    """What lies in the storage and nothing refers to, and exports older than that."""
    now = datetime.now(UTC)
    with db.reading() as session:
        known = set(session.scalars(select(Demonstration.recording)))
        packages = _packages(session)
        exports = {exporting.file_of(job.id): job.ended_at for job in session.scalars(
            select(Job).where(Job.kind == exporting.KIND, Job.state != JOB_FAILED))}
    for name, changed in store.listed():
        if name not in known and changed < now - AT_REST:
            yield Finding(UNKNOWN, name)
    for name, size, changed in store.files.listed("exports"):
        if name not in exports and changed < now - AT_REST:
            yield Finding(EXPORT, name, size=size)
        elif older_than is not None and (ended := exports.get(name)) and ended < now - older_than:
            yield Finding(OLD_EXPORT, name, f"of {ended:%Y-%m-%d}", size)
    for name, size, changed in store.files.listed("uploads"):
        if name.partition(".zip")[0] + ".zip" not in packages and changed < now - AT_REST:
            yield Finding(PACKAGE, name, size=size)


def remove(db: Database, store: RecordingStore, finding: Finding) -> None:
    """Take away what `unused` found; recordings too, so choose what is given."""
    if finding.kind == UNKNOWN:
        with db.writing() as session:  # it may have been imported since
            if not session.scalars(select(Demonstration.id).where(Demonstration.recording == finding.name)).first():
                store.remove(finding.name)
                audit.note(session, BY_COMMAND, "recording removed", finding.name)
        return
    if finding.kind == OLD_EXPORT:
        with db.writing() as session:
            job = session.get(Job, int(Path(finding.name).stem), with_for_update=True)
            if job is not None and job.state == DONE:
                job.result = job.result | {"removed": True}
    store.files.remove(finding.name)


def _of_recording(db: Database, store: RecordingStore, recording: str, demonstration: str) -> Iterator[Finding]:
    with db.reading() as session:
        base = session.get(BaseTurns, demonstration)
        wanted = blobs_of(base.content["turns"]) if base else set()
    try:
        store.open(recording)
        stored = {Path(name).name for name in store.stored_blobs(recording)}
    except NotFound:
        yield Finding(MISSING, recording, f"of demonstration {demonstration}")
        return
    except ServiceUnavailable:
        raise
    except DemotapeError as error:
        yield Finding(BROKEN, recording, store.without_paths(str(error)))
        return
    if lacking := len(wanted - stored):
        yield Finding(LACKS, recording, f"{lacking} of {len(wanted)}")


def _packages(session: Session) -> set[str]:
    """The packages that something refers to: uploads on their way, and jobs that are not done."""
    uploads = {f"uploads/{name}.zip" for name in session.scalars(
        select(Upload.id).where(Upload.state == "receiving"))}
    return uploads | {package.file for package in upload_service.packages_of_jobs(session)}
