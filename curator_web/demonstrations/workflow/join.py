"""Joining: a demonstration and the part that was split off behind it become one again, whatever was done to both.

The edit `join` brings the part's turns back, as they are there. The edits that the part had of its own stand behind it
in the log, with who made them and when; the part is set aside, as undoing a split does. What is said of the whole has
to be said of both, so status, labels and the place of the external video must be the same.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.models.core import AuditLine, Comment, Demonstration, Edit
from curator_web.db.models.deletion_models import NOWHERE
from curator_web.demonstrations.leases import leases
from curator_web.demonstrations.library import facets
from curator_web.demonstrations.library.library import Review, load, row_of
from curator_web.errors import Conflict, ErrorText, InputError
from pipeline.turns.edits import in_force, standing
from schemas import types

from . import split_links

_AUDITED = "joined"
SHOWN = 40  # characters of what is said by a label


def prepared(session: Session, review: Review, edit: Mapping[str, Any], user_name: str
             ) -> tuple[types.Edit, list[types.Edit]]:
    """The edit as it is kept, and the part's own edits, inside a transaction that has locked the demonstration.

    Raises InputError for what does not follow this demonstration, Conflict where the two cannot be one.
    """
    if extra := sorted(edit.keys() & {"edits", "outcome"}):
        raise InputError(ErrorText("field %(extra)s: is determined by the server; omit it", extra=extra[0]))
    part = _require_joinable(session, review, str(edit.get("other", "")), user_name)
    brought = [content for _, content in _own_edits(part)]
    join: types.Edit = {"op": "join", "other": part.row.id, "edits": len(brought), "outcome": part.outcome}
    task = " ".join(str(edit.get("task", "")).split())
    return join | {"task": task} if task and task != review.task else join, brought


def rows(session: Session, join: Edit, brought: Sequence[types.Edit]) -> list[Edit]:
    """The part's own edits as they stand behind the join in the log, with who made them and when."""
    part = join.content["other"]
    made = {row.number: row for row in session.scalars(select(Edit).where(Edit.demonstration_id == part))}
    numbers = [number for number, _ in _own_edits(load(session, part))]
    return [Edit(demonstration_id=join.demonstration_id, number=number_, content=content, who=made[number].who,
                 made_at=made[number].made_at)
            for number_, (number, content) in enumerate(zip(numbers, brought, strict=True), join.number + 1)]


def follow(session: Session, review: Review, after: Sequence[types.Edit], user_name: str) -> None:
    """Set the part aside or bring it back as the log asks for after one more edit. Raises Conflict where it cannot
    be."""
    had, has = standing(review.edits), standing(after)
    number, change = (has if len(has) > len(had) else had)[-1]
    if change["op"] != "join":
        return
    if len(has) < len(had):
        return _bring_back(session, review.row, change["other"], user_name)
    redone = after[len(review.edits)]["op"] == "redo"
    if redone:
        part = _require_joinable(session, review, change["other"], user_name)
        brought = [content for _, content in _own_edits(part)]
        if brought != list(after[number:number + change["edits"]]) or part.outcome != change.get("outcome"):
            raise Conflict(ErrorText("this cannot be redone: %(id)s was changed in the meantime; join it again",
                                     id=part.row.id))
    _set_aside(session, review.row, row_of(session, change["other"]), user_name, redone)


def _require_joinable(session: Session, review: Review, name: str, user_name: str) -> Review:
    """The part, locked. Raises InputError for one that does not follow, Conflict for the first reason against it."""
    row = review.row
    following = split_links.continued_in(row.id, review.edits)
    if following is None:
        raise InputError(ErrorText("field other: this demonstration was not split, so it cannot be joined"))
    if name != following:
        raise InputError(ErrorText("field other: %(name)r does not follow this demonstration; %(following)s does",
                                   name=name[:100], following=following))
    part = load(session, following, lock=True)
    for holds, reason in _against(review, part, user_name):
        if holds:
            raise Conflict(ErrorText("%(following)s cannot be joined to this one: %(reason)s", following=following,
                                     reason=reason))
    return part


