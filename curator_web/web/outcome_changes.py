"""Reading and changing the outcome checks of a demonstration, for the page and for the API."""

from curator_web.demonstrations import library, workflow
from curator_web.sandboxed import list_sandboxed
from pipeline.outcomes import session_checks
from schemas.outcome_types import Outcome, OutcomeCheck

from .accounts import account
from .context import services


def save(review: library.Review, outcome: Outcome | None, version: int) -> int:
    """Replace the checks and return the new version. Raises as `workflow.edit` does."""
    change = {"op": "set_outcome", "outcome": outcome}
    return workflow.edit(services().db, services().store, review.row.id, change, version, account(),
                         known=review).version


def proposals(review: library.Review) -> list[OutcomeCheck]:
    """Checks that the session suggests and that are not there yet; raises InputError when it shows no page."""
    recording = services().store.open(review.row.recording)
    existing = review.outcome["checks"] if review.outcome else []
    suggested = list_sandboxed(session_checks.proposals, recording, review.turns, review.part)
    return [check for check in suggested if check not in existing]
