"""How many demonstrations an export would contain, and how many it would leave out, before it begins.

Only columns of the list's table are counted, grouped by the database, so that it is cheap with many demonstrations.
Conditions on websites, labels and actions are not counted: they need the turns.
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from sqlalchemy import Select, and_, func, literal, select
from sqlalchemy.sql import ColumnElement

from curator_web.db.database import Database
from curator_web.db.models.core import APPROVED, MAIN, STATUSES, VALIDATED, Demonstration
from pipeline.export import EXPORT_ACTORS, OUTCOMES, DemonstrationCounts, Selection
from pipeline.export.selection import UNDECIDED
from pipeline.export.source import EXPORTED, LEFT_OUT
from schemas.actors import UNKNOWN_ACTOR

from .export_sources import refusal_reason

REVIEWED = (VALIDATED, APPROVED)
CONDITIONS = {"status": "status", "actors": "actor", "outcome": "outcome"}  # fields of a selection, and their options
_ORDER = (*STATUSES, *EXPORT_ACTORS, *OUTCOMES)


@dataclass
class ExportCounts:
    """Demonstrations of a project, counted for an export.

    `total`: all; `selected`: those that the export would contain; `reviewed`: of these, the validated and approved
    ones; `counts`: by property, value, and whether they are selected; `reasons`: why others are not, how many;
    `matching`: how many fulfil a single condition (of CONDITIONS), `without`: how many would be selected without it;
    `unconditional`: how many without any of these conditions.
    """

    total: int = 0
    selected: int = 0
    reviewed: int = 0
    counts: DemonstrationCounts = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    matching: Counter[str] = field(default_factory=Counter)
    without: Counter[str] = field(default_factory=Counter)
    unconditional: int = 0


def count_for_export(db: Database, selection: Selection, project: str = MAIN) -> ExportCounts:
    """Count a project's demonstrations for an export with this selection."""
    with db.reading() as session:
        groups = session.execute(_groups(selection, project)).all()
    result = ExportCounts()
    alone = {name: replace(Selection(), **{name: getattr(selection, name)}) for name in CONDITIONS}
    dropped = {name: replace(selection, **{name: getattr(Selection(), name)}) for name in CONDITIONS}
    free = replace(selection, **{name: getattr(Selection(), name) for name in CONDITIONS})
    for row in groups:
        number, reason = row.number, refusal_reason(selection, row)
        result.total += number
        result.unconditional += 0 if refusal_reason(free, row) else number
        for name in CONDITIONS:
            result.matching[name] += 0 if refusal_reason(alone[name], row) else number
            result.without[name] += 0 if refusal_reason(dropped[name], row) else number
        if reason:
            result.reasons[reason] += number
        else:
            result.selected += number
            result.reviewed += number if row.status in REVIEWED else 0
        for name, value in (("status", row.status), ("actor", row.actor or UNKNOWN_ACTOR),
                            ("outcome", row.outcome or UNDECIDED)):
            values = result.counts.setdefault(name, {})
            values.setdefault(value, {EXPORTED: 0, LEFT_OUT: 0})[LEFT_OUT if reason else EXPORTED] += number
    result.counts = {name: dict(sorted(values.items(), key=lambda item: _ORDER.index(item[0])))
                     for name, values in result.counts.items()}
    return result


def explain_empty(counts: ExportCounts, selection: Selection, *, prefix: str = "") -> str:
    """What there is, where nothing is selected, and which option widens the selection: `12 demonstrations, 0 approved;
    use status any`. `prefix`: before the name of an option."""
    if not counts.total:
        return "the project has no demonstrations"
    shown = {"status": selection.status, "actors": f"by {' or '.join(selection.actors)}",
             "outcome": f"with the outcome {selection.outcome}"}
    narrow = [name for name in CONDITIONS if getattr(selection, name) and counts.matching[name] < counts.total]
    parts = [f"{counts.total} demonstration{'' if counts.total == 1 else 's'}",
             *(f"{counts.matching[name]} {shown[name]}" for name in narrow)]
    enough = [name for name in narrow if counts.without[name]][:1] or (narrow if counts.unconditional else [])
    if not enough:
        why = "; ".join(f"{number} × {reason}" for reason, number in counts.reasons.most_common(3))
        return f"{', '.join(parts)}; not selected: {why}"
    return f"{', '.join(parts)}; use {' '.join(f'{prefix}{CONDITIONS[name]} any' for name in enough)}"


def _groups(selection: Selection, project: str) -> Select[Any]:
    """Rows as the list's table has them, each for a group of which any one decides for all: its demonstrations agree
    in status, actor, outcome and proof, and on whether review, user and day fulfil the selection; with their number."""
    rows = select(Demonstration.status, Demonstration.proof, Demonstration.actor, Demonstration.outcome,
                  Demonstration.reviewed_by, Demonstration.recorded_by, Demonstration.recorded_at,
                  Demonstration.reviewed_by.is_not(None).label("is_reviewed"), _is_user(selection).label("is_user"),
                  _is_day(selection).label("is_day")).where(Demonstration.project == project).subquery().c
    kinds = (rows.status, rows.proof, rows.actor, rows.outcome, rows.is_reviewed, rows.is_user, rows.is_day)
    return select(*kinds, *(func.min(column).label(column.name) for column in (
        rows.reviewed_by, rows.recorded_by, rows.recorded_at)), func.count().label("number")).group_by(*kinds)


def _is_user(selection: Selection) -> ColumnElement[bool]:
    if not selection.recorded_by:
        return literal(True)
    return and_(Demonstration.recorded_by.is_not(None), Demonstration.recorded_by.in_(selection.recorded_by))


def _is_day(selection: Selection) -> ColumnElement[bool]:
    conditions = []
    if selection.since:
        conditions.append(Demonstration.recorded_at >= _start_of(selection.since))
    if selection.until and selection.until < date.max:
        conditions.append(Demonstration.recorded_at < _start_of(selection.until + timedelta(days=1)))
    return and_(*conditions) if conditions else literal(True)


def _start_of(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
