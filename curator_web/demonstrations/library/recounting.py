"""Counting again what lists show of demonstrations, after what is to check in their project has changed.

Much is read and little is written, each demonstration by itself, so that nobody waits who is at work meanwhile.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import COPIES, Demonstration, DemonstrationText
from curator_web.db.models.job_models import QUEUED, Job
from curator_web.errors import Damaged, NotFound

from . import facets, library, search_index
from .summary import counts
from .turn_texts import texts_of

KIND = "recount"


@dataclass
class Recounted:
    """How many were looked at, changed, and could not be read."""

    demonstrations: int = 0
    changed: int = 0
    damaged: int = 0


def queue_recount(session: Session, project: str, user_name: str, ids: Iterable[str] | None = None) -> None:
    """Have demonstrations of a project counted again by a job, within a transaction; without `ids` all of them."""
    chosen = None if ids is None else list(ids)
    waiting = session.scalars(select(Job).where(Job.project == project, Job.kind == KIND, Job.state == QUEUED)
                              .with_for_update()).all()  # none of them begins before this transaction has ended
    if any(job.arguments["ids"] is None for job in waiting):
        return  # what waits reads the settings when it begins
    job = Job(kind=KIND, project=project, who=user_name, state=QUEUED, arguments={"ids": chosen}, note="", result={},
              made_at=datetime.now(UTC))
    session.add(job)
    session.flush()
    audit.note(session, user_name, f"{KIND} begun", job=job.id)


def recount_all(db: Database, project: str, ids: list[str] | None,
                step: Callable[[int, int, str], object] = lambda done, total, name: None) -> dict[str, Any]:
    """Count demonstrations of a project again, with `ids` None all; returns what became of it, as Recounted."""
    if ids is None:
        with db.reading() as session:
            ids = list(session.scalars(select(Demonstration.id).where(
                Demonstration.project.in_((project, COPIES + project))).order_by(Demonstration.id)))
    outcome = Recounted(len(ids))
    for number, name in enumerate(ids):
        step(number, len(ids), name)
        try:
            outcome.changed += recount(db, name)
        except Damaged:
            outcome.damaged += 1
        except NotFound:
            pass
    return asdict(outcome)


def recount(db: Database, demonstration_id: str) -> bool:
    """Count one again; returns whether lists showed something else. Raises NotFound, Damaged."""
    with db.reading() as session:
        review = library.load(session, demonstration_id)
        stored = facets.stored_facets(session, demonstration_id, facets.TURN_KINDS)
        wanted, counted = _wanted(review, stored), _counts(review)
        has_texts = _has_texts(session, review)
    if has_texts and stored == wanted and all(getattr(review.row, name) == value for name, value in counted.items()):
        return False
    with db.writing() as session:
        review = library.load(session, demonstration_id, lock=True, known=review)
        for name, value in _counts(review).items():
            setattr(review.row, name, value)
        facets.refresh(session, demonstration_id, _wanted(review, stored), facets.TURN_KINDS)
        if not has_texts:
            search_index.store_text(session, demonstration_id, review.row.site, review.row.task,
                                    texts_of(review.turns))
    return True


def _has_texts(session: Session, review: library.Review) -> bool:
    """Whether the demonstration is found by the texts of its turns; those that no list has need none."""
    if review.row.project != review.row.home:
        return True
    stored = session.scalar(select(DemonstrationText.turn_texts).where(
        DemonstrationText.demonstration_id == review.row.id))
    return stored is not None and sorted(stored) == sorted(texts_of(review.turns))  # a moved turn keeps its text


def _counts(review: library.Review) -> dict[str, Any]:
    return {**counts(review.base["turns"], review.turns, review.edits)}


def _wanted(review: library.Review, stored: facets.Facets) -> facets.Facets:
    if not stored and review.row.project != review.row.home:
        return {}  # a copy has none before its first edit
    return facets.of_turns(review.base["turns"], review.turns, review.edits) | facets.of_labels(review.labels,
                                                                                                review.turns)
