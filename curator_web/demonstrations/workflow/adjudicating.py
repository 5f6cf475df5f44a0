"""Comparing the two annotations of a pair, and settling what differs: by somebody who made neither of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import VALIDATED, Project
from curator_web.db.models.pair_models import SETTLED
from curator_web.demonstrations.library import library, pairs
from curator_web.demonstrations.library.pairs import Paired
from curator_web.demonstrations.measuring import settling
from curator_web.demonstrations.measuring.agreement import annotated
from curator_web.demonstrations.measuring.differences import Difference, differences
from curator_web.errors import Conflict, ErrorText, InputError, NotAllowed, NotFound
from curator_web.storage.recordings import RecordingStore
from curator_web.users import Account

from . import workflow

FIRST, SECOND = CHOICES = ("first", "second")


@dataclass(frozen=True)
class Comparison:
    """A pair with what the two differ in; `refused`: why who asks cannot settle it now."""

    paired: Paired
    first: library.Review
    second: library.Review
    differences: list[Difference]
    refused: str | None
    labels: list[dict[str, Any]]

    @property
    def version(self) -> str:
        """What a decision is made on."""
        return f"{self.first.row.version}.{self.second.row.version}"


def compare(db: Database, demonstration_id: str, account: Account) -> Comparison:
    """The pair of this original, compared. Raises NotFound for none and for one that this person may not see yet,
    Damaged."""
    with db.reading() as session:
        return _compare(session, demonstration_id, account)


def settle(db: Database, store: RecordingStore, demonstration_id: str, choices: Mapping[str, str], version: str,
           account: Account, validate: bool = True) -> None:
    """Take the second's where a difference's key is chosen so, as edits of the original, and close the pair; with
    `validate` the original is validated then, else it is reviewed as any other.

    Where all of the second's is taken, the original then has exactly the turns that the second keeps; else the pair
    stays open. Raises NotAllowed, NotFound, Conflict where something has changed since, InputError naming what was not
    chosen or what no edit can do.
    """
    with db.together() as (session, joined):
        pairs.pair_of(session, demonstration_id, lock=True)
        comparison = _compare(session, demonstration_id, account)
        if comparison.refused:
            raise NotAllowed(comparison.refused)
        if comparison.version != version:
            raise Conflict(ErrorText("this pair was changed in the meantime; review the changes before you decide"))
        _require_chosen(comparison.differences, choices)
        pairs.close(comparison.paired, SETTLED, account.name, datetime.now(UTC))
        session.flush()
        chosen = {difference.key for difference in comparison.differences if choices[difference.key] == SECOND}
        known, now = comparison.first, comparison.first.row.version
        for edit in settling.edits_of_chosen(annotated(comparison.first), annotated(comparison.second),
                                             comparison.differences, chosen, comparison.labels):
            result = workflow.edit(joined, store, demonstration_id, edit, now, account, known=known, checked=True)
            known, now = result.review or known, result.version
        if validate:
            workflow.change_status(joined, demonstration_id, VALIDATED, now, account)
        audit.note(session, account.name, "pair settled", demonstration_id, differences=len(comparison.differences),
                   second=len(chosen))


def _compare(session: Session, demonstration_id: str, account: Account) -> Comparison:
    pair = pairs.pair_of(session, demonstration_id)
    if pair is None or pair.first.project != account.project or pair.first.id != demonstration_id:
        raise NotFound(ErrorText("unknown pair %(demonstration_id)r", demonstration_id=demonstration_id[:80]))
    if pair.state == pairs.ANNOTATING and not account.leads:
        raise NotFound(ErrorText("the pair %(demonstration_id)r does not exist or cannot be compared yet",
                                 demonstration_id=demonstration_id[:80]))
    first, second = (library.load(session, row.id) for row in (pair.first, pair.second))
    labels = session.get_one(Project, account.project).labels
    differences_between = differences(annotated(first), annotated(second), labels)
    return Comparison(pair, first, second, differences_between, _refused(session, pair, account), labels)


def _refused(session: Session, paired: Paired, account: Account) -> str | None:
    if paired.state == pairs.ANNOTATING:
        return "both annotators must submit before their work can be compared"
    if paired.state != pairs.TO_COMPARE:
        return f"this pair is {paired.state.replace('-', ' ')}; it cannot be changed"
    if account.alone:
        return None
    if not account.reviews:
        return "only a validator or a lead can settle the differences"
    if any(pairs.works_on(session, row.id, account.name) for row in (paired.first, paired.second)):
        return "you annotated one of the two; another reviewer must settle the differences"
    return None


def _require_chosen(differences_found: list[Difference], choices: Mapping[str, str]) -> None:
    for difference in differences_found:
        where = f"field {difference.key}: " if len(difference.key) < 80 else f"field {difference.what}: "
        if choices.get(difference.key) not in CHOICES:
            unchosen = sum(choices.get(difference_.key) not in CHOICES for difference_ in differences_found)
            raise InputError(ErrorText("%(where)schoose the first or the second; %(left)s of %(found)s are still open",
                                       where=where, left=unchosen, found=len(differences_found)))
        if choices[difference.key] == SECOND and difference.edits is None:
            raise InputError(ErrorText("%(where)sno edit turns the first into the second; choose the first and "
                                       "change it by hand", where=where))
