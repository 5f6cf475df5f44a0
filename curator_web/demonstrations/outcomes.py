"""Outcome checks of a demonstration: what is refused before they are kept, and the sessions that they are tried on."""

from collections.abc import Iterable, Sequence

from sqlalchemy import and_, or_, select

from curator_web.db.database import Database
from curator_web.db.models import COPIES, Demonstration
from curator_web.errors import ErrorText, InputError
from curator_web.users import Account
from pipeline.outcomes.session_checks import CheckExamination
from pipeline.outcomes.wording import describe_check
from schemas.outcome_types import Outcome, OutcomeCheck

from . import sight

MOST = 200  # sessions that checks are tried on at once


def expect_sound(outcome: Outcome, before: Outcome | None, examined: Sequence[CheckExamination]) -> None:
    """Raises InputError for a check that is new or changed and says nothing of its own session: it does not hold at the
    recorded end, or holds before anything was done. What was there before stays, so that the rest can be mended."""
    kept = before["checks"] if before else []
    for number, (check, each) in enumerate(zip(outcome["checks"], examined, strict=True)):
        if each.refused and check not in kept:
            raise InputError(ErrorText("field checks.%(number)s: %(told)s: %(refused)s",
                                       number=number, told=describe_check(check),
                                       refused=each.refused))


def pictures_of(outcome: Outcome) -> set[str]:
    """The blobs that checks compare with."""
    waiting: list[OutcomeCheck] = [*outcome["checks"], *(each["check"] for each in outcome.get("checkpoints", ()))]
    found = set()
    while waiting:
        check = waiting.pop()
        waiting += check.get("checks", ())
        found |= {check["picture"]} if "picture" in check else set()
    return found


def of_same_task(db: Database, row: Demonstration) -> list[str]:
    """Ids of a demonstration and of the others of the same task in its project, the latest first: the task of the
    project's bank, or the same words."""
    same = Demonstration.id == row.id
    if row.task.strip():
        same = or_(same, Demonstration.task == row.task)
    if row.task_id:
        same = or_(same, Demonstration.task_id == row.task_id)
    with db.reading() as session:
        found = session.scalars(select(Demonstration.id).where(and_(Demonstration.project == row.home, same))
                                .order_by(Demonstration.imported_at.desc(), Demonstration.id).limit(MOST))
        return [row.id, *(each for each in found if each != row.id)][:MOST]


def in_sight(db: Database, ids: Iterable[str], account: Account) -> dict[str, Demonstration]:
    """Those of these demonstrations that are in the account's project now and that this person may see, by id."""
    wanted = select(Demonstration).where(Demonstration.id.in_(list(ids)),
                                         Demonstration.project.in_((account.project, COPIES + account.project)))
    with db.reading() as session:
        if (unseen := sight.hidden_from(session, account)) is not None:
            wanted = wanted.where(Demonstration.id.not_in(unseen))
        return {row.id: row for row in session.scalars(wanted)}
