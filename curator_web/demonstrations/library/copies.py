"""Copies: what a second person annotates of a recording that a first one annotates too, or a new annotator in training.

A copy is a demonstration with edits, labels, comments and a status of its own; the files and the base turns are the
original's. It stands in no project that anybody is in (`COPIES`), so no list, queue, figure, task or export has it.
"""

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select, union_all, update
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.models.core import COPIES, DRAFT, ID_LENGTH, Demonstration, Project
from curator_web.db.models.deletion_models import NOWHERE
from curator_web.db.models.pair_models import Pair
from curator_web.db.models.training_models import TrainingAttempt
from schemas import types

from . import project_rules, summary

MARK = "~2"  # at the end of a copy's id, where no recording's id can have it
TRY = "~t"  # the same in that of an answer in training, before its number
BY_SHARE = "share"  # who, where the project's share chose


def chosen(project: str, demonstration_id: str, share: int) -> bool:
    """Whether a demonstration is among the share (percent) of its project that two people annotate: always the same
    answer, and with a larger share those of a smaller one stay chosen."""
    digest = hashlib.sha256(f"{project}/{demonstration_id}".encode()).digest()
    return int.from_bytes(digest[:8]) % 10_000 < share * 100


def make(session: Session, row: Demonstration, base: types.Demonstration, user_name: str) -> Pair:
    """Have a demonstration annotated by a second person too."""
    copy = add(session, row, base, MARK)
    pair = Pair(original=row.id, copy=copy.id, made_by=user_name, made_at=copy.imported_at)
    session.add(pair)
    audit.note(session, user_name, "paired", row.id, copy=copy.id)
    return pair


def add(session: Session, row: Demonstration, base: types.Demonstration, mark: str) -> Demonstration:
    """A copy of a demonstration as it was recorded; `mark` ends its id."""
    now, demonstration = datetime.now(UTC), project_rules.demonstration_in(session, row.home, base)
    copy = Demonstration(
        id=_id_of(row.id, mark), project=COPIES + row.home, recording=row.recording, status=DRAFT, version=1,
        recorded_at=row.recorded_at, imported_at=now, changed_at=now, actor=row.actor, **summary.of_base(demonstration))
    session.add(copy)
    session.flush()  # others refer to it
    return copy


def make_if_chosen(session: Session, row: Demonstration, base: types.Demonstration) -> None:
    """As `make`, for what was just imported and is among the project's share."""
    project = session.get(Project, row.project)
    if project and chosen(project.id, row.id, project.double_share):
        make(session, row, base, BY_SHARE)


def base_of(session: Session, demonstration_id: str) -> str:
    """Whose base turns a demonstration has: its own, or a copy its original's."""
    if demonstration_id.endswith(MARK):
        return session.scalars(select(Pair.original).where(Pair.copy == demonstration_id)).one()
    if TRY in demonstration_id:
        return session.scalars(select(TrainingAttempt.original).where(TrainingAttempt.copy == demonstration_id)).one()
    return demonstration_id


def with_copy(session: Session, demonstration_id: str) -> list[str]:
    """The ids of an original and of its copies, if there are any."""
    return with_copies(session, [demonstration_id])


def with_copies(session: Session, originals: Iterable[str]) -> list[str]:
    """The ids of originals and of their copies."""
    ids = list(originals)
    return [*ids, *session.scalars(_copies_of(ids))]


def move_with_originals(session: Session, originals: Iterable[str], project: str) -> None:
    """Have the copies where their originals are from now on: in another project, or nowhere; nobody has them there."""
    session.execute(update(Demonstration).where(Demonstration.id.in_(_copies_of(list(originals)))).values(
        project=project if project == NOWHERE else COPIES + project, assigned_to=None, lease_who=None,
        lease_until=None).execution_options(synchronize_session=False))


def _copies_of(ids: list[str]) -> Any:
    return union_all(select(Pair.copy).where(Pair.original.in_(ids)),
                     select(TrainingAttempt.copy).where(TrainingAttempt.original.in_(ids)))


def _id_of(original: str, mark: str) -> str:
    if len(original) + len(mark) <= ID_LENGTH:
        return original + mark
    return f"{original[:ID_LENGTH - 30]}-{hashlib.sha256(original.encode()).hexdigest()[:16]}{mark}"
