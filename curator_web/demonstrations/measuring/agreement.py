"""Agreement of two independent annotations: computed when both are submitted, reported per project."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import Demonstration, Project
from curator_web.db.models.pair_models import AGREED, Pair
from curator_web.demonstrations.library import library, pairs
from curator_web.demonstrations.library.copies import BY_SHARE
from curator_web.demonstrations.library.labels import NUMBER
from curator_web.demonstrations.library.pairs import Paired
from pipeline.evaluate.reliability import Group, Reliability, reliability

from .differences import TARGET, Annotated, ObservedCounts, differences, observed

FIRST_ROWS = ("intent", TARGET, "dropped")


@dataclass(frozen=True)
class AgreementRow:
    """What is agreed on: `intent`, `target` or `dropped` of turns, or a label, as `turn: NAME`."""

    what: str
    measured: Reliability


@dataclass(frozen=True)
class Agreement:
    """Of all pairs of a project in which both have submitted."""

    pairs: int
    rows: list[AgreementRow]


def note(session: Session, paired: Paired, now: datetime) -> None:
    """Keep what both have just submitted on their own; where nothing differs, the pair is done and the original is
    reviewed as any other."""
    first, second = (library.load(session, row.id) for row in (paired.first, paired.second))
    labels = session.get_one(Project, paired.first.home).labels
    paired.pair.told = observed(first.current(), second.current(), labels)
    if not differences(annotated(first), annotated(second), labels):
        pairs.close(paired, AGREED, BY_SHARE, now)
        audit.note(session, BY_SHARE, "pair agreed", paired.first.id)


def annotated(review: library.Review) -> Annotated:
    """A demonstration as its differences are looked for."""
    return review.current(), review.edits


def agreement(db: Database, project: str) -> Agreement:
    """How far people agree in a project, before anything was settled."""
    with db.reading() as session:
        rows = session.execute(
            select(Pair.original, Pair.told).join(Demonstration, Demonstration.id == Pair.original)
            .where(Demonstration.project == project).order_by(Pair.original)).all()
        labels = session.get_one(Project, project).labels
    observations = [(name, observation) for name, observation in rows if observation]
    return Agreement(len(observations), rows_of(observations, labels))


def rows_of(observations: Sequence[tuple[str, ObservedCounts]],
            labels: Sequence[Mapping[str, Any]]) -> list[AgreementRow]:
    """How far two people agree on each thing, by what they said of demonstrations; none where they said nothing."""
    choice_labels = [f"{label['scope']}: {label['name']}" for label in labels if label["kind"] != "text"]
    numbers = {f"{label['scope']}: {label['name']}" for label in labels if label["kind"] == NUMBER}
    return [
        AgreementRow(kind,
                     reliability([_group(kind, name, observation.get(kind, [])) for name, observation in observations],
                                       "interval" if kind in numbers else "nominal"))
        for kind in (*FIRST_ROWS, *choice_labels)] if observations else []


def _group(kind: str, name: str, counts: list[list]) -> Group:
    """The targets of one recording are no other's."""
    mark = f"{name} " if kind == TARGET else ""
    return [(f"{mark}{first}", f"{mark}{second}", count) for first, second, count in counts]
