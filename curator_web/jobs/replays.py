"""The job that runs demonstrations again and keeps what that proves of them."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import Demonstration
from curator_web.db.models.job_models import QUEUED, RUNNING, Job
from curator_web.demonstrations.library import library, replay_proofs
from curator_web.errors import Conflict, DemotapeError, ErrorText, InputError, NotFound, ServiceUnavailable
from curator_web.storage.recordings import RecordingStore
from curator_web.users import Account
from recorder.reader import Recording
from schemas.types.proof import Proof
from schemas.types.recordings import Demonstration as Turns
from schemas.types.recordings import State

from .queue import Jobs, Step

KIND = "replay"
MAX_DEMONSTRATIONS = 200  # demonstrations of one job
REFUSED_SHOWN = 20
# Runs a demonstration again: told how many of its turns are done, and given what keeps a screenshot and names its blob,
# and the state that its last turn led to where that is not the recording's last.
RunAgain = Callable[[Recording, Turns, Callable[[int, int], None], Callable[[bytes], str], State | None], Proof]


def begin(db: Database, store: RecordingStore, jobs: Jobs, ids: Sequence[str], account: Account) -> Job:
    """Begin a job that replays demonstrations; for a single one with an unfinished job, that job is returned instead.

    Raises InputError for none or too many, or for a single one whose recording cannot be served; NotFound; Conflict
    when the server does not replay demonstrations.
    """
    if KIND not in jobs.kinds:
        raise Conflict(ErrorText("this server does not replay demonstrations; use demotape replay run"))
    ids = list(dict.fromkeys(ids))
    if not 0 < len(ids) <= MAX_DEMONSTRATIONS:
        raise InputError(ErrorText("field ids: must have 1 to %(most)s demonstrations", most=MAX_DEMONSTRATIONS))
    for demonstration_id in ids:
        row = library.listed(db, demonstration_id)
        if row.home != account.project:
            raise NotFound(ErrorText("unknown demonstration %(each)r", each=demonstration_id))
        if len(ids) == 1 and not can_run(store.open(row.recording)):
            raise InputError(ErrorText("the network of this recording was not recorded, so it cannot be replayed; "
                                       "record with --replayable"))
    if len(ids) == 1 and (waiting := latest(db, ids[0])) and waiting.state in (QUEUED, RUNNING):
        return waiting
    return jobs.get(jobs.add(KIND, account.name, {"ids": ids}, project=account.project))


def can_run(recording: Recording) -> bool:
    """Whether a recording kept what it takes to be served again."""
    return bool(recording.manifest["options"].get("replayable"))


def latest(db: Database, demonstration_id: str) -> Job | None:
    """The last job that runs this demonstration alone."""
    with db.reading() as session:
        home = session.scalars(select(Demonstration.project).where(Demonstration.id == demonstration_id)).one()
        rows = session.scalars(select(Job).where(Job.kind == KIND, Job.project == home).order_by(Job.id.desc())
                               .limit(MAX_DEMONSTRATIONS))
        return next((job for job in rows if job.arguments["ids"] == [demonstration_id]), None)


def run(run_again: RunAgain, db: Database, store: RecordingStore, job: Job, step: Step) -> dict[str, Any]:
    """The job: returns how many came to each verdict, and why some could not be run; that of one alone is raised."""
    ids: list[str] = job.arguments["ids"]
    verdicts, refused = Counter[str](), list[dict[str, str]]()
    for number, demonstration_id in enumerate(ids):
        report = partial(_report, step, number, len(ids), demonstration_id)
        try:
            verdicts[_run_one(run_again, db, store, demonstration_id, job.who, report)] += 1
        except ServiceUnavailable:
            raise
        except DemotapeError as error:
            if len(ids) == 1:
                raise
            refused.append({"id": demonstration_id, "reason": store.without_paths(str(error))})
    single = {"demonstration": ids[0]} if len(ids) == 1 else {}
    return {**single, "demonstrations": len(ids), "verdicts": dict(verdicts), "refused": len(refused),
            "first": refused[:REFUSED_SHOWN]}


def _report(step: Step, number: int, total: int, name: str, done: int, turns: int) -> None:
    if total == 1:
        step(done, turns, name)
    else:
        step(number, total, name)


def _run_one(run_again: RunAgain, db: Database, store: RecordingStore, demonstration_id: str, user_name: str,
             report: Callable[[int, int], None]) -> str:
    review = library.review(db, demonstration_id)
    recording = store.open(review.row.recording)
    proof = run_again(recording, review.checked(), report, partial(store.store_blob, recording), review.state_after)
    with db.writing() as session:
        _store(session, demonstration_id, proof, user_name)
    return proof["verdict"]


def _store(session: Session, demonstration_id: str, proof: Proof, user_name: str) -> None:
    review = library.load(session, demonstration_id, lock=True)  # somebody may have changed it meanwhile
    replay_proofs.store_proof(session, review.row, review.turns, proof, user_name)
    audit.note(session, user_name, "run again", demonstration_id, verdict=proof["verdict"])
