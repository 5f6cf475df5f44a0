"""Facts of the recording that an edit may refer to: pictures, pages, elements, the end of the session.

Recordings are opened in a sandbox, before the demonstration is locked: what an edit refers to in a recording never
changes.
"""

from collections.abc import Callable, Mapping
from typing import Any

from curator_web.demonstrations.library.library import Review
from curator_web.errors import ErrorText, InputError
from curator_web.sandboxed import list_sandboxed, run_sandboxed
from curator_web.storage.recordings import RecordingStore
from pipeline.outcomes import session_checks
from recorder.pictures import pixels_of
from recorder.reader import Recording
from schemas import limits
from schemas.files import validated
from schemas.formats.outcome import OutcomeSchema

from . import added_actions, outcomes

_OUTCOME = OutcomeSchema()
Requirement = Callable[[Mapping[str, Any], Review, RecordingStore], None]


def concerns_recording(edit: Mapping[str, Any]) -> bool:
    """Whether an edit refers to facts of the recording."""
    return edit.get("op") in _REQUIREMENTS


def require_recorded(edit: Mapping[str, Any], review: Review, store: RecordingStore) -> None:
    """Raises InputError for an edit that refers to a picture, a page, an element or an end of the session that its
    recording does not have; NotFound, Damaged, Busy."""
    if concerns_recording(edit):
        _REQUIREMENTS[edit["op"]](edit, review, store)


def _require_picture(edit: Mapping[str, Any], review: Review, store: RecordingStore) -> None:
    if not run_sandboxed(_is_picture, store.open(review.row.recording), edit.get("screenshot", "")):
        raise InputError(ErrorText("field screenshot: unknown picture in this recording"))


def _is_picture(recording: Recording, sha256: str) -> bool:
    try:
        return 0 < pixels_of(recording.blob(sha256)) <= limits.PIXELS
    except InputError:
        return False


def _require_action(edit: Mapping[str, Any], review: Review, store: RecordingStore) -> None:
    added_actions.require_possible_action(edit, review, store.open(review.row.recording))


def _require_outcome(edit: Mapping[str, Any], review: Review, store: RecordingStore) -> None:
    """Checks are as the format has them, compare with pictures of this recording, and hold at its end only."""
    if edit.get("outcome") is None:
        return
    outcome = validated(edit["outcome"], _OUTCOME, "outcome")
    recording = store.open(review.row.recording)
    if missing := store.lacks(recording.id, outcomes.pictures_of(outcome)):
        raise InputError(ErrorText("field picture: unknown picture %(missing)s in this recording", missing=missing[0]))
    outcomes.require_sound(outcome, review.outcome,
                           list_sandboxed(session_checks.examine_checks, recording, outcome, review.part))


_REQUIREMENTS: dict[str, Requirement] = {
    "set_screenshot": _require_picture, "add": _require_action, "set_outcome": _require_outcome}
