"""Parts: a demonstration that was split in two, as somebody recorded two tasks in one session.

The edit `end_before` takes a turn and those behind it out of a demonstration. They become one of its own, of the same
recording: its log is the other one's to there and then `begin_at`, so that all that was done, and by whom, is known
of both. It has a status, labels and comments of its own. Undoing the split sets it aside, redoing brings it back;
`join` joins them later.
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import DRAFT, ID_LENGTH, RETURNED, BaseTurns, Comment, Demonstration, Edit
from curator_web.db.models.deletion_models import NOWHERE
from curator_web.db.models.notification_models import Notification
from curator_web.db.models.project_settings_models import ProjectSettings
from curator_web.demonstrations.leases import leases, training_attempts
from curator_web.demonstrations.library import (
    copies,
    facets,
    pairs,
    project_rules,
    recounting,
    search_index,
    turn_texts,
)
from curator_web.demonstrations.library.library import Review, load, row_of
from curator_web.demonstrations.library.summary import counts, site
from curator_web.demonstrations.schemes.answers import move_answers
from curator_web.errors import Conflict, ErrorText
from curator_web.users import project_settings
from pipeline.turns.edits import apply_edits, in_force, labels_after, made_since_beginning, standing, task_after
from schemas import types

_MARK = "~p"  # in a part's id, where no recording's id can have it
_OPEN = (DRAFT, RETURNED)
Log = Sequence[types.Edit]


def id_of(demonstration_id: str, number: int) -> str:
    """The id of the part that the edit of this number split off: always the same one."""
    name = f"{demonstration_id}{_MARK}{number}"
    if len(name) <= ID_LENGTH:
        return name
    return f"{demonstration_id[:ID_LENGTH - 30]}-{hashlib.sha256(name.encode()).hexdigest()[:16]}{_MARK}{number}"


def is_part(demonstration_id: str, edits: Log) -> bool:
    """Whether a demonstration with these edits is one of the parts of a recording's."""
    return (continued_in(demonstration_id, edits) is not None
            or any(edit["op"] == "begin_at" for _, edit in standing(edits)))


def continued_in(demonstration_id: str, edits: Log) -> str | None:
    """The id of the part that begins where a demonstration with these edits ends; None where it goes to the end."""
    following: list[str | int] = []  # parts by id, or by the number of the split in this log; the nearest last
    for number, edit in in_force(edits):
        if edit["op"] == "begin_at":  # what was split before was split by the other one
            following = [_named(edit["other"], part_id) for part_id in following]
        elif edit["op"] == "end_before":
            following.append(edit.get("other", number))
        elif edit["op"] == "join":
            following.pop()
    return _named(demonstration_id, following[-1]) if following else None


def _named(demonstration_id: str, part: str | int) -> str:
    return part if isinstance(part, str) else id_of(demonstration_id, part)


@dataclass(frozen=True)
class Neighbours:
    """The parts that a part stands between; None where it stands at the recording's beginning or end, or the
    neighbour is out of sight."""

    before: Demonstration | None = None
    after: Demonstration | None = None


def neighbours(db: Database, review: Review) -> Neighbours:
    """The parts before and behind a demonstration; raises Damaged where the log of one cannot be read."""
    if not is_part(review.row.id, review.edits):
        return Neighbours()
    with db.reading() as session:
        rows = session.scalars(select(Demonstration).where(
            Demonstration.recording == review.row.recording, Demonstration.project == review.row.project,
            Demonstration.id != review.row.id)).all()
        before = (row for row in rows if continued_in(row.id, load(session, row.id).edits) == review.row.id)
        after = continued_in(review.row.id, review.edits)
        return Neighbours(next(before, None), next((row for row in rows if row.id == after), None))


def follow(session: Session, row: Demonstration, before: Log, after: Log, user_name: str) -> None:
    """Have the part be there that a demonstration's log asks for after one more edit, inside a transaction that has
    locked it. Raises Conflict where one cannot be split, or where the split cannot be taken back."""
    had, has = standing(before), standing(after)
    number, change = (has if len(has) > len(had) else had)[-1]
    if change["op"] != "end_before":
        return
    if len(has) < len(had):
        _set_aside(session, row, change, id_of(row.id, number), user_name)
    elif after[-1]["op"] == "redo":
        _bring_back(session, row, id_of(row.id, number), user_name)
    else:
        _make(session, row, before, change, number, user_name)


def require_single(session: Session, row: Demonstration) -> None:
    """Raises Conflict where two people annotate a demonstration, which is of the whole recording then, or it is
    training."""
    training_attempts.require_no_training(session, row.id)
    paired = pairs.pair_of(session, row.id)
    if paired and (paired.open or row.id == paired.second.id):
        raise Conflict(ErrorText("two people annotate this demonstration; split it after both have finished, or end "
                                 "the pair"))


