"""Answers in training: what a new annotator makes of a demonstration whose answer is known, on their own, and how far
that is like the known answer.

A training demonstration is a settled one that a lead marked. An answer is a copy of it (`copies`) that only who works
on it and leads see. Until they submit it, they do not see the known answer, where they are to be trained.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, exists, func, or_, select, union_all, update
from sqlalchemy.orm import Session, aliased

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models import (
    ANNOTATOR,
    APPROVED,
    SUBMITTED,
    VALIDATED,
    BaseTurns,
    Demonstration,
    Member,
    Project,
)
from curator_web.db.pair_models import Pair
from curator_web.db.project_settings_models import ProjectSettings
from curator_web.db.training_models import Training, Try
from curator_web.errors import Conflict, ErrorText, NotAllowed, NotFound
from curator_web.users import Account, project_settings

from . import copies, library, pairs
from .agreement import annotated
from .differences import Difference, agreed, differences, observed

SETTLED = (VALIDATED, APPROVED)
SEEN = ErrorText("you have seen the known answer of this one; nothing changes yours any more")
ENDED = ErrorText("this answer in training counts no more; nothing changes it")


@dataclass(frozen=True)
class Standing:
    """How far somebody is with the training of a project. `due`: ids of what they do, without what they know already
    as they worked on it; `answers`: what of it they have submitted; `waived`: they need do no more."""

    due: list[str]
    answers: list[Try]
    mark: float
    waived: bool

    @property
    def share(self) -> float | None:
        """Which share of the known answers they gave; None before the first."""
        points = sum(each.points or 0 for each in self.answers)
        same = sum(each.agreed or 0 for each in self.answers)
        return (same / points if points else 1.0) if self.answers else None

    @property
    def left(self) -> list[str]:
        """Ids of what they have still to do."""
        done = {each.original for each in self.answers}
        return [name for name in self.due if name not in done]

    @property
    def passed(self) -> bool:
        """Whether they have done it all, well enough."""
        return bool(self.due) and not self.left and (self.share or 0.0) >= self.mark

    @property
    def trains(self) -> bool:
        """Whether nothing but training is for them."""
        return bool(self.due) and not self.waived and not self.passed


@dataclass(frozen=True)
class Compared:
    """An answer that was submitted beside the known one. `first`: the known one; `second`: theirs."""

    tried: Try
    first: library.Review
    second: library.Review
    differences: list[Difference]
    labels: list[dict[str, Any]]
    standing: Standing


def of(session: Session, demonstration_id: str) -> Try | None:
    """The answer that a demonstration is; None for what is none."""
    return session.get(Try, demonstration_id) if copies.TRY in demonstration_id else None


def found(db: Database, demonstration_id: str) -> Try | None:
    """As `of`, in a transaction of its own."""
    with db.reading() as session:
        return of(session, demonstration_id)


def statuses(tried: Try, account: Account) -> tuple[str, ...]:
    """Which statuses somebody can give an answer."""
    return (SUBMITTED,) if tried.open and tried.who == account.name else ()


def expect_own(session: Session, demonstration_id: str, account: Account) -> Try | None:
    """The answer that a demonstration is. Raises NotAllowed where it is another's, or not worked on any more."""
    tried = of(session, demonstration_id)
    if tried and tried.who != account.name:
        raise NotAllowed(ErrorText("this is what %(who)s answers in training; nobody else changes it", who=tried.who))
    if tried and not tried.open:
        raise NotAllowed(SEEN if tried.ended_at is None else ENDED)
    return tried


def standing(session: Session, project: str, who: str) -> Standing:
    """How far a member of a project is with its training."""
    member = session.get(Member, (project, who))
    due = list(session.scalars(
        select(Demonstration.id).join(Training, Training.demonstration_id == Demonstration.id)
        .where(Demonstration.project == project, Demonstration.status.in_(SETTLED), Demonstration.damage.is_(None),
               *_unknown(Demonstration, who)).order_by(Training.made_at, Demonstration.id)))
    answers = session.scalars(select(Try).where(
        Try.original.in_(due), Try.who == who, Try.submitted_at.is_not(None), Try.ended_at.is_(None))
        .order_by(Try.submitted_at)).all()
    waived = member is None or member.role != ANNOTATOR or member.trained_by is not None
    return Standing(due, list(answers), project_settings.of(session, project).pass_mark, waived)


def comes_first(session: Session, account: Account) -> Standing | None:
    """How far somebody is with training that they have to pass before all else; None where there is none."""
    if account.alone or not project_settings.of(session, account.project).training_first:
        return None
    session.get(Member, (account.project, account.name), with_for_update=True)  # nobody gets two of the same
    now = standing(session, account.project, account.name)
    _keep_passed(session, account.project, account.name, now)
    return now if now.trains else None


