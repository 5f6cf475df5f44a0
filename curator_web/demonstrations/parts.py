"""Parts: a demonstration that was split in two, as somebody recorded two tasks in one session.

The edit `end_before` takes a turn and those behind it out of a demonstration. They become one of its own, of the same
recording: its log is the other one's to there and then `begin_at`, so that all that was done, and by whom, is known
of both. It has a status, labels and comments of its own. Undoing the split sets it aside, redoing brings it back.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.deletion_models import NOWHERE
from curator_web.db.models import (
    DRAFT,
    ID_LENGTH,
    RETURNED,
    BaseTurns,
    Comment,
    Demonstration,
    Edit,
)
from curator_web.db.notification_models import Notification
from curator_web.db.project_settings_models import ProjectSettings
from curator_web.errors import Conflict
from curator_web.users import project_settings
from pipeline.turns.edits import apply_edits, labels_after, made_since_beginning, standing, task_after
from schemas import types

from . import copies, facets, in_use, leases, pairs, recounting, texts
from .library import row_of
from .summary import counts, site

_MARK = "~p"  # in a part's id, where no recording's id can have it
_OPEN = (DRAFT, RETURNED)
Log = Sequence[types.Edit]


def id_of(demonstration_id: str, number: int) -> str:
    """The id of the part that the edit of this number split off: always the same one."""
    name = f"{demonstration_id}{_MARK}{number}"
    if len(name) <= ID_LENGTH:
        return name
    return f"{demonstration_id[:ID_LENGTH - 30]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}{_MARK}{number}"


def is_part(edits: Iterable[types.Edit]) -> bool:
    """Whether a demonstration with these edits is one of the parts of a recording's."""
    return any(edit["op"] in ("end_before", "begin_at") for _, edit in standing(edits))


def split_from(edits: Iterable[types.Edit]) -> str | None:
    """The id of the demonstration that one with these edits was split off; None for any other."""
    return next((edit["other"] for _, edit in reversed(standing(edits)) if edit["op"] == "begin_at"), None)


def continued_in(demonstration_id: str, edits: Log) -> str | None:
    """The id of the part that begins where a demonstration with these edits ends; None where it was not split."""
    numbers = _splits(edits)
    return id_of(demonstration_id, max(numbers)) if numbers else None


def follow(session: Session, row: Demonstration, before: Log, after: Log, who: str) -> None:
    """Have the parts be there that a demonstration's log asks for after one more edit, inside a transaction that has
    locked it. Raises Conflict where one cannot be split, or where the split cannot be taken back."""
    had, has = _splits(before), _splits(after)
    for number in has - had:
        if after[-1]["op"] == "redo":
            _bring_back(session, row, id_of(row.id, number), who)
        else:
            _make(session, row, before, after[-1], number, who)
    for number in had - has:
        _set_aside(session, row, before[number - 1], id_of(row.id, number), who)


def _splits(edits: Log) -> set[int]:
    """The numbers of the splits that stand; those before where a part begins are the other one's."""
    numbers: set[int] = set()
    for number, edit in standing(edits):
        if edit["op"] == "begin_at":
            numbers.clear()
        elif edit["op"] == "end_before":
            numbers.add(number)
    return numbers


