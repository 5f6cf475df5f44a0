"""A demonstration's way through a team: draft -> submitted -> validated -> approved, or sent back, or invalid.

Who submitted a demonstration or edited it before that is its first person; somebody else validates and approves. A
project has one, two or three review steps (`users.project_settings`): with one, what is submitted is approved; with
three, who validated does not approve. The one person of a machine without accounts is bound by none of this.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import (
    APPROVED,
    DRAFT,
    INVALID,
    KEY_LENGTH,
    RETURNED,
    STATUSES,
    SUBMITTED,
    VALIDATED,
    Demonstration,
    Edit,
    SecondReview,
    StatusChange,
)
from curator_web.db.models.pair_models import ENDED
from curator_web.db.models.training_models import TrainingAttempt
from curator_web.demonstrations.leases import leases, training_attempts, visibility
from curator_web.demonstrations.library import facets, library, pairs, search_index, turn_texts
from curator_web.demonstrations.measuring import agreement
from curator_web.demonstrations.schemes import completeness
from curator_web.errors import Conflict, ErrorText, InputError, NotAllowed
from curator_web.notifications import publish
from curator_web.storage.recordings import RecordingStore
from curator_web.users import Account, project_settings
from curator_web.users.project_settings import ONE, THREE, TWO
from curator_web.webhooks import events
from pipeline.turns.edits import in_force
from schemas import DemotapeError, EditSchema
from schemas.files import validated
from schemas.text import storable

from . import edit_requirements, split_links
from .editing import REASON_LENGTH, make_edit

OPEN = (DRAFT, RETURNED)  # with who annotates
IN_REVIEW = (SUBMITTED, VALIDATED)  # with who reviews
LAST_NUMBER = 2**31 - 1  # that an integer column can hold
CLOSED = (APPROVED, INVALID)
NEEDS_REASON = (RETURNED, INVALID)
NEXT = {
    DRAFT: (SUBMITTED, APPROVED, INVALID),
    RETURNED: (SUBMITTED, APPROVED, INVALID),
    SUBMITTED: (VALIDATED, APPROVED, RETURNED, INVALID, DRAFT),
    VALIDATED: (APPROVED, RETURNED, INVALID, SUBMITTED),
    APPROVED: (DRAFT, VALIDATED),
    INVALID: (DRAFT,),
}


@dataclass(frozen=True)
class EditResult:
    """The result of an edit: the version after it, whether the same key had been used before, the demonstration after
    it unless so, and the id of the part that it split off."""

    version: int
    was_replayed: bool = False
    review: library.Review | None = None
    part: str | None = None


def edit(db: Database, store: RecordingStore, demonstration_id: str, change: Mapping[str, Any], version: int,
         account: Account, key: str | None = None, known: library.Review | None = None,
         checked: bool = False) -> EditResult:
    """Make an edit as `editing.add_edit` does, if this person may and the recording has what it refers to; renews the
    lease and what lists show. Every edit of pages, API and adjudication passes here.

    `key` is the sender's own name for this edit: sent again under it, after an answer that was lost, the edit is not
    made again, and the version that it led to is returned. `known`: what was read of the demonstration before.
    `checked`: the edit takes what another annotation of the recording has, in which it was checked or recorded.
    Raises NotAllowed, and what `add_edit` and `edit_requirements.require_recorded` raise.
    """
    if key is not None and not 0 < len(key) <= KEY_LENGTH:
        raise InputError(ErrorText("field key: must have at most %(key_length)s characters", key_length=KEY_LENGTH))
    visibility.require_visible(db, demonstration_id, account)
    if not checked and edit_requirements.concerns_recording(change):
        edit_requirements.require_recorded(change, known or library.review(db, demonstration_id), store)
    with db.writing() as session:
        review = library.load(session, demonstration_id, lock=True, known=known)
        row = review.row
        if key and (before := _made_before(session, row.id, key, change)):
            return before
        pairs.require_editable(session, row, account)
        training_attempts.require_own_attempt(session, row.id, account)
        may_edit(row, account)
        made = make_edit(session, review, change, version, account.name, checked)
        if made is None:  # it changed nothing
            return EditResult(version, review=review)
        made.row.key = key
        if change["op"] == "set_outcome":
            audit.note(session, account.name, "outcome checks", row.id, edit=made.row.number)
        leases.touch(session, row, account)
        after = replace(review, edits=made.edits, folded=made.turns)
        wanted = facets.of_turns(review.base["turns"], made.turns, made.edits)
        wanted |= facets.of_labels(after.labels, made.turns)
        facets.refresh(session, row.id, wanted, facets.TURN_KINDS, account.name)
        if turn_texts.differ(review.turns, made.turns):
            search_index.store_text(session, row.id, row.site, row.task, turn_texts.texts_of(made.turns))
        elif review.task != after.task:
            search_index.store_text(session, row.id, row.site, row.task)
        return EditResult(made.version, review=after, part=_part(made.row))


def may_edit(row, account: Account) -> None:
    """Raises NotAllowed when the demonstration is not with this person, Conflict when somebody else is at it."""
    if account.alone:
        return
    if row.status in OPEN:
        if row.assigned_to not in (None, account.name) and not account.reviews:
            raise NotAllowed(ErrorText("this demonstration is assigned to %(assigned_to)s",
                                       assigned_to=row.assigned_to))
    elif row.status in IN_REVIEW:
        if not account.reviews:
            raise NotAllowed(ErrorText("this demonstration is %(status)s; only a validator can change "
                                       "it", status=row.status))
        if row.submitted_by == account.name:
            raise NotAllowed(ErrorText("you submitted this demonstration; another user must review it"))
    leases.require_free(row, account)


def actions(row, account: Account, paired: pairs.Paired | None = None, steps: int = TWO,
            attempt: TrainingAttempt | None = None) -> tuple[str, ...]:
    """The statuses that this person can give the demonstration now, the usual one first; `paired`: its pair; `steps`:
    the review steps of its project; `tried`: what it is in training."""
    if attempt:
        return training_attempts.statuses(attempt, account)
    possible = NEXT[row.status]
    if account.alone:
        return possible
    is_own = row.submitted_by == account.name
    allowed: tuple[str, ...]
    if row.status in OPEN:
        allowed = (SUBMITTED, INVALID)
    elif row.status == SUBMITTED:
        own = (DRAFT, APPROVED) if steps == ONE else (DRAFT,)
        decided = (VALIDATED, APPROVED, RETURNED, INVALID) if steps < THREE else (VALIDATED, RETURNED, INVALID)
        allowed = own if is_own else decided if account.reviews else ()
    elif row.status == VALIDATED:
        is_other_reviewer = row.reviewed_by != account.name or (account.leads and steps < THREE)
        allowed = () if is_own or not account.reviews else (APPROVED, RETURNED,
                                                            INVALID) if is_other_reviewer else (SUBMITTED,)
    elif steps == ONE and is_own and row.status == APPROVED:
        allowed = possible if account.leads else (DRAFT,)
    else:
        allowed = possible if account.leads else ()
    fits = possible if paired is None else paired.allows(row)
    return tuple(status for status in allowed if status in possible and status in fits)


def change_status(db: Database, demonstration_id: str, status: str, version: int, account: Account,
                  reason: str = "") -> int:
    """Submit, validate, approve, send back, mark invalid, reopen; returns the new version.

    Where the project has one review step, what is submitted is approved at once, unless it waits to be compared with
    another annotation. Sending back and `invalid` need a reason. Raises InputError for what cannot be, NotAllowed for
    who may not, Conflict when the version is stale or somebody else is at work, NotFound.
    """
    reason = read_reason(status, reason)
    with db.writing() as session:
        row = library.row_of(session, demonstration_id, lock=True)  # its turns may be damaged
        if row.version != version:
            raise Conflict(ErrorText("this demonstration was changed by another user; review the changes before you "
                                     "decide"))
        if status not in NEXT[row.status]:
            raise InputError(ErrorText("field status: this demonstration is %(status)s; its status can be changed to "
                                       "%(which)s",
                                       status=row.status, which=" or ".join(NEXT[row.status])))
        paired, tried = pairs.pair_of(session, row.id,
                                      lock=True), training_attempts.require_own_attempt(session, row.id, account)
        steps = project_settings.settings_of(session, row.home).review_steps
        _may_decide(session, row, status, account, paired, steps, tried)
        leases.require_free(row, account)
        completeness.require_complete(session, row, status, account)
        now = datetime.now(UTC)
        if paired and paired.state == pairs.SET_ASIDE:  # meanwhile the other one was seen by all
            pairs.close(paired, ENDED, account.name, now)
        own = steps == ONE and status == APPROVED and row.submitted_by == account.name
        _decide(session, row, status, account, now, reason, own)
        if status == SUBMITTED and steps == ONE and not tried and not (paired and paired.open):
            _decide(session, row, APPROVED, account, now, own=True)
        if paired and paired.state == pairs.TO_COMPARE:
            agreement.note(session, paired, now)
        if tried:
            training_attempts.compare_submitted(session, tried, now)
        return row.version


def _decide(session: Session, row: Demonstration, status: str, account: Account, now: datetime, reason: str = "",
            own: bool = False) -> None:
    """One change of status with all that it brings. `own`: somebody approves their own work, so nobody reviewed it."""
    number = _next_number(session, row.id)
    if status in (VALIDATED, APPROVED) and row.status in IN_REVIEW and not account.alone and not own:
        _note_second_review(session, library.load(session, row.id), number, account.name, now)
    session.add(StatusChange(demonstration_id=row.id, number=number, status=status, reason=reason,
                             who=account.name, made_at=now, edits=_edits(session, row.id)))
    audit.note(session, account.name, status, row.id, before=row.status)
    _hand_on(row, status, account)
    if own:
        row.reviewed_by = None
    leases.touch(session, row, account)
    leases.give_back(row)
    facets.add_person(session, row.id, account.name)
    row.status = status
    row.version += 1
    row.changed_at = now
    if status == RETURNED:
        publish.of_returning(session, row, account.name)
    events.of_status(session, row, account.name)


def read_reason(status: str, reason: str) -> str:
    """The reason as it is kept; raises InputError for a status that is none, and where one is needed."""
    reason = storable(reason).strip()[:REASON_LENGTH]
    if status not in STATUSES:
        raise InputError(ErrorText("field status: unknown status %(status)r; choose from %(which)s", status=status[:40],
                                   which=", ".join(STATUSES)))
    if status in NEEDS_REASON and not reason:
        raise InputError(ErrorText("field reason: enter the reason why the demonstration is "
                                   "invalid") if status == INVALID
                         else ErrorText("field reason: enter the reason why the demonstration is sent back"))
    return reason


def change_statuses(db: Database, ids: Iterable[str], status: str, account: Account,
                    reason: str = "") -> tuple[list[str], dict[str, str]]:
    """As `change_status` for each of the account's project as it is now, by itself; returns which were changed, and why
    others were not.

    Raises InputError for too many at once.
    """
    changed, refused = [], {}
    for name in leases.require_some(ids):
        try:
            row = library.listed(db, name, account.project)
            change_status(db, name, status, row.version, account, reason)
            changed.append(name)
        except DemotapeError as error:
            refused[name] = str(error)
    return changed, refused


def history(db: Database, demonstration_id: str) -> list[StatusChange]:
    """Every change of status in order; raises NotFound."""
    with db.reading() as session:
        row = library.row_of(session, demonstration_id)
        return list(session.scalars(select(StatusChange).where(StatusChange.demonstration_id == row.id)
                                    .order_by(StatusChange.number)))


def _made_before(session: Session, demonstration_id: str, key: str, change: Mapping[str, Any]) -> EditResult | None:
    row = session.scalars(select(Edit).where(Edit.demonstration_id == demonstration_id, Edit.key == key)).first()
    if row is None:
        return None
    made, requested = row.content, validated(storable(change), EditSchema(), "edit")
    if made["op"] == "join" == requested["op"]:  # it was kept with what was found out then
        requested = {**made, "other": requested.get("other", "")}
    if made != requested:
        raise Conflict(ErrorText("another edit has this key; use a separate key for each edit"))
    return EditResult(row.version or 0, was_replayed=True, part=_part(row))


def _part(row: Edit) -> str | None:
    return split_links.id_of(row.demonstration_id, row.number) if row.content["op"] == "end_before" else None


def _may_decide(session: Session, row, status: str, account: Account, paired: pairs.Paired | None,
                steps: int, tried: TrainingAttempt | None) -> None:
    pairs.require_single(session, paired, row, account)
    if status in actions(row, account, paired, steps, tried):
        if (status in (VALIDATED, APPROVED) and not account.alone and steps > ONE
                and _worked_first(session, row, account.name)):
            raise NotAllowed(ErrorText("you edited this demonstration before it was submitted; another user must "
                                       "review it"))
        return
    if tried:
        raise NotAllowed(ErrorText("a training answer can only be submitted"))
    if paired and status not in paired.allows(row):
        raise NotAllowed(pairs.WAITS if paired.open else pairs.CLOSED_COPY)
    if row.status in IN_REVIEW and row.submitted_by == account.name:
        raise NotAllowed(ErrorText("you submitted this demonstration; another user must review it"))
    if row.status == VALIDATED and row.reviewed_by == account.name:
        raise NotAllowed(ErrorText("you validated this demonstration; another user must approve it"))
    if steps == THREE and account.reviews and status == APPROVED and row.status == SUBMITTED:
        raise NotAllowed(ErrorText("this project has three review steps: validate the demonstration first, then "
                                   "another user approves it"))
    raise NotAllowed(ErrorText("the role %(role)s cannot change the status of a demonstration from %(status)s to "
                               "%(status2)s",
                               role=account.role, status=row.status, status2=status))


def _worked_first(session: Session, row, user_name: str) -> bool:
    """Whether somebody edited the demonstration, or a part that was joined to it, before one of its submissions, while
    it was with who annotates; edits during a review make nobody the first."""
    joined = [edit["other"] for _, edit in in_force(library.load(session, row.id).edits) if edit["op"] == "join"]
    return (_edited_first(session, row.id, user_name, 0)
            or any(_edited_first(session, part, user_name, LAST_NUMBER) for part in joined))


def _edited_first(session: Session, demonstration_id: str, user_name: str, otherwise: int) -> bool:
    """As above, of one alone; `otherwise`: up to which of its edits, where it never was submitted."""
    own_edits = list(session.scalars(select(Edit.number).where(
        Edit.demonstration_id == demonstration_id, Edit.who == user_name)))
    changes = session.execute(select(StatusChange.status, StatusChange.edits).where(
        StatusChange.demonstration_id == demonstration_id).order_by(StatusChange.number)).all() if own_edits else []
    ranges = _annotated_ranges([(status, edits) for status, edits in changes])
    if not any(status == SUBMITTED for status, _ in changes):
        ranges = [(0, otherwise)]
    return any(first < number <= last for number in own_edits for first, last in ranges)


def _annotated_ranges(changes: list[tuple[str, int | None]]) -> list[tuple[int, int]]:
    """Before which edit each time began that a demonstration was open and then submitted, and its last edit. `changes`:
    each status with the number of edits then; None where an early version did not count them."""
    submitted = [edits for status, edits in changes if status == SUBMITTED and edits is not None]
    ranges, before, first = [(0, min(submitted, default=0))], DRAFT, 0
    for status, edits in changes:
        if before in OPEN and status == SUBMITTED and edits is not None:
            ranges.append((first, edits))
        if status not in OPEN or before not in OPEN:
            first = first if edits is None else edits
        before = status
    return ranges


def _hand_on(row, status: str, account: Account) -> None:
    """Who has it next, and who was what."""
    if status == SUBMITTED and row.status in OPEN:
        row.submitted_by, row.reviewed_by, row.assigned_to = account.name, None, None
    elif status == APPROVED or (status == VALIDATED and row.status == SUBMITTED):
        row.reviewed_by, row.assigned_to = account.name, None
    elif status == RETURNED:
        row.reviewed_by, row.assigned_to = account.name, row.submitted_by
    elif status == SUBMITTED:
        row.reviewed_by = None
    elif status == DRAFT:
        row.reviewed_by, row.assigned_to = None, row.submitted_by if row.status == SUBMITTED else row.assigned_to


def _note_second_review(session: Session, review: library.Review, number: int, user_name: str, now: datetime) -> None:
    """Note whether the user who decides has changed anything of what was submitted; `number` is the decision's.

    This is no agreement of two people: the second one began with the first one's work.
    """
    submitted = session.scalars(select(StatusChange).where(
        StatusChange.demonstration_id == review.row.id, StatusChange.status == SUBMITTED)
        .order_by(StatusChange.number.desc()).limit(1)).first()
    if submitted is None or submitted.edits is None or submitted.who == user_name:
        return
    handed_in = review.with_edits(review.edits[:submitted.edits])
    session.add(SecondReview(demonstration_id=review.row.id, number=number, first=submitted.who, second=user_name,
                             made_at=now, unchanged=handed_in.current() == review.current()))


def _edits(session: Session, demonstration_id: str) -> int:
    return session.scalar(select(func.count()).select_from(Edit).where(Edit.demonstration_id == demonstration_id)) or 0


def _next_number(session: Session, demonstration_id: str) -> int:
    return 1 + (session.scalar(select(func.max(StatusChange.number))
                               .where(StatusChange.demonstration_id == demonstration_id)) or 0)
