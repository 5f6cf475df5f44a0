"""Handing out work: who gets which demonstration next, for how long it is theirs alone, and what a lead assigns.

A lease ends by itself; edits renew it. Nobody else can edit or decide meanwhile. Two processes that are asked at once
hand out two demonstrations: the row is locked while it is given away.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, and_, exists, or_, select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import (
    ACTIVE,
    ANNOTATOR,
    APPROVED,
    COPIES,
    DRAFT,
    INVALID,
    RETURNED,
    SUBMITTED,
    VALIDATED,
    Demonstration,
    User,
)
from curator_web.demonstrations.library import copies, facets, pairs
from curator_web.errors import Conflict, ErrorText, InputError, NotAllowed, NotFound
from curator_web.notifications import publish
from curator_web.users import Account, members

from . import training_attempts

LEASE = timedelta(minutes=30)
PAUSE = timedelta(minutes=5)  # a longer silence between two steps of a person is not counted as work
WORK = (RETURNED, DRAFT, SUBMITTED, VALIDATED)
ASSIGN_LIMIT = 1000  # demonstrations at a time


def stages(account: Account) -> tuple[str, ...]:
    """The statuses in which demonstrations are this person's work, in the order in which they are handed out."""
    if account.alone:
        return WORK
    if account.leads:
        return (VALIDATED, SUBMITTED)
    return (SUBMITTED, VALIDATED) if account.reviews else (RETURNED, DRAFT)


def take_next(db: Database, account: Account, after: str | None = None) -> Demonstration | None:
    """Hand out the next demonstration of the account's project with a lease, which who is alone needs not; None when
    there is nothing to do.

    Before training is passed, it is all that they get (`training_attempts`). What is leased to this person already
    comes first, then what is assigned to them, then what is nobody's, the oldest first. `after` is the one that they
    leave: its lease ends, and it is not handed out again at once.
    """
    now = datetime.now(UTC)
    with db.writing() as session:
        if after is not None:
            _leave(session, after, account)
        trains = training_attempts.comes_first(session, account)
        row = training_attempts.next_answer(session, trains, account, after) if trains else _first(session, account,
                                                                                                   now, after)
        if row is None or account.alone:
            return row
        row.lease_who, row.lease_until = account.name, now + LEASE
        row.touched_by, row.touched_at = account.name, now
        audit.note(session, account.name, "handed out", row.id)
        return row


def assign(db: Database, ids: list[str], to: str | None, account: Account,
           refused: dict[str, str] | None = None) -> int:
    """Assign demonstrations of the account's project to a member, or to nobody; returns how many were changed.

    Only a lead may. Raises NotAllowed, InputError for somebody who is no member or too many at once, NotFound. Where
    one cannot be assigned none is, or with `refused` all others are, and the reason is put there by id.
    """
    with db.writing() as session:
        role = role_of_assignee(session, to, account)
        changed = []
        for row in chosen(session, ids, account, refused, copies=True):
            if row.assigned_to == to:
                continue
            try:
                _check_fits(session, row, to, role)
            except InputError as error:
                if refused is None:
                    raise
                refused[row.id] = str(error)
                continue
            row.assigned_to = to
            if row.lease_who != to:
                give_back(row)
            if to:
                facets.add_person(session, row.id, to)
            audit.note(session, account.name, "assigned", row.id, to=to)
            changed.append(row)
        if to:
            publish.of_assigning(session, changed, to, account.name)
        return len(changed)


def role_of_assignee(session: Session, to: str | None, account: Account) -> str | None:
    """The role of who gets demonstrations of the account's project; None for nobody. Raises NotAllowed for who does
    not lead it, InputError for somebody who is no member."""
    if not account.leads:
        raise NotAllowed(ErrorText("only a lead can assign demonstrations"))
    user = session.get(User, to) if to else None
    role = members.role_of(session, to, account.project) if to and user else None
    if to and (role is None or user is None or user.state != ACTIVE):
        raise InputError(ErrorText("field to: unknown member %(to)r of this project", to=to[:80]))
    return role


def chosen(session: Session, ids: Iterable[str], account: Account, refused: dict[str, str] | None = None, *,
           copies: bool = False) -> Sequence[Demonstration]:
    """The demonstrations of the account's project that have these ids, kept from others, and with `copies` those for
    second annotators; raises InputError for none or too many, and NotFound, or with `refused` puts there which are
    missing."""
    ids, projects = require_some(ids), [account.project, *([COPIES + account.project] if copies else [])]
    rows = session.scalars(select(Demonstration)
                           .where(Demonstration.project.in_(projects), Demonstration.id.in_(ids))
                           .order_by(Demonstration.id).with_for_update()).all()
    missing = {name: f"unknown demonstration {name[:80]!r}" for name in sorted(set(ids) - {row.id for row in rows})}
    if missing and refused is None:
        raise NotFound(next(iter(missing.values())))
    if refused is not None:
        refused.update(missing)
    return rows


def require_some(ids: Iterable[str]) -> list[str]:
    """Each id once; raises InputError for none or too many."""
    ids = list(dict.fromkeys(ids))
    if not 0 < len(ids) <= ASSIGN_LIMIT:
        raise InputError(ErrorText("field ids: must have 1 to %(assign_limit)s "
                                   "demonstrations", assign_limit=ASSIGN_LIMIT))
    return ids


def touch(session: Session, row: Demonstration, account: Account) -> None:
    """A step of work: renews the lease, or takes one, and counts the time since this person's last step."""
    now = datetime.now(UTC)
    if row.touched_by == account.name and row.touched_at:
        row.work_seconds += round(min(max(now - row.touched_at, timedelta()), PAUSE).total_seconds())
    row.touched_by, row.touched_at = account.name, now
    if not account.alone:
        row.lease_who, row.lease_until = account.name, now + LEASE


