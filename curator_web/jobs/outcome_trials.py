"""The job that tries the outcome checks of a demonstration on every session of the same task, people's and agents'."""

from typing import Any

from sqlalchemy import select

from curator_web.db.database import Database
from curator_web.db.models.core import Demonstration
from curator_web.db.models.job_models import QUEUED, RUNNING, Job
from curator_web.demonstrations.library import library, outcome_results
from curator_web.demonstrations.workflow import outcomes
from curator_web.errors import DemotapeError, ErrorText, InputError, ServiceUnavailable
from curator_web.storage.recordings import RecordingStore
from curator_web.users import Account
from pipeline.outcomes import session_checks
from pipeline.sandbox import Allowance, Processes
from recorder.reader import Recording
from schemas import limits
from schemas.types.outcome import Outcome

from .queue import Jobs, Step

KIND = "trial"
_MAX_TRIALS_SEARCHED = 200  # of the last trials of a project, for that of one demonstration
_PROCESSES = Processes(1, niceness=10)
_ALLOWANCE = Allowance(limits.TRIAL_SECONDS, limits.WORK_MEMORY, limits.JOB_CLOCK)


def begin(db: Database, jobs: Jobs, demonstration_id: str, account: Account) -> Job:
    """Have the checks of a demonstration tried; where that waits already, the job that it waits for. Raises InputError
    where there are none, NotFound."""
    if library.review(db, demonstration_id).outcome is None:
        raise InputError(ErrorText("no outcome checks; write or propose some first"))
    if (waiting := latest(db, demonstration_id)) and waiting.state in (QUEUED, RUNNING):
        return waiting
    return jobs.get(jobs.add(KIND, account.name, {"demonstration": demonstration_id}, project=account.project))


def latest(db: Database, demonstration_id: str) -> Job | None:
    """The last job that tried the checks of a demonstration."""
    with db.reading() as session:
        home = session.scalars(select(Demonstration.project).where(Demonstration.id == demonstration_id)).one()
        rows = session.execute(select(Job.id, Job.arguments).where(Job.kind == KIND, Job.project == home)
                               .order_by(Job.id.desc()).limit(_MAX_TRIALS_SEARCHED))
        job_id = next((number for number, arguments in rows if arguments["demonstration"] == demonstration_id), None)
        return session.get(Job, job_id) if job_id else None


def run(db: Database, store: RecordingStore, job: Job, step: Step) -> dict[str, Any]:
    """The job: returns the checks and a row for each session, those that could not be tried with the reason."""
    review = library.review(db, job.arguments["demonstration"])
    outcome = review.outcome
    if outcome is None:
        raise InputError(ErrorText("the outcome checks were deleted by another user"))
    home, rows = store.open(review.row.recording), []
    ids = outcomes.of_same_task(db, review.row)
    for number, demonstration_id in enumerate(ids):
        step(number, len(ids), demonstration_id)
        rows.append({"id": demonstration_id} | _row(db, store, demonstration_id, outcome, home))
    outcome_results.store_results(db, {row["id"]: row["holds"] for row in rows if "holds" in row})
    return {"demonstration": review.row.id, "outcome": outcome, "rows": rows}


def _row(db: Database, store: RecordingStore, demonstration_id: str, outcome: Outcome, home: Recording
         ) -> dict[str, Any]:
    try:
        review = library.review(db, demonstration_id)
        recording = store.open(review.row.recording)
        return _PROCESSES.run(_ALLOWANCE, f"recording {recording.id}", session_checks.try_on_session, recording,
                              outcome, home,
                              review.part)
    except ServiceUnavailable:
        raise
    except DemotapeError as error:
        return {"failed": store.without_paths(str(error))}
