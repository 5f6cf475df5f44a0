"""The last result of outcome checks on a demonstration, for exports: success, failure, or undecided.

Labels of people and verdicts of judges are not part of it: nobody may learn those of a demonstration before they have
labelled it, and an export or its counts would show them.
"""

from collections.abc import Mapping
from contextlib import suppress

from sqlalchemy import update

from curator_web.db.database import Database
from curator_web.db.models.core import Demonstration
from curator_web.errors import DemotapeError
from curator_web.sandboxed import run_sandboxed
from pipeline.outcomes import session_checks
from pipeline.outcomes.checking import RESULT_WORDS
from recorder.reader import Recording
from schemas import types


def evaluate_own(db: Database, recording: Recording, demonstration: types.Demonstration) -> None:
    """Store the result of the checks that came with a recording, at its end; nothing if they cannot be evaluated."""
    with suppress(DemotapeError):
        tried = run_sandboxed(session_checks.try_on_session, recording, demonstration["outcome"], recording)
        store_results(db, {demonstration["id"]: tried["holds"]})


def store_results(db: Database, results: Mapping[str, bool | None]) -> None:
    """Store whether the checks hold (None: undecided) on demonstrations, by id."""
    with db.writing() as session:
        for demonstration_id, holds in results.items():
            session.execute(update(Demonstration).where(Demonstration.id == demonstration_id)
                            .values(outcome=RESULT_WORDS[holds]).execution_options(synchronize_session=False))