def give_back(row: Demonstration) -> None:
    """End the lease."""
    row.lease_who = row.lease_until = None


def holder(row: Demonstration) -> str | None:
    """Who has the demonstration now."""
    return row.lease_who if row.lease_until and row.lease_until > datetime.now(UTC) else None


def require_free(row: Demonstration, account: Account) -> None:
    """Raises Conflict while somebody else has the demonstration."""
    holder_name = holder(row)
    if holder_name not in (None, account.name) and not account.alone:
        now = datetime.now(UTC)
        minutes = max(1, round(((row.lease_until or now) - now) / timedelta(minutes=1)))
        raise Conflict(ErrorText("%(who)s has locked this demonstration; the lock ends in %(minutes)s minutes "
                                 "without further edits",
                                 who=holder_name, minutes=minutes))


def _first(session: Session, account: Account, now: datetime, after: str | None) -> Demonstration | None:
    # Few at most, so they are sorted here: their own index is the only one that leads to them.
    queues = _queues(account)
    leased = session.scalars(select(Demonstration).where(Demonstration.lease_who == account.name,
                                                         or_(*(and_(*queue) for queue in queues)))
                             .with_for_update(skip_locked=True)).all()
    statuses_ = (*stages(account), *(status for status in WORK if status not in stages(account)))
    order = {status: rank for rank, status in enumerate(statuses_)}
    continued = [row for row in leased if row.status in order and row.id != after and not row.damage]
    if continued:
        return min(continued, key=lambda row: (order[row.status], row.imported_at, row.id))
    passed = [or_(Demonstration.lease_until.is_(None), Demonstration.lease_until < now), Demonstration.damage.is_(None),
              *([Demonstration.id != after] if after else [])]
    # What was assigned to somebody, or was sent back to them, is theirs whatever their role. Mostly there is nothing.
    assigned = Demonstration.assigned_to == account.name
    in_project = Demonstration.project.in_((account.project, COPIES + account.project))
    anything = session.scalar(select(exists().where(in_project, assigned, Demonstration.status.in_(WORK))))
    for belongs, statuses in ((assigned, statuses_ if anything else ()),
                              (Demonstration.assigned_to.is_(None), stages(account))):
        for status in statuses:
            fits = [Demonstration.status == status, belongs, *passed, *_suits(status, account)]
            candidates = [row for queue in queues if (row := _oldest(session, [*queue, *fits]))]
            if candidates:
                return min(candidates, key=lambda row: (row.imported_at, row.id))
    return None


def _queues(account: Account) -> list[list[ColumnElement[bool]]]:
    """What is handed out: each in an order of its own, which is its index."""
    own: list[ColumnElement[bool]] = [Demonstration.project == account.project]
    copy = [Demonstration.project == COPIES + account.project, Demonstration.id.in_(pairs.open_ids(account.project))]
    return [own] if account.alone else [own, copy]


def _suits(status: str, account: Account) -> list[ColumnElement[bool]]:
    """What keeps those of a status from being handed out to this person."""
    if account.alone:
        return []
    fits: list[ColumnElement[bool]] = [Demonstration.id.not_in(pairs.not_theirs(account.name, account.project))]
    if status in (SUBMITTED, VALIDATED):
        fits += [or_(Demonstration.submitted_by.is_(None), Demonstration.submitted_by != account.name),
                 Demonstration.id.not_in(pairs.open_ids(account.project))]
    if status == VALIDATED and not account.leads:
        fits.append(or_(Demonstration.reviewed_by.is_(None), Demonstration.reviewed_by != account.name))
    return fits


def _oldest(session: Session, conditions: list[ColumnElement[bool]]) -> Demonstration | None:
    return session.scalars(
        select(Demonstration).where(*conditions).order_by(Demonstration.imported_at, Demonstration.id)
        .limit(1).with_for_update(skip_locked=True)).first()


def _leave(session: Session, demonstration_id: str, account: Account) -> None:
    row = session.get(Demonstration, demonstration_id, with_for_update=True)
    if row is not None and row.lease_who == account.name:
        give_back(row)


def _check_fits(session: Session, row: Demonstration, to: str | None, role: str | None) -> None:
    if to is None:
        return
    if copies.TRY in row.id:
        raise InputError(ErrorText("demonstration %(id)s is a training answer; it cannot be assigned",
                                   id=row.id))
    paired = pairs.pair_of(session, row.id)
    if paired and not paired.open and row.id == paired.second.id:
        raise InputError(ErrorText("demonstration %(id)s: %(why)s", id=row.id, why=pairs.CLOSED_COPY))
    if paired and paired.open and row.status == SUBMITTED:
        raise InputError(ErrorText("demonstration %(id)s: %(why)s", id=row.id, why=pairs.WAITS))
    if paired and paired.open and pairs.works_on(session, paired.other(row.id).id, to):
        raise InputError(ErrorText("demonstration %(id)s: %(to)s is the other annotator of this pair; assign it to "
                                   "another user", id=row.id, to=to))
    if row.status in (APPROVED, INVALID):
        raise InputError(ErrorText("demonstration %(id)s is %(status)s; it requires no further work", id=row.id,
                                   status=row.status))
    if row.status in (SUBMITTED, VALIDATED):
        if role == ANNOTATOR:
            raise InputError(ErrorText("demonstration %(id)s is %(status)s; assign it to a validator", id=row.id,
                                       status=row.status))
        if row.submitted_by == to:
            raise InputError(ErrorText("demonstration %(id)s was submitted by %(to)s; assign it to another user",
                                       id=row.id, to=to))
