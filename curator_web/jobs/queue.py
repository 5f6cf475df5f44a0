"""Work in the background: kept in the database, so that it survives a restart, and done by whichever process is free.

A worker says every few seconds that it is alive. A job whose worker fell silent is begun again by another, a few times.
A job that meets something that is away waits, and is tried again, until that is there or has been away for too long.
"""

import logging
import math
import os
import secrets
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from sqlalchemy import case, false, func, or_, select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import MAIN
from curator_web.db.models.job_models import DONE, JOB_FAILED, QUEUED, RUNNING, Job
from curator_web.errors import (
    Conflict,
    DatabaseUnavailable,
    DemotapeError,
    DiskFull,
    NotAllowed,
    NotFound,
    ServiceUnavailable,
)
from curator_web.notifications import publish
from curator_web.users import Account
from curator_web.webhooks import events
from schemas.files import is_disk_full

BEAT = 5.0  # seconds between two signs of life
SILENCE = timedelta(seconds=20)  # after it a worker counts as gone
# times that a server was stopped while it did a job: then the job rests longer; then it has failed
PAUSE_AFTER_STOPS, MAX_ATTEMPTS = 3, 10
LONGER = 3  # times the silence
FIRST_PAUSE, LAST_PAUSE = timedelta(seconds=5), timedelta(seconds=60)  # before what was away is asked again
PATIENCE = timedelta(days=7)  # how long something may be away
CHORES_EVERY = 600.0  # seconds
SHOWN = 20
NOTE_LENGTH = 2000
LAST_ID = 2**31 - 1
Step = Callable[[int, int | None, str], None]  # done, total, what is being done
Work = Callable[[Job, Step], dict[str, Any]]  # what a kind of job does
_log = logging.getLogger(__name__)


class Dispatcher(Protocol):
    """Something else that works in the background, as long as this process works on jobs."""

    def start(self) -> None:
        """Begin, once."""

    def close(self) -> None:
        """End."""


