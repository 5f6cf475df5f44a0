"""Changing a demonstration by an edit; who may, and the status, are `workflow`'s.

Every change names the version that it was made on, and none overwrites another: the version of a demonstration grows by
one with each change, so a change that names an old version was made by somebody who has not seen what others did
meanwhile. It is refused, and they choose after a look.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from curator_web.db.database import Database
from curator_web.db.models.core import APPROVED, INVALID, Edit, StatusChange
from curator_web.demonstrations.library import labels, project_rules, replay_proofs
from curator_web.demonstrations.library.library import Review, load
from curator_web.demonstrations.library.summary import counts
from curator_web.errors import Conflict, ErrorText, InputError
from curator_web.users import LOCAL
from curator_web.users.project_settings import Settings
from pipeline.turns.edits import WITH_POINTER, append_edit
from schemas import types
from schemas.text import storable

from . import join, split_links

LOCKED = (APPROVED, INVALID)
REASON_LENGTH = 2000
_MOVING_END = ("join", "begin_at", "end_before", "undo", "redo")  # edits that may change a session's end


def add_edit(db: Database, demonstration_id: str, edit: Mapping[str, Any], version: int, user_name: str = LOCAL) -> int:
    """Append an edit and return the new version; an edit that changes nothing is not kept.

    Raises InputError when the edit does not fit, Conflict when the version is stale, the demonstration is approved or
    invalid, or a split or a join cannot be made or taken back, NotFound.
    """
    with db.writing() as session:
        made = make_edit(session, load(session, demonstration_id, lock=True), edit, version, user_name)
        return version if made is None else made.version


@dataclass(frozen=True)
class MadeEdit:
    """An edit that was just made, with all the edits and the turns after it."""

    row: Edit
    edits: list[types.Edit]
    turns: list[types.Turn]
    version: int


def make_edit(session: Session, review: Review, edit: Mapping[str, Any], version: int,
              user_name: str, checked: bool = False) -> MadeEdit | None:
    """As `add_edit`, inside a transaction that has locked the demonstration; None for one that changes nothing.

    `checked`: the edit takes what another annotation of the recording has, in which it was checked or recorded.
    """
    _require_version(review, version)
    _require_possible(review, edit)
    before = review.turns  # one that is damaged is not changed
    base = review.base["turns"]
    brought: list[types.Edit] = []
    if edit["op"] == "join":
        edit, brought = join.prepared(session, review, edit, user_name)
    current = before if review.settings.counts_as(Settings()) else None  # otherwise with the marks of the project
    edits, turns = append_edit(base, review.edits, storable(edit), brought, current)
    made = edits[len(review.edits)]
    turns = project_rules.marked(turns, review.settings, edits)
    if not checked:
        _require_in_viewport(before, edit)
        project_rules.require_intent(review.settings, before, made)
    after = review.with_edits(edits)
    if made["op"] == "label":
        labels.require_allowed_label(session, made, review.row.home)
    changes = (turns, after.alignment, after.task, after.labels, after.outcome) != (
        before, review.alignment, review.task, review.labels, review.outcome)
    if edit["op"] not in ("undo", "redo") and not changes:
        return None
    split_links.follow(session, review.row, review.edits, edits, user_name)
    join.follow(session, review, edits, user_name)
    now = datetime.now(UTC)
    review.row.task = after.task
    if after.outcome != review.outcome or (edit["op"] in _MOVING_END and after.part != review.part):
        review.row.outcome = None  # a result of other checks, or at another end
    for name, value in counts(base, turns, edits).items():
        setattr(review.row, name, value)
    replay_proofs.update_proof_state(session, review.row, turns)
    grown = _grow(review, now)
    row = Edit(demonstration_id=review.row.id, number=len(review.edits) + 1, content=made, who=user_name, made_at=now,
               version=grown)
    session.add(row)
    if made["op"] == "join":
        session.add_all(join.rows(session, row, brought))
    return MadeEdit(row, edits, turns, grown)


def edit_log(db: Database, demonstration_id: str) -> list[Edit]:
    """Every edit ever made, undone ones too, in order; raises NotFound."""
    with db.reading() as session:
        load(session, demonstration_id)
        return list(session.scalars(
            select(Edit).where(Edit.demonstration_id == demonstration_id).order_by(Edit.number)))


def last_status_change(db: Database, demonstration_id: str) -> StatusChange | None:
    """Who gave the present status, when and why; None for a fresh draft."""
    with db.reading() as session:
        return session.scalars(
            select(StatusChange).where(StatusChange.demonstration_id == demonstration_id)
            .order_by(StatusChange.number.desc()).limit(1)).first()


def _require_in_viewport(turns: list[types.Turn], edit: Mapping[str, Any]) -> None:
    """Raises InputError for an edit that moves the pointer of an action outside the page that was shown."""
    if edit["op"] not in ("set_arguments", "set_intent", "add"):
        return
    is_new = edit["op"] == "add"
    turn: types.Turn | None = edit["added"] if is_new else next(
        (candidate for candidate in turns if candidate["id"] == edit.get("turn")), None)
    if turn is None or turn["type"] == "chat" or not turn["state"]:
        return
    before: dict[str, Any] = {} if is_new else turn["arguments"]
    arguments = turn["arguments"] if is_new else edit.get("arguments")
    if isinstance(arguments, dict) and (edit.get("intent") or turn["intent"]) in WITH_POINTER:
        _require_pointer_inside(arguments, before, turn["state"]["viewport"])


def _require_pointer_inside(arguments: Mapping[str, Any], before: Mapping[str, Any], viewport: types.Size) -> None:
    """Raises InputError when `x` or `y` differs from what it was before, and is outside the viewport."""
    for name, limit in (("x", viewport["width"]), ("y", viewport["height"])):
        value = arguments.get(name)
        if isinstance(value, (int, float)) and value != before.get(name) and not 0 <= value <= limit:
            values = {"name": name, "value": format(value, "g"), "limit": format(limit, "g")}
            raise InputError(
                ErrorText("field %(name)s: %(value)s is outside the page, which is %(limit)s pixels "
                          "wide", **values) if name == "x" else
                ErrorText("field %(name)s: %(value)s is outside the page, which is %(limit)s pixels high", **values))


def _require_possible(review: Review, edit: Mapping[str, Any]) -> None:
    """Raises InputError or Conflict for an edit that is none for this demonstration, whatever it says."""
    if review.row.status in LOCKED:
        raise Conflict(ErrorText("this demonstration is %(status)s; reopen it to change it", status=review.row.status))
    if edit["op"] == "set_task" and not str(edit.get("task", "")).strip():
        raise InputError(ErrorText("field task: enter the task of the navigator"))
    if edit["op"] == "begin_at":
        raise InputError(ErrorText("field op: begin_at is created by splitting; split the other demonstration with "
                                   "end_before"))
    if edit["op"] == "end_before" and "other" in edit:
        raise InputError(ErrorText("field other: end_before creates the id of the part; omit the field"))
    if edit["op"] == "place_video" and review.alignment is None:
        raise InputError(ErrorText("field op: this demonstration has no external video"))


def _require_version(review: Review, version: int) -> None:
    if review.row.version != version:
        raise Conflict(ErrorText("this demonstration was changed by another user; your change was not saved"))


def _grow(review: Review, now: datetime) -> int:
    review.row.version += 1
    review.row.changed_at = now
    return review.row.version