def _make(session: Session, row: Demonstration, log: Log, split: types.Edit, number: int, who: str) -> None:
    paired = pairs.of(session, row.id)
    if paired and (paired.open or row.id == paired.second.id):
        raise Conflict("two people annotate this demonstration; it is split when they are done, or the pair is ended")
    now, name = datetime.now(UTC), id_of(row.id, number)
    base = session.get_one(BaseTurns, copies.base_of(session, row.id)).content | {"id": name}
    new: list[types.Edit] = [{"op": "begin_at", "turn": split["turn"], "other": row.id}, *_task_of(split, row.task)]
    edits = [*log, *new]
    turns = apply_edits(base["turns"], edits)
    seen = in_use.marked(turns, project_settings.of(session, row.home), edits)
    part = Demonstration(
        id=name, project=row.project, recording=row.recording, status=DRAFT, version=1, recorded_at=row.recorded_at,
        imported_at=now, changed_at=now, recorded_by=row.recorded_by, task=task_after(base["task"], edits),
        assigned_to=row.assigned_to if row.status in _OPEN else row.submitted_by, site=site(turns),
        **counts(base["turns"], seen, edits))
    session.add(part)
    session.flush()  # the others refer to it
    session.add(BaseTurns(demonstration_id=name, content=base))
    for each in session.scalars(select(Edit).where(Edit.demonstration_id == row.id, Edit.number < number)).all():
        session.add(Edit(demonstration_id=name, number=each.number, content=each.content, who=each.who,
                         made_at=each.made_at))
    for place, content in enumerate(new, number):
        session.add(Edit(demonstration_id=name, number=place, content=content, who=who, made_at=now, version=1))
    wanted = facets.of_turns(base["turns"], seen, edits)
    wanted |= facets.of_labels(labels_after(base.get("labels", {}), edits), seen)
    wanted |= facets.held(session, row.id, ["person"])
    facets.refresh(session, name, wanted, facets.TURN_KINDS, who)
    texts.keep(session, name, part.site, part.task)
    _take_comments(session, row, part, {turn["id"] for turn in turns})
    audit.note(session, who, "split", row.id, part=name)


def _task_of(split: types.Edit, before: str) -> list[types.Edit]:
    task = split.get("task", "").strip()
    return [{"op": "set_task", "task": task}] if task and task != before else []


def _set_aside(session: Session, row: Demonstration, split: types.Edit, name: str, who: str) -> None:
    """The turns go back; raises Conflict where somebody has done something with the part, which would go with it."""
    part = row_of(session, name, lock=True)
    edits = session.scalars(select(Edit.content).where(Edit.demonstration_id == name).order_by(Edit.number)).all()
    holder = leases.holder(part)
    reasons = (
        (part.project == NOWHERE, "was deleted; restore it first"),
        (part.project != row.project, "is in another project"),
        (part.status not in _OPEN, f"is {part.status}; have it be a draft again first"),
        (holder not in (None, who), f"is being worked on by {holder}"),
        (made_since_beginning(edits) not in ([], _task_of(split, "")), "was changed since; undo that there first"))
    for holds, reason in reasons:
        if holds:
            raise Conflict(f"this cannot be undone now: {name}, which was split off, {reason}")
    part.project = NOWHERE
    leases.give_back(part)
    _take_comments(session, part, row, None)
    audit.note(session, who, "split undone", row.id, part=name)


def _bring_back(session: Session, row: Demonstration, name: str, who: str) -> None:
    part = row_of(session, name, lock=True)
    part.project = row.project
    edits = session.scalars(select(Edit.content).where(Edit.demonstration_id == name).order_by(Edit.number)).all()
    base = session.get_one(BaseTurns, name).content["turns"]
    _take_comments(session, row, part, {turn["id"] for turn in apply_edits(base, edits)})
    if session.get(ProjectSettings, row.project):  # which may have changed meanwhile
        recounting.ask(session, row.project, who, [name])
    audit.note(session, who, "split redone", row.id, part=name)


def _take_comments(session: Session, source: Demonstration, target: Demonstration, turns: Collection[str] | None
                   ) -> None:
    """Have the comments at these turns, or all, stand at another demonstration; who is told of them finds them there.
    """
    for comment in session.scalars(select(Comment).where(Comment.demonstration_id == source.id)).all():
        if turns is None or comment.turn in turns:
            comment.demonstration_id = target.id
            session.execute(update(Notification).where(Notification.comment == comment.id)
                            .values(demonstration_id=target.id))
    session.flush()
    for row in (source, target):
        row.open_comments = session.scalar(select(func.count()).where(
            Comment.demonstration_id == row.id, Comment.answers.is_(None), Comment.resolved_at.is_(None))) or 0
