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
from curator_web.db.models.core import (
    ANNOTATOR,
    APPROVED,
    SUBMITTED,
    VALIDATED,
    BaseTurns,
    Demonstration,
    Member,
    Project,
)
from curator_web.db.models.pair_models import Pair
from curator_web.db.models.project_settings_models import ProjectSettings
from curator_web.db.models.training_models import Training, TrainingAttempt
from curator_web.demonstrations.library import copies, library, pairs
from curator_web.demonstrations.measuring.agreement import annotated
from curator_web.demonstrations.measuring.differences import Difference, agreed, differences, observed
from curator_web.errors import Conflict, ErrorText, NotAllowed, NotFound
from curator_web.users import Account, project_settings

SETTLED = (VALIDATED, APPROVED)
ANSWER_SEEN = ErrorText("you have seen the known answer; your answer can no longer be changed")
ENDED = ErrorText("this training answer is no longer counted and cannot be changed")


@dataclass(frozen=True)
class TrainingProgress:
    """How far somebody is with the training of a project. `due`: ids of what they do, without what they know already
    as they worked on it; `answers`: what of it they have submitted; `waived`: they need do no more."""

    due: list[str]
    answers: list[TrainingAttempt]
    mark: float
    waived: bool

    @property
    def share(self) -> float | None:
        """Which share of the known answers they gave; None before the first."""
        points = sum(answer.points or 0 for answer in self.answers)
        agreed_points = sum(answer.agreed or 0 for answer in self.answers)
        return (agreed_points / points if points else 1.0) if self.answers else None

    @property
    def left(self) -> list[str]:
        """Ids of what they have still to do."""
        done = {answer.original for answer in self.answers}
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
class AnswerComparison:
    """An answer that was submitted beside the known one. `first`: the known one; `second`: theirs."""

    tried: TrainingAttempt
    first: library.Review
    second: library.Review
    differences: list[Difference]
    labels: list[dict[str, Any]]
    standing: TrainingProgress


def attempt_of(session: Session, demonstration_id: str) -> TrainingAttempt | None:
    """The answer that a demonstration is; None for what is none."""
    return session.get(TrainingAttempt, demonstration_id) if copies.TRY in demonstration_id else None


def find_attempt(db: Database, demonstration_id: str) -> TrainingAttempt | None:
    """As `attempt_of`, in a transaction of its own."""
    with db.reading() as session:
        return attempt_of(session, demonstration_id)


def statuses(tried: TrainingAttempt, account: Account) -> tuple[str, ...]:
    """Which statuses somebody can give an answer."""
    return (SUBMITTED,) if tried.open and tried.who == account.name else ()


def require_own_attempt(session: Session, demonstration_id: str, account: Account) -> TrainingAttempt | None:
    """The answer that a demonstration is. Raises NotAllowed where it is another's, or not worked on any more."""
    attempt = attempt_of(session, demonstration_id)
    if attempt and attempt.who != account.name:
        raise NotAllowed(ErrorText("this is the training answer of %(who)s; other users cannot change "
                                   "it", who=attempt.who))
    if attempt and not attempt.open:
        raise NotAllowed(ANSWER_SEEN if attempt.ended_at is None else ENDED)
    return attempt


def training_progress(session: Session, project: str, user_name: str) -> TrainingProgress:
    """How far a member of a project is with its training."""
    member = session.get(Member, (project, user_name))
    due = list(session.scalars(
        select(Demonstration.id).join(Training, Training.demonstration_id == Demonstration.id)
        .where(Demonstration.project == project, Demonstration.status.in_(SETTLED), Demonstration.damage.is_(None),
               *_unknown(Demonstration, user_name)).order_by(Training.made_at, Demonstration.id)))
    answers = session.scalars(select(TrainingAttempt).where(
        TrainingAttempt.original.in_(due), TrainingAttempt.who == user_name, TrainingAttempt.submitted_at.is_not(None),
                                                            TrainingAttempt.ended_at.is_(None))
        .order_by(TrainingAttempt.submitted_at)).all()
    waived = member is None or member.role != ANNOTATOR or member.trained_by is not None
    return TrainingProgress(due, list(answers), project_settings.settings_of(session, project).pass_mark, waived)


def comes_first(session: Session, account: Account) -> TrainingProgress | None:
    """How far somebody is with training that they have to pass before all else; None where there is none."""
    if account.alone or not project_settings.settings_of(session, account.project).training_first:
        return None
    session.get(Member, (account.project, account.name), with_for_update=True)  # nobody gets two of the same
    now = training_progress(session, account.project, account.name)
    _record_passed(session, account.project, account.name, now)
    return now if now.trains else None


def next_answer(session: Session, now: TrainingProgress, account: Account, after: str | None) -> Demonstration | None:
    """The answer that somebody works on next, made where they have none; None when all is done. `after`: the one that
    they leave, which comes last."""
    started = {attempt.original: attempt.copy for attempt in session.scalars(select(TrainingAttempt).where(
        TrainingAttempt.original.in_(now.left), TrainingAttempt.who == account.name,
        TrainingAttempt.submitted_at.is_(None), TrainingAttempt.ended_at.is_(None)))}
    name = next((original for original in now.left if after is None or started.get(original) != after), None)
    if name is None:
        return None
    if name in started:
        return library.row_of(session, started[name], lock=True)
    session.get_one(Training, name, with_for_update=True)  # so that no two answers have one number
    number = 1 + (session.scalar(select(func.count()).where(TrainingAttempt.original == name)) or 0)
    base = session.get_one(BaseTurns, name).content
    copy = copies.add(session, session.get_one(Demonstration, name), base, f"{copies.TRY}{number}")
    session.add(TrainingAttempt(copy=copy.id, original=name, who=account.name, made_at=copy.imported_at))
    return copy