def _make(session: Session, row: Demonstration, log: Log, split: types.Edit, number: int, user_name: str) -> None:
    require_single(session, row)
    now, name = datetime.now(UTC), id_of(row.id, number)
    base = session.get_one(BaseTurns, copies.base_of(session, row.id)).content | {"id": name}
    new: list[types.Edit] = [{"op": "begin_at", "turn": split["turn"], "other": row.id}, *_task_of(split, row.task)]
    edits = [*log, *new]
    turns = apply_edits(base["turns"], edits)
    marked_turns = project_rules.marked(turns, project_settings.settings_of(session, row.home), edits)
    part = Demonstration(
        id=name, project=row.project, recording=row.recording, status=DRAFT, version=1, recorded_at=row.recorded_at,
        imported_at=now, changed_at=now, recorded_by=row.recorded_by, actor=row.actor,
        task=task_after(base["task"], edits), assigned_to=row.assigned_to if row.status in _OPEN else row.submitted_by,
        site=site(turns), **counts(base["turns"], marked_turns, edits))
    session.add(part)
    session.flush()  # the others refer to it
    session.add(BaseTurns(demonstration_id=name, content=base))
    for edit_row in session.scalars(select(Edit).where(Edit.demonstration_id == row.id, Edit.number < number)).all():
        session.add(Edit(demonstration_id=name, number=edit_row.number, content=edit_row.content, who=edit_row.who,
                         made_at=edit_row.made_at))
    for index, content in enumerate(new, number):
        session.add(Edit(demonstration_id=name, number=index, content=content, who=user_name, made_at=now, version=1))
    wanted = facets.of_turns(base["turns"], marked_turns, edits)
    wanted |= facets.of_labels(labels_after(base.get("labels", {}), edits), marked_turns)
    wanted |= facets.stored_facets(session, row.id, ["person"])
    facets.refresh(session, name, wanted, facets.TURN_KINDS, user_name)
    search_index.store_text(session, name, part.site, part.task, turn_texts.texts_of(turns))
    take_remarks(session, row, part, {turn["id"] for turn in turns})
    audit.note(session, user_name, "split", row.id, part=name)


def _task_of(split: types.Edit, before: str) -> list[types.Edit]:
    task = split.get("task", "").strip()
    return [{"op": "set_task", "task": task}] if task and task != before else []


def _set_aside(session: Session, row: Demonstration, split: types.Edit, name: str, user_name: str) -> None:
    """The turns go back; raises Conflict where somebody has done something with the part, which would go with it."""
    part = row_of(session, name, lock=True)
    edits = session.scalars(select(Edit.content).where(Edit.demonstration_id == name).order_by(Edit.number)).all()
    holder = leases.holder(part)
    reasons = (
        (part.project == NOWHERE, "was deleted; restore it first"),
        (part.project != row.project, "is in another project"),
        (part.status not in _OPEN, f"is {part.status}; reopen it first"),
        (holder not in (None, user_name), f"is locked by {holder}"),
        (made_since_beginning(edits) not in ([], _task_of(split, "")), "was changed since; undo its changes first"))
    for holds, reason in reasons:
        if holds:
            raise Conflict(ErrorText("this cannot be undone: %(name)s, which was split off, %(reason)s", name=name,
                                     reason=reason))
    part.project = NOWHERE
    leases.give_back(part)
    take_remarks(session, part, row, None)
    audit.note(session, user_name, "split undone", row.id, part=name)


def _bring_back(session: Session, row: Demonstration, name: str, user_name: str) -> None:
    part = row_of(session, name, lock=True)
    part.project = row.project
    edits = session.scalars(select(Edit.content).where(Edit.demonstration_id == name).order_by(Edit.number)).all()
    base = session.get_one(BaseTurns, name).content["turns"]
    take_remarks(session, row, part, {turn["id"] for turn in apply_edits(base, edits)})
    recount(session, row, name, user_name)
    audit.note(session, user_name, "split redone", row.id, part=name)


def recount(session: Session, row: Demonstration, name: str, user_name: str) -> None:
    """Have a part that comes back be counted by the settings of its project, which may have changed meanwhile."""
    if session.get(ProjectSettings, row.project):
        recounting.queue_recount(session, row.project, user_name, [name])


def take_remarks(session: Session, source: Demonstration, target: Demonstration, turns: Collection[str] | None,
                  of_all: Collection[int] = ()) -> None:
    """Have the comments and answers at these turns, or all, stand at another demonstration; who is told of comments
    finds them there.
    `of_all`: those at no turn that go too, by their ids, with the answers to them.
    """
    for comment in session.scalars(select(Comment).where(Comment.demonstration_id == source.id)).all():
        if turns is None or comment.turn in turns or (comment.answers or comment.id) in of_all:
            comment.demonstration_id = target.id
            session.execute(update(Notification).where(Notification.comment == comment.id)
                            .values(demonstration_id=target.id))
    move_answers(session, source.id, target.id, turns)
    session.flush()
    for row in (source, target):
        row.open_comments = session.scalar(select(func.count()).where(
            Comment.demonstration_id == row.id, Comment.answers.is_(None), Comment.resolved_at.is_(None))) or 0
