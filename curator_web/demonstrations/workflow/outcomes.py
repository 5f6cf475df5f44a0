"""Outcome checks of a demonstration: what is refused before they are kept, and the sessions that they are tried on."""

from collections.abc import Iterable, Sequence

from sqlalchemy import and_, or_, select

from curator_web.db.database import Database
from curator_web.db.models.core import COPIES, Demonstration
from curator_web.demonstrations.leases import visibility
from curator_web.demonstrations.library.library import Review
from curator_web.errors import ErrorText, InputError
from curator_web.sandboxed import list_sandboxed
from curator_web.storage.recordings import RecordingStore
from curator_web.users import Account
from pipeline.outcomes import session_checks
from pipeline.outcomes.session_checks import CheckExamination
from pipeline.outcomes.wording import describe_check
from schemas.types.outcome import Outcome, OutcomeCheck

MAX_SESSIONS = 200  # sessions that checks are tried on at once


def require_sound(outcome: Outcome, before: Outcome | None, examined: Sequence[CheckExamination]) -> None:
    """Raises InputError for a check that is new or changed and says nothing of its own session: it does not hold at the
    recorded end, or holds before anything was done. What was there before stays, so that the rest can be mended."""
    earlier = before["checks"] if before else []
    for number, (check, examination) in enumerate(zip(outcome["checks"], examined, strict=True)):
        if examination.refused and check not in earlier:
            raise InputError(ErrorText("field checks.%(number)s: %(told)s: %(refused)s",
                                       number=number, told=describe_check(check),
                                       refused=examination.refused))


def pictures_of(outcome: Outcome) -> set[str]:
    """The blobs that checks compare with."""
    waiting: list[OutcomeCheck] = [*outcome["checks"],
                                   *(checkpoint["check"] for checkpoint in outcome.get("checkpoints", ()))]
    pictures = set()
    while waiting:
        check = waiting.pop()
        waiting += check.get("checks", ())
        pictures |= {check["picture"]} if "picture" in check else set()
    return pictures


def of_same_task(db: Database, row: Demonstration) -> list[str]:
    """Ids of a demonstration and of the others of the same task in its project, the latest first: the task of the
    project's bank, or the same words."""
    is_same_task = Demonstration.id == row.id
    if row.task.strip():
        is_same_task = or_(is_same_task, Demonstration.task == row.task)
    if row.task_id:
        is_same_task = or_(is_same_task, Demonstration.task_id == row.task_id)
    with db.reading() as session:
        ids = session.scalars(select(Demonstration.id).where(and_(Demonstration.project == row.home, is_same_task))
                              .order_by(Demonstration.imported_at.desc(), Demonstration.id).limit(MAX_SESSIONS))
        return [row.id, *(candidate for candidate in ids if candidate != row.id)][:MAX_SESSIONS]


def visible_rows(db: Database, ids: Iterable[str], account: Account) -> dict[str, Demonstration]:
    """Those of these demonstrations that are in the account's project now and that this person may see, by id."""
    wanted = select(Demonstration).where(Demonstration.id.in_(list(ids)),
                                         Demonstration.project.in_((account.project, COPIES + account.project)))
    with db.reading() as session:
        if (unseen := visibility.hidden_ids(session, account)) is not None:
            wanted = wanted.where(Demonstration.id.not_in(unseen))
        return {row.id: row for row in session.scalars(wanted)}


def propose(store: RecordingStore, review: Review) -> list[OutcomeCheck]:
    """Checks that the session suggests and that do not exist yet; raises InputError when it shows no page."""
    recording = store.open(review.row.recording)
    existing = review.outcome["checks"] if review.outcome else []
    suggested = list_sandboxed(session_checks.proposals, recording, review.turns, review.part)
    return [check for check in suggested if check not in existing]