class Jobs:
    """The jobs of one database. `kinds`: what each kind does with its job and a `Step`; returns JSON.

    `chores`: what each process does at its start and every few minutes; several may do it at once. `describe`: an
    error's text as users may read it. `dispatcher` starts and stops with this. `patience`: how long a job waits for a
    service that is away before it fails. `require_room`: raises DiskFull while the disk is full; jobs then wait,
    too.
    """

    def __init__(self, db: Database, kinds: Mapping[str, Work], silence: timedelta = SILENCE,
                 chores: Sequence[Callable[[], object]] = (), describe: Callable[[str], str] = str,
                 dispatcher: Dispatcher | None = None, patience: timedelta = PATIENCE,
                 require_room: Callable[[], object] = lambda: None):
        self._db, self._kinds, self._silence, self._chores = db, kinds, silence, chores
        self._translate, self._dispatcher = describe, dispatcher
        self._patience, self._require_room = patience, require_room
        self._chores_at = 0.0  # when they are due
        self._away_at = -math.inf  # when the database was last away
        self._name = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._wake, self._end = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def kinds(self) -> Collection[str]:
        """The kinds of jobs that this process does."""
        return self._kinds.keys()

    def start(self) -> None:
        """Have this process work on jobs, those that others left unfinished too."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, daemon=True, name="jobs")
            self._thread.start()
            if self._dispatcher:
                self._dispatcher.start()

    def close(self) -> None:
        """End after the job that is being done."""
        self._end.set()
        self._wake.set()
        if self._dispatcher:
            self._dispatcher.close()
        if self._thread:
            self._thread.join()

    def add(self, kind: str, user_name: str, arguments: dict[str, Any], db: Database | None = None,
            project: str = MAIN) -> int:
        """Queue a job of a project and return its id.

        With a `db` that is inside somebody else's transaction, the job is there when that is; then call `wake`.
        """
        with (db or self._db).writing() as session:
            job = Job(kind=kind, project=project, who=user_name, state=QUEUED, arguments=arguments, note="", result={},
                      made_at=datetime.now(UTC))
            session.add(job)
            session.flush()
            audit.note(session, user_name, f"{kind} begun", job=job.id)
            number = job.id
        if db is None:
            self.wake()
        return number

    def retry(self, job_id: int, account: Account) -> Job:
        """Queue a job that failed once more, with what it was given. Raises NotFound, NotAllowed for somebody else's,
        Conflict for one that has not failed."""
        with self._db.writing() as session:
            job = session.get(Job, job_id, with_for_update=True) if job_id <= LAST_ID else None
            if job is None or job.project != account.project:
                raise NotFound(f"unknown job {job_id}")
            if not account.leads and job.who != account.name:
                raise NotAllowed("only the owner of this job or a lead can retry it")
            if job.state != JOB_FAILED:
                raise Conflict(f"job {job_id} is {job.state}; only failed jobs can be retried")
            job.state, job.note, job.tries, job.ended_at, job.next_at = QUEUED, "", 0, None, None
            job.waits_for = job.waits_since = None
            audit.note(session, account.name, f"{job.kind} tried again", job=job_id)
        self.wake()
        return self.get(job_id)

    def wake(self) -> None:
        """Look for work now."""
        self.start()
        self._wake.set()

    def get(self, job_id: int) -> Job:
        """A job as it is now; raises NotFound."""
        with self._db.reading() as session:
            job = session.get(Job, job_id) if job_id <= LAST_ID else None
        if job is None:
            raise NotFound(f"unknown job {job_id}")
        return job

    def failed(self, project: str) -> list[Job]:
        """The last jobs of a project that failed or wait for something that is away, the newest first."""
        with self._db.reading() as session:
            return list(session.scalars(
                select(Job).where(Job.project == project, or_(Job.state == JOB_FAILED, Job.waits_since.is_not(None)))
                .order_by(Job.id.desc()).limit(SHOWN)))

    def counts(self) -> dict[tuple[str, str], int]:
        """How many jobs of each kind are queued, wait for something that is away, run, or failed in the last day."""
        a_day_ago = datetime.now(UTC) - timedelta(days=1)
        state = case((Job.waits_since.is_not(None), "waiting"), else_=Job.state)
        with self._db.reading() as session:
            rows = session.execute(select(Job.kind, state, func.count()).where(
                or_(Job.state.in_((QUEUED, RUNNING)), (Job.state == JOB_FAILED) & (Job.ended_at > a_day_ago)))
                .group_by(Job.kind, state)).all()
        return {(kind, name): count for kind, name, count in rows}

    def latest(self, kind: str, project: str = MAIN) -> list[Job]:
        """The last jobs of a kind in a project, the newest first."""
        with self._db.reading() as session:
            return list(session.scalars(select(Job).where(Job.project == project, Job.kind == kind)
                                        .order_by(Job.id.desc()).limit(SHOWN)))

    def _work(self) -> None:
        while not self._end.is_set():
            self._wake.clear()
            try:
                while not self._end.is_set() and (job := self._claim()):
                    self._do(job)
            except (DatabaseUnavailable, DiskFull) as error:
                self._away_at = time.monotonic()
                _log.error("jobs: cannot look for work: %s", error)
            except Exception:
                _log.exception("jobs: cannot look for work")
            self._do_chores()
            self._wake.wait(BEAT)

    def _do_chores(self) -> None:
        if time.monotonic() < self._chores_at:
            return
        self._chores_at = time.monotonic() + CHORES_EVERY
        for chore in self._chores:
            try:
                chore()
            except Exception:  # the database or the store is away for a while
                _log.exception("jobs: a chore failed")

    def _claim(self) -> Job | None:
        now = datetime.now(UTC)
        with self._db.reading() as session:  # looking costs no turn to write
            if not session.scalars(self._open(now).limit(1)).first():
                return None
        with self._db.writing() as session:
            job = session.scalars(self._open(now).limit(1).with_for_update(skip_locked=True)).first()
            if job is None:
                return None
            job.tries += 1
            job.worker, job.beat_at, job.state = self._name, now, RUNNING
            job.next_at = None
            if job.tries > MAX_ATTEMPTS:
                job.state, job.note, job.ended_at = JOB_FAILED, "the job stopped the server several times", now
                _note_end(session, job, "stopped")
                return None
            return job

    def _open(self, now: datetime):
        silent = (Job.state == RUNNING) & or_(Job.beat_at.is_(None), Job.beat_at < case(
            (Job.tries < PAUSE_AFTER_STOPS, now - self._silence), else_=now - LONGER * self._silence))
        if time.monotonic() - self._away_at < self._silence.total_seconds():
            silent &= false()  # nobody could give a sign of life
        due = (Job.state == QUEUED) & or_(Job.next_at.is_(None), Job.next_at <= now)
        return select(Job).where(Job.kind.in_(list(self._kinds)), or_(due, silent)).order_by(Job.id)

    def _do(self, job: Job) -> None:
        stop = threading.Event()
        beating = threading.Thread(target=self._beat, args=(job.id, stop), daemon=True)
        beating.start()
        reported, began = 0.0, datetime.now(UTC)

        def step(done: int, total: int | None, note: str) -> None:
            nonlocal reported
            if time.monotonic() - reported > 0.3:
                reported = time.monotonic()
                with suppress(DatabaseUnavailable, DiskFull):  # it is told at the next step
                    self._update_own(job.id, done=done, total=total, note=note[:500])

        ended: dict[str, Any]
        failure = ""
        try:
            result = self._kinds[job.kind](job, step)
        except Exception as error:
            waiting = self._waiting(job, error, began)
            failure = "" if waiting else type(error).__name__
            ended = waiting or {"state": JOB_FAILED, "note": self._describe(error)[:NOTE_LENGTH]} | self._ended()
        else:
            ended = {"state": DONE, "result": result, "note": ""} | self._ended()
        finally:
            stop.set()
            beating.join()
        self._record_end(job.id, failure, **ended)

    def _waiting(self, job: Job, error: Exception, began: datetime) -> dict[str, Any] | None:
        """What is noted of a job that met something that is away; None where it has failed. The longer that is away,
        the longer it is until it is asked again."""
        if not isinstance(error, ServiceUnavailable):
            if not (is_disk_full(error) or self._is_full()):
                return None
            error = DiskFull(DiskFull.message)
        now = datetime.now(UTC)
        # What was away before it worked for a while is another matter.
        since = job.waits_since if job.waits_since and now - began < LAST_PAUSE else now
        if now - since > self._patience:
            return None
        _log.error("job %d waits for the %s: %s", job.id, error.service, error)
        pause = min(max((now - since) / 2, FIRST_PAUSE), LAST_PAUSE)
        return {"state": QUEUED, "waits_for": error.service, "waits_since": since, "next_at": now + pause,
                "tries": job.tries - 1, "worker": None, "note": ""}

    def _is_full(self) -> bool:
        """Whether what fails now may have failed because of that."""
        try:
            self._require_room()
        except DiskFull:
            return True
        return False

    @staticmethod
    def _ended() -> dict[str, Any]:
        return {"ended_at": datetime.now(UTC), "waits_for": None, "waits_since": None}

    def _record_end(self, job_id: int, failure: str, **fields: Any) -> None:
        """As `_update_own`, tried again while the database is away; if another worker takes the job over meanwhile, its
        result counts."""
        while True:
            try:
                return self._update_own(job_id, failure, **fields)
            except (DatabaseUnavailable, DiskFull) as error:
                _log.error("jobs: cannot tell how job %d ended: %s", job_id, error)
                if self._end.wait(BEAT):
                    return None

    def _beat(self, job_id: int, stop: threading.Event) -> None:
        while not stop.wait(BEAT):
            with suppress(DatabaseUnavailable, DiskFull):
                self._update_own(job_id, beat_at=datetime.now(UTC))

    def _describe(self, error: Exception) -> str:
        """Why a job failed, for who began it; of faults of the app's own nothing is told."""
        if isinstance(error, ServiceUnavailable):
            _log.error("%s", error)
            return error.message
        if isinstance(error, DemotapeError):
            return self._translate(str(error))
        _log.error("a job failed", exc_info=error)
        return "internal error; details are in the server's log"

    def _update_own(self, job_id: int, failure: str = "", **fields) -> None:
        """Set columns of a job, unless another worker has taken it over meanwhile, and note its end if they end it.
        `failure`: the kind of error that ended it."""
        with self._db.writing() as session:
            own_job = select(Job).where(Job.id == job_id, Job.worker == self._name, Job.state == RUNNING)
            if job := session.scalars(own_job.with_for_update()).first():
                for name, value in fields.items():
                    setattr(job, name, value)
                if job.ended_at:
                    _note_end(session, job, failure)


def _note_end(session: Session, job: Job, failure: str) -> None:
    if failure:
        audit.note(session, job.who, f"{job.kind} job failed", job=job.id, error=failure)
    publish.of_job(session, job)
    events.of_job(session, job)