def take(session: Session, now: Standing, account: Account, after: str | None) -> Demonstration | None:
    """The answer that somebody works on next, made where they have none; None when all is done. `after`: the one that
    they leave, which comes last."""
    begun = {each.original: each.copy for each in session.scalars(select(Try).where(
        Try.original.in_(now.left), Try.who == account.name, Try.submitted_at.is_(None), Try.ended_at.is_(None)))}
    name = next((each for each in now.left if after is None or begun.get(each) != after), None)
    if name is None:
        return None
    if name in begun:
        return library.row_of(session, begun[name], lock=True)
    session.get_one(Training, name, with_for_update=True)  # so that no two answers have one number
    number = 1 + (session.scalar(select(func.count()).where(Try.original == name)) or 0)
    base = session.get_one(BaseTurns, name).content
    copy = copies.add(session, session.get_one(Demonstration, name), base, f"{copies.TRY}{number}")
    session.add(Try(copy=copy.id, original=name, who=account.name, made_at=copy.imported_at))
    return copy


def note(session: Session, tried: Try, now: datetime) -> None:
    """Hold what was just submitted against the known answer."""
    known, given = (library.load(session, name) for name in (tried.original, tried.copy))
    project = known.row.project
    labels = session.get_one(Project, project).labels
    tried.told = observed(known.current(), given.current(), labels)
    tried.agreed, tried.points = agreed(known.base, annotated(known), annotated(given), labels)
    tried.answer, tried.submitted_at = known.row.version, now
    session.flush()
    audit.note(session, tried.who, "training answered", tried.copy, of=tried.original, agreed=tried.agreed,
               points=tried.points)
    _keep_passed(session, project, tried.who, standing(session, project, tried.who))


def compare(db: Database, demonstration_id: str, account: Account) -> Compared:
    """An answer beside the known one. Raises NotFound for what is none, for one that was not submitted yet, and for who
    has to answer again, Damaged."""
    with db.reading() as session:
        tried = of(session, demonstration_id)
        theirs = tried and (account.leads or (tried.who == account.name and tried.ended_at is None))
        if tried is None or tried.submitted_at is None or not theirs:
            raise NotFound(ErrorText("there is no answer in training %(id)r that was submitted",
                                     id=demonstration_id[:80]))
        first, second = (library.load(session, name) for name in (tried.original, tried.copy))
        labels = session.get_one(Project, account.project).labels
        return Compared(tried, first, second, differences(annotated(first), annotated(second), labels), labels,
                        standing(session, account.project, tried.who))


def expect_no_training(session: Session, demonstration_id: str) -> None:
    """Raises Conflict for an answer in training, and for what others answer: both are of a whole recording."""
    if copies.TRY in demonstration_id or session.get(Training, demonstration_id) is not None:
        raise Conflict(ErrorText("this is a training demonstration; it stays whole until a lead takes it out of "
                                 "training"))


def end(session: Session, *conditions: ColumnElement[bool]) -> None:
    """Have the answers to which these apply count no more."""
    session.execute(update(Try).where(Try.ended_at.is_(None), *conditions).values(
        ended_at=datetime.now(UTC)).execution_options(synchronize_session="fetch"))


def take_out(session: Session, ids: Sequence[str]) -> None:
    """Have demonstrations be no training any more; what is being answered ends."""
    end(session, Try.original.in_(ids), Try.submitted_at.is_(None))
    session.execute(delete(Training).where(Training.demonstration_id.in_(ids)))


def hidden(who: str, project: str) -> Select[tuple[str]]:
    """Ids of what a person who does not lead the project may not see: others' answers; and what they have to answer
    themselves, with the second annotation that it may have."""
    others = select(Try.copy).where(Try.who != who)
    mine = _unanswered(who, project)
    second = select(Pair.copy).where(Pair.original.in_(mine))
    return select(union_all(mine, others, second).subquery().c.id)


def _unanswered(who: str, project: str) -> Select[tuple[str]]:
    one: Any = aliased(Demonstration)
    tried = select(Try.copy).where(Try.original == one.id, Try.who == who, Try.ended_at.is_(None))
    first = exists(select(ProjectSettings.project).where(
        ProjectSettings.project == project, ProjectSettings.content["training_first"].as_boolean()))
    trains = exists(select(Member.who).where(Member.project == project, Member.who == who, Member.role == ANNOTATOR,
                                             Member.trained_by.is_(None)))
    return (select(one.id).join(Training, Training.demonstration_id == one.id)
            .where(one.project == project, trains, *_unknown(one, who),
                   ~exists(tried.where(Try.submitted_at.is_not(None))), or_(first, exists(tried))))


def _unknown(row: Any, who: str) -> list[ColumnElement[bool]]:
    """Conditions: somebody has annotated neither a demonstration nor the other one of its pair."""
    second = aliased(Demonstration)
    return [~pairs.works(row, who), row.id.not_in(
        select(Pair.original).join(second, second.id == Pair.copy).where(pairs.works(second, who)))]


def _keep_passed(session: Session, project: str, who: str, now: Standing) -> None:
    """Who has passed need not again, whatever is added to the training later."""
    if now.passed and not now.waived:
        session.get_one(Member, (project, who)).trained_by = who
        audit.note(session, who, "training passed", project=project, share=round(now.share or 0.0, 4))
