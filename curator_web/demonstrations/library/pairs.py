"""Pairs of an original and its copy: how far two people are with them, and who may see and do what until then.

Until both have submitted, nobody who works on one of the two sees the other, and nobody sees what somebody else has
begun, so that whoever comes second knows nothing of it. Leads see both, and work on one at most.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Select, and_, bindparam, exists, func, not_, or_, select, union_all
from sqlalchemy.orm import Session, aliased

from curator_web.db.database import Database
from curator_web.db.models.core import COPIES, DRAFT, INVALID, STATUSES, SUBMITTED, Demonstration, Edit
from curator_web.db.models.pair_models import OUTCOMES, Pair
from curator_web.db.models.scheme_models import Answer
from curator_web.errors import ErrorText, NotAllowed
from curator_web.users import Account

ANNOTATING, TO_COMPARE, SET_ASIDE = ("annotating", "to-compare", "set-aside")
STATES = (ANNOTATING, TO_COMPARE, SET_ASIDE, *OUTCOMES)
ANNOTATES_OTHER = ErrorText("you are the other annotator of this pair; another user annotates this one")
WAITS = ErrorText("two people annotate this demonstration; it is compared on the page Double annotation after both "
                  "have submitted")
CLOSED_COPY = ErrorText("this second annotation of a pair is closed; use the first one")
MAX_CACHED_QUERIES = 1000  # making one takes longer than asking it; each is of a person in a project


@dataclass(frozen=True)
class Paired:
    """A pair with both of its demonstrations."""

    pair: Pair
    first: Demonstration
    second: Demonstration

    @property
    def state(self) -> str:
        """One of STATES. Set aside: one of them is invalid, so the other is worked on alone."""
        if self.pair.outcome:
            return self.pair.outcome
        statuses = {self.first.status, self.second.status}
        return SET_ASIDE if INVALID in statuses else TO_COMPARE if statuses == {SUBMITTED} else ANNOTATING

    @property
    def open(self) -> bool:
        """Whether it is annotated or waits to be compared."""
        return self.state in (ANNOTATING, TO_COMPARE)

    def other(self, demonstration_id: str) -> Demonstration:
        """The other one of the two."""
        return self.second if demonstration_id == self.first.id else self.first

    def allows(self, row: Demonstration) -> tuple[str, ...]:
        """Which statuses one of the two can get while it is in this pair."""
        if not self.open:
            return STATUSES if row.id == self.first.id else ()
        if self.state == TO_COMPARE:
            return (INVALID,)
        return (DRAFT, INVALID) if row.status == SUBMITTED else (SUBMITTED, INVALID)


def pair_of(session: Session, demonstration_id: str, *, lock: bool = False) -> Paired | None:
    """The pair that a demonstration is in, as the original or as the copy."""
    pair = session.scalars(select(Pair).where(
        or_(Pair.original == demonstration_id, Pair.copy == demonstration_id))).first()
    if pair is None:
        return None
    first, second = (session.get_one(Demonstration, demonstration_id_, with_for_update=lock)
                     for demonstration_id_ in (pair.original, pair.copy))
    return Paired(pair, first, second)


def find_pair(db: Database, demonstration_id: str) -> Paired | None:
    """As `pair_of`, in a transaction of its own."""
    with db.reading() as session:
        return pair_of(session, demonstration_id)


def close(paired: Paired, outcome: str, user_name: str, now: datetime) -> None:
    """Have a pair be done, with one of OUTCOMES."""
    paired.pair.outcome, paired.pair.ended_by, paired.pair.ended_at = outcome, user_name, now


def require_single(session: Session, paired: Paired | None, row: Demonstration, account: Account) -> None:
    """Raises NotAllowed for who works on the other one of an open pair."""
    if paired and paired.open and not account.alone and works_on(session, paired.other(row.id).id, account.name):
        raise NotAllowed(ANNOTATES_OTHER)


def require_editable(session: Session, row: Demonstration, account: Account) -> None:
    """Raises NotAllowed where the pair that a demonstration is in keeps this person from editing it."""
    paired = None if account.alone else pair_of(session, row.id)
    if paired is None:
        return
    if not paired.open and row.id == paired.second.id:
        raise NotAllowed(CLOSED_COPY)
    require_single(session, paired, row, account)
    if paired.open and row.status == SUBMITTED:
        raise NotAllowed(WAITS)


def works_on(session: Session, demonstration_id: str, user_name: str) -> bool:
    """Whether somebody annotates a demonstration: edited or submitted it, answered questions, has it now, or
    is to do it."""
    return session.scalar(select(exists().where(Demonstration.id == demonstration_id,
                                                works(Demonstration, user_name)))) or False


def annotated_by(session: Session, user_name: str, demonstration_ids: list[str]) -> set[str]:
    """Which of these demonstrations somebody annotates."""
    return set(session.scalars(select(Demonstration.id).where(
        Demonstration.id.in_(demonstration_ids), works(Demonstration, user_name))))


@lru_cache(MAX_CACHED_QUERIES)
def hidden(user_name: str, project: str) -> Select[tuple[str]]:
    """Ids of what a person who does not lead the project may not see yet."""
    return _either(project, lambda row, other_row: and_(or_(row.status != SUBMITTED, other_row.status != SUBMITTED),
                                                        _annotated_by_another(row, other_row, user_name)))


@lru_cache(MAX_CACHED_QUERIES)
def not_theirs(user_name: str, project: str) -> Select[tuple[str]]:
    """Ids of what somebody else annotates, or has to, as this person annotates the other one."""
    return _either(project, lambda row, other_row: _annotated_by_another(row, other_row, user_name))


@lru_cache(MAX_CACHED_QUERIES)
def open_ids(project: str) -> Select[tuple[str]]:
    """Ids of what is in open pairs; nobody reviews it."""
    return _either(project, lambda row, other_row: row.id == row.id)


def _either(project: str, fits: Any) -> Select[tuple[str]]:
    """Ids of those in open pairs of a project that fit, by a condition on them and on the other one."""
    row, other_row = aliased(Demonstration), aliased(Demonstration)
    halves = [select(row.id).select_from(Pair).join(row, row.id == own_column).join(other_row,
                                                                                    other_row.id == other_column)
              .where(Pair.outcome.is_(None), row.project.in_((project, COPIES + project)),
                     row.status != INVALID, other_row.status != INVALID, fits(row, other_row))
              for own_column, other_column in ((Pair.original, Pair.copy), (Pair.copy, Pair.original))]
    return select(union_all(*halves).subquery().c.id)


def works(row: Any, user_name: str) -> ColumnElement[bool]:
    """Whether somebody annotates it, as a condition on a row; never NULL, as it is negated."""
    edited = exists(select(Edit.number).where(Edit.demonstration_id == row.id, Edit.who == user_name))
    answered = exists().where(Answer.demonstration_id == row.id, Answer.who == user_name)
    return or_(*(func.coalesce(column, "") == user_name for column in (row.submitted_by, row.assigned_to)),
               and_(func.coalesce(row.lease_who, "") == user_name, row.lease_until.is_not(None),
                    row.lease_until > _now()), edited, answered)


def _annotated_by_another(row: Any, other_row: Any, user_name: str) -> ColumnElement[bool]:
    return or_(works(other_row, user_name), and_(_begun(row), not_(works(row, user_name))))


def _begun(row: Any) -> ColumnElement[bool]:
    return or_(row.submitted_by.is_not(None), row.assigned_to.is_not(None), row.lease_until > _now(),
               exists(select(Edit.number).where(Edit.demonstration_id == row.id)),
               exists().where(Answer.demonstration_id == row.id))


def _now() -> BindParameter[datetime]:
    """The time at which the query is asked, not the one at which it was made."""
    return bindparam("now", callable_=lambda: datetime.now(UTC), unique=True)