def compare_submitted(session: Session, attempt: TrainingAttempt, now: datetime) -> None:
    """Hold what was just submitted against the known answer."""
    known, answer = (library.load(session, name) for name in (attempt.original, attempt.copy))
    project = known.row.project
    labels = session.get_one(Project, project).labels
    attempt.told = observed(known.current(), answer.current(), labels)
    attempt.agreed, attempt.points = agreed(known.base, annotated(known), annotated(answer), labels)
    attempt.answer, attempt.submitted_at = known.row.version, now
    session.flush()
    audit.note(session, attempt.who, "training answered", attempt.copy, of=attempt.original, agreed=attempt.agreed,
               points=attempt.points)
    _record_passed(session, project, attempt.who, training_progress(session, project, attempt.who))


def compare(db: Database, demonstration_id: str, account: Account) -> AnswerComparison:
    """An answer beside the known one. Raises NotFound for what is none, for one that was not submitted yet, and for who
    has to answer again, Damaged."""
    with db.reading() as session:
        attempt = attempt_of(session, demonstration_id)
        may_see = attempt and (account.leads or (attempt.who == account.name and attempt.ended_at is None))
        if attempt is None or attempt.submitted_at is None or not may_see:
            raise NotFound(ErrorText("unknown submitted training answer %(id)r",
                                     id=demonstration_id[:80]))
        first, second = (library.load(session, name) for name in (attempt.original, attempt.copy))
        labels = session.get_one(Project, account.project).labels
        return AnswerComparison(attempt, first, second, differences(annotated(first), annotated(second), labels),
                                labels,
                                training_progress(session, account.project, attempt.who))


def require_no_training(session: Session, demonstration_id: str) -> None:
    """Raises Conflict for an answer in training, and for what others answer: both are of a whole recording."""
    if copies.TRY in demonstration_id or session.get(Training, demonstration_id) is not None:
        raise Conflict(ErrorText("a training demonstration cannot be split; a lead can remove it from training"))


def end(session: Session, *conditions: ColumnElement[bool]) -> None:
    """Have the answers to which these apply count no more."""
    session.execute(update(TrainingAttempt).where(TrainingAttempt.ended_at.is_(None), *conditions).values(
        ended_at=datetime.now(UTC)).execution_options(synchronize_session="fetch"))


def take_out(session: Session, ids: Sequence[str]) -> None:
    """Have demonstrations be no training any more; what is being answered ends."""
    end(session, TrainingAttempt.original.in_(ids), TrainingAttempt.submitted_at.is_(None))
    session.execute(delete(Training).where(Training.demonstration_id.in_(ids)))


def hidden(user_name: str, project: str) -> Select[tuple[str]]:
    """Ids of what a person who does not lead the project may not see: others' answers; and what they have to answer
    themselves, with the second annotation that it may have."""
    others_answers = select(TrainingAttempt.copy).where(TrainingAttempt.who != user_name)
    unanswered = _unanswered(user_name, project)
    second = select(Pair.copy).where(Pair.original.in_(unanswered))
    return select(union_all(unanswered, others_answers, second).subquery().c.id)


def _unanswered(user_name: str, project: str) -> Select[tuple[str]]:
    row: Any = aliased(Demonstration)
    attempted = select(TrainingAttempt.copy).where(TrainingAttempt.original == row.id, TrainingAttempt.who == user_name,
                                                   TrainingAttempt.ended_at.is_(None))
    first = exists(select(ProjectSettings.project).where(
        ProjectSettings.project == project, ProjectSettings.content["training_first"].as_boolean()))
    trains = exists(select(Member.who).where(Member.project == project, Member.who == user_name,
                                             Member.role == ANNOTATOR,
                                             Member.trained_by.is_(None)))
    return (select(row.id).join(Training, Training.demonstration_id == row.id)
            .where(row.project == project, trains, *_unknown(row, user_name),
                   ~exists(attempted.where(TrainingAttempt.submitted_at.is_not(None))), or_(first, exists(attempted))))


def _unknown(row: Any, user_name: str) -> list[ColumnElement[bool]]:
    """Conditions: somebody has annotated neither a demonstration nor the other one of its pair."""
    second = aliased(Demonstration)
    return [~pairs.works(row, user_name), row.id.not_in(
        select(Pair.original).join(second, second.id == Pair.copy).where(pairs.works(second, user_name)))]


def _record_passed(session: Session, project: str, user_name: str, now: TrainingProgress) -> None:
    """Who has passed need not again, whatever is added to the training later."""
    if now.passed and not now.waived:
        session.get_one(Member, (project, user_name)).trained_by = user_name
        audit.note(session, user_name, "training passed", project=project, share=round(now.share or 0.0, 4))
