"""Figures for leads, computed from columns, facets and logs, never from turns."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import (
    APPROVED,
    MAIN,
    RETURNED,
    STATUSES,
    SUBMITTED,
    VALIDATED,
    Demonstration,
    Facet,
    Project,
    SecondReview,
    StatusChange,
)
from curator_web.demonstrations.library.facets import WAITING
from curator_web.errors import ErrorText, InputError
from curator_web.users import Account

DAYS = 28
GOAL_LIMIT = 10_000_000
REASONS = 8  # the most frequent ones are shown


@dataclass(frozen=True)
class Person:
    """What one person did in the last DAYS days; `minutes`: on average at each demonstration that they submitted."""

    name: str
    submitted: int
    decided: int
    returned: int
    minutes: float | None


@dataclass(frozen=True)
class Figures:
    """All of the dashboard. Shares are from 0 to 1; None where there is nothing to tell."""

    by_status: dict[str, int]
    goal: int | None
    days: list[tuple[date, int, int]]  # day, submitted, approved
    people: list[Person]
    minutes: float | None
    turns: int
    dropped: float | None
    edited: float | None
    dropped_why: list[tuple[str, int]]
    edited_how: list[tuple[str, int]]
    second_reviews: int
    accepted_unchanged: int
    waiting: list[tuple[str, float]]  # role, seconds in a session with two speakers on average

    @property
    def total(self) -> int:
        return sum(self.by_status.values())

    @property
    def approved(self) -> int:
        return self.by_status[APPROVED]


def figures(db: Database, project: str = MAIN, now: datetime | None = None) -> Figures:
    """The figures of a project as they are now."""
    now = now or datetime.now(UTC)
    since = now - timedelta(days=DAYS)
    in_project = Demonstration.project == project
    with db.reading() as session:
        statuses = dict(session.execute(
            select(Demonstration.status, func.count()).where(in_project).group_by(Demonstration.status)).all())
        steps = session.execute(
            select(StatusChange.status, StatusChange.who, StatusChange.made_at)
            .join(Demonstration, Demonstration.id == StatusChange.demonstration_id)
            .where(StatusChange.made_at >= since, in_project)).all()
        turns, dropped, edited, worked, seconds = session.execute(select(
            func.sum(Demonstration.turns), func.sum(Demonstration.dropped), func.sum(Demonstration.edited),
            func.count().filter(Demonstration.work_seconds > 0), func.sum(Demonstration.work_seconds)
        ).where(in_project)).one()
        second = _second_reviews(session, project)
        return Figures(
            by_status={status: statuses.get(status, 0) for status in STATUSES},
            goal=session.get_one(Project, project).goal, days=_days(steps, now),
            people=_people(session, steps, project),
            minutes=_share(seconds, worked, 60),
            turns=turns or 0, dropped=_share(dropped, turns), edited=_share(edited, turns),
            dropped_why=_facet(session, "dropped", project), edited_how=_facet(session, "fixed", project),
            waiting=_waiting(session, project), **second)


def set_goal(db: Database, goal: int | None, account: Account) -> None:
    """How many approved demonstrations are wanted in the account's project; None: no goal. Raises InputError."""
    if goal is not None and not 0 < goal <= GOAL_LIMIT:
        raise InputError(ErrorText("field goal: a number from 1 to %(goal_limit)s", goal_limit=format(GOAL_LIMIT, ",")))
    with db.writing() as session:
        session.get_one(Project, account.project).goal = goal
        audit.note(session, account.name, "goal set", goal=goal)


def _days(steps, now: datetime) -> list[tuple[date, int, int]]:
    counts = Counter((made_at.astimezone().date(), status) for status, _, made_at in steps)
    today = now.astimezone().date()
    days = [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    return [(day, counts[day, SUBMITTED], counts[day, APPROVED]) for day in days]


def _people(session: Session, steps, project: str) -> list[Person]:
    counts = Counter((name_, status) for status, name_, _ in steps)
    minutes: dict[str | None, Any] = dict(session.execute(
        select(Demonstration.submitted_by, func.avg(Demonstration.work_seconds))
        .where(Demonstration.project == project, Demonstration.submitted_by.is_not(None),
               Demonstration.work_seconds > 0)
        .group_by(Demonstration.submitted_by)).all())
    return [Person(name, counts[name, SUBMITTED], counts[name, VALIDATED] + counts[name, APPROVED],
                   counts[name, RETURNED], float(minutes[name]) / 60 if name in minutes else None)
            for name in sorted({name_ for _, name_, _ in steps})]


def _facet(session: Session, kind: str, project: str) -> list[tuple[str, int]]:
    rows = session.execute(select(Facet.value, func.sum(Facet.count))
                           .join(Demonstration, Demonstration.id == Facet.demonstration_id)
                           .where(Facet.facet == kind, Demonstration.project == project).group_by(Facet.value)
                           .order_by(func.sum(Facet.count).desc(), Facet.value).limit(REASONS))
    return [(value, int(count)) for value, count in rows]


def _waiting(session: Session, project: str) -> list[tuple[str, float]]:
    rows = session.execute(select(Facet.value, func.avg(Facet.count))
                           .join(Demonstration, Demonstration.id == Facet.demonstration_id)
                           .where(Facet.facet == WAITING, Demonstration.project == project)
                           .group_by(Facet.value).order_by(Facet.value))
    return [(role, float(seconds)) for role, seconds in rows]


def _second_reviews(session: Session, project: str) -> dict[str, Any]:
    """How many there were, and how many changed nothing."""
    count, accepted = session.execute(select(
        func.count(), func.count().filter(SecondReview.unchanged)).select_from(SecondReview)
        .join(Demonstration, Demonstration.id == SecondReview.demonstration_id)
        .where(Demonstration.project == project)).one()
    return {"second_reviews": count, "accepted_unchanged": accepted}


def _share(part, total, unit: float = 1) -> float | None:
    return float(part or 0) / float(total) / unit if total else None
