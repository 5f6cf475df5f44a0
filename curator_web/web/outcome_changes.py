"""Reading and changing the outcome checks of a demonstration, for the page and for the API."""

from collections.abc import Mapping
from typing import Any

from curator_web.demonstrations import library, outcomes, workflow
from curator_web.errors import ErrorText, InputError
from pipeline.outcomes import session_checks
from schemas.files import validated
from schemas.outcome import OutcomeSchema
from schemas.outcome_types import Outcome, OutcomeCheck

from .accounts import account
from .context import services
from .sandboxed import list_sandboxed

_SCHEMA = OutcomeSchema()


def save(review: library.Review, outcome: Outcome | None, version: int) -> int:
    """Keep other checks and return the new version. Raises as `expect_outcome` and `workflow.edit` do."""
    change = {"op": "set_outcome", "outcome": outcome}
    require_outcome(change, review)
    return workflow.edit(services().db, review.row.id, change, version, account(), known=review).version


def require_outcome(edit: Mapping[str, Any], review: library.Review) -> None:
    """Raises InputError for a `set_outcome` whose checks are not as the format has them, name a picture that the
    recording does not have, or say nothing of their own session (`outcomes.expect_sound`)."""
    if edit["outcome"] is None:
        return
    outcome = validated(edit["outcome"], _SCHEMA, "outcome")
    recording = services().store.open(review.row.recording)
    if missing := services().store.lacks(recording.id, outcomes.pictures_of(outcome)):
        raise InputError(ErrorText("field picture: this recording has no picture %(missing)s", missing=missing[0]))
    outcomes.require_sound(outcome, review.outcome,
                          list_sandboxed(session_checks.examine_checks, recording, outcome, review.part))


def proposals(review: library.Review) -> list[OutcomeCheck]:
    """Checks that the session suggests and that are not there yet; raises InputError when it shows no page."""
    recording = services().store.open(review.row.recording)
    existing = review.outcome["checks"] if review.outcome else []
    suggested = list_sandboxed(session_checks.proposals, recording, review.turns, review.part)
    return [check for check in suggested if check not in existing]
