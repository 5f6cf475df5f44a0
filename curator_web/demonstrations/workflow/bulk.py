"""The same change of many demonstrations, each in its own small transaction; failures are reported."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import select

from curator_web.db.database import Database
from curator_web.db.models.core import APPROVED, DRAFT, INVALID, AuditLine
from curator_web.demonstrations.leases import leases
from curator_web.demonstrations.listing import moving
from curator_web.demonstrations.listing.listing import Filter, matching_ids
from curator_web.errors import Conflict, ErrorText, NotAllowed
from curator_web.users import Account

from . import workflow

STATUS, ASSIGN, MOVE = KINDS = ("status", "assign", "move")
BATCH = 50  # demonstrations between two reports; as many are assigned or moved in one transaction
FIRST = 20  # refused ones that are told by name


@dataclass(frozen=True)
class Change:
    """What is done to each. `kind`: one of KINDS. `to`: the status, the user (None: nobody) or the project."""

    kind: str
    to: str | None
    reason: str = ""

    @property
    def words(self) -> str:
        """As on a button."""
        if self.kind == STATUS:
            return {APPROVED: "Approve", INVALID: "Mark invalid", DRAFT: "Reopen"}.get(self.to or "", f"Set {self.to}")
        return f"{'Assign' if self.kind == ASSIGN else 'Move'} to {self.to or 'nobody'}"


@dataclass
class Outcome:
    """What became of it. `first`: id and reason of the first that were refused."""

    found: int
    changed: int = 0
    refused: int = 0
    first: list[dict[str, str]] = field(default_factory=list)


def require_permitted(db: Database, change: Change, account: Account) -> None:
    """Raises InputError and NotAllowed for what would keep the change from every demonstration; only a lead may change
    all that is found."""
    if not account.leads:
        raise NotAllowed(ErrorText("only a lead can make bulk changes"))
    if change.kind == STATUS:
        workflow.read_reason(change.to or "", change.reason)
        return
    with db.reading() as session:
        if change.kind == ASSIGN:
            leases.role_of_assignee(session, change.to, account)
        else:
            moving.require_leads_both(session, change.to or "", account)


def confirmed_ids(db: Database, sought: Filter, count: int, account: Account,
                  done: AbstractSet[str] = frozenset()) -> list[str]:
    """The ids of what is sought, without those that are done already; raises Conflict where they and what is done are
    not `count`, the number that was confirmed."""
    ids = matching_ids(db, sought, account.project)
    number = len(done | set(ids))
    if number != count:
        counts = {"number": format(number, ","), "count": format(count, ",")}
        raise Conflict(
            ErrorText("the filter now matches %(number)s, not the confirmed %(count)s; %(done)s were already changed",
                      done=format(len(done), ","), **counts) if done
            else ErrorText("the filter now matches %(number)s, not the confirmed %(count)s; nothing was "
                           "changed", **counts))
    return [name for name in ids if name not in done]


def done_since(db: Database, change: Change, account: Account, since: datetime) -> set[str]:
    """The ids of what this person has changed so since a moment: a job that begins again goes on behind them."""
    action: Any = {STATUS: change.to, ASSIGN: "assigned", MOVE: "moved"}[change.kind]
    with db.reading() as session:
        done = session.scalars(select(AuditLine.demonstration_id).where(
            AuditLine.made_at >= since, AuditLine.who == account.name, AuditLine.what == action))
        return {name for name in done if name}


def change_one_by_one(db: Database, change: Change, ids: Sequence[str], account: Account,
                      step: Callable[[int], object] = lambda done: None) -> Outcome:
    """Change demonstrations of the account's project; `step` is told how many were tried."""
    outcome = Outcome(len(ids))
    for start in range(0, len(ids), BATCH):
        batch, refused = list(ids[start:start + BATCH]), dict[str, str]()
        if change.kind == STATUS:
            changed, refused = workflow.change_statuses(db, batch, change.to or "", account, change.reason)
            outcome.changed += len(changed)
        elif change.kind == ASSIGN:
            outcome.changed += leases.assign(db, batch, change.to, account, refused)
        else:
            outcome.changed += moving.move(db, batch, change.to or "", account, refused)
        outcome.refused += len(refused)
        outcome.first += [{"id": name, "reason": reason} for name, reason in refused.items()]
        del outcome.first[FIRST:]
        step(start + len(batch))
    return outcome