def _against(review: Review, part: Review, user_name: str) -> list[tuple[bool, str]]:
    """What may stand against joining, each with whether it does."""
    row, part_row, holder = review.row, part.row, leases.holder(part.row)
    labels = next((label for label in sorted(review.labels.keys() | part.labels.keys())
                   if review.labels.get(label) != part.labels.get(label)), "")
    said = [", ".join(joined.labels.get(labels, ())) or "nothing" for joined in (review, part)]
    return [
        (part_row.project == NOWHERE, "it was deleted; restore it first"),
        (part_row.project != row.project, "it is in another project"),
        (holder not in (None, user_name), f"it is locked by {holder}"),
        (part_row.status != row.status,
         f"its status is {part_row.status}, the status of this one is {row.status}; they must be equal"),
        (part_row.assigned_to not in (None, user_name, row.assigned_to), f"it is assigned to {part_row.assigned_to}"),
        (part_row.submitted_by != row.submitted_by and row.status in ("submitted", "validated"),
         f"it was submitted by {part_row.submitted_by}, this one by {row.submitted_by}"),
        (part_row.reviewed_by != row.reviewed_by and row.status == "validated",
         f"it was validated by {part_row.reviewed_by}, this one by {row.reviewed_by}"),
        (bool(labels), f"its label {labels!r} is {said[1][:SHOWN]!r}, the label of this one is {said[0][:SHOWN]!r}; "
                       "they must be equal"),
        (review.outcome not in (None, part.outcome),
         "this one has outcome checks, whose end would be in the middle of the joined demonstration; delete them "
         "first"),
        (review.alignment != part.alignment, "its external video has another placement; set the same placement first"),
        (bool(twice := {turn["id"] for turn in review.turns} & {turn["id"] for turn in part.turns}),
         f"both have a turn {min(twice, default='')!r}")]


def _own_edits(part: Review) -> list[tuple[int, types.Edit]]:
    """The edits in force that a part had since it was split off, each with its number there; its own splits name what
    they split off, for the number says that no more elsewhere."""
    begin = max(number for number, edit in standing(part.edits) if edit["op"] == "begin_at")
    return [(number, edit if edit["op"] != "end_before" else {"other": split_links.id_of(part.row.id, number), **edit})
            for number, edit in in_force(part.edits) if number > begin]


def _set_aside(session: Session, row: Demonstration, part: Demonstration, user_name: str, redone: bool) -> None:
    part.project = NOWHERE
    leases.give_back(part)
    row.work_seconds += part.work_seconds
    for _, person in facets.stored_facets(session, part.id, ["person"]):
        facets.add_person(session, row.id, person)
    of_all = session.scalars(select(Comment.id).where(Comment.demonstration_id == part.id, Comment.turn.is_(None)))
    audit.note(session, user_name, "join redone" if redone else _AUDITED, row.id, part=part.id, of_all=sorted(of_all))
    split_links.take_remarks(session, part, row, None)


def _bring_back(session: Session, row: Demonstration, name: str, user_name: str) -> None:
    split_links.require_single(session, row)
    part = load(session, name, lock=True)
    part.row.project = row.project
    row.work_seconds = max(row.work_seconds - part.row.work_seconds, 0)
    lines = session.scalars(select(AuditLine.details).where(
        AuditLine.demonstration_id == row.id, AuditLine.what.in_((_AUDITED, "join redone")))
        .order_by(AuditLine.id.desc()))
    of_all: list[int] = next((line["of_all"] for line in lines if line["part"] == name), [])
    split_links.take_remarks(session, row, part.row, {turn["id"] for turn in part.turns}, of_all)
    split_links.recount(session, row, name, user_name)
    audit.note(session, user_name, "join undone", row.id, part=name)
