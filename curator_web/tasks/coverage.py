"""Coverage of the wanted demonstrations by site, category and difficulty of the tasks."""

from dataclasses import dataclass

from sqlalchemy import case, func, select

from curator_web.db.database import Database
from curator_web.db.models.core import INVALID, Demonstration
from curator_web.db.models.task_models import ACCEPTED, Task

KINDS = ("site", "category", "difficulty")
MAX_ROWS = 100  # rows of each kind


@dataclass(frozen=True)
class CoverageRow:
    """Tasks that have this in common: how many, how many demonstrations are wanted, how many of those are there."""

    value: str
    tasks: int
    wanted: int
    recorded: int


def coverage(db: Database, project: str) -> dict[str, list[CoverageRow]]:
    """Of accepted tasks, by kind, those that want most first. Of one task no more count than are wanted."""
    count = (select(Demonstration.task_id, func.count().label("count"))
             .where(Demonstration.project == project, Demonstration.status != INVALID,
                    Demonstration.task_id.is_not(None))
             .group_by(Demonstration.task_id).subquery())
    recorded_count = func.coalesce(count.c.count, 0)
    useful = func.sum(case((recorded_count < Task.wanted, recorded_count), else_=Task.wanted))
    by_kind = {}
    with db.reading() as session:
        for kind in KINDS:
            column = getattr(Task, kind)
            rows = session.execute(
                select(column, func.count(), func.sum(Task.wanted), useful)
                .outerjoin(count, count.c.task_id == Task.id)
                .where(Task.project == project, Task.state == ACCEPTED).group_by(column)
                .order_by(func.sum(Task.wanted).desc(), column).limit(MAX_ROWS))
            by_kind[kind] = [CoverageRow(value, tasks, int(wanted), int(recorded)) for value, tasks, wanted,
                             recorded in rows]
    return by_kind
