"""Double annotation as leads configure it: share, additional demonstrations, and end. Also the list of pairs, for
whoever has to do with them.
"""

from datetime import UTC, datetime
from functools import lru_cache

from sqlalchemy import Select, exists, func, or_, select
from sqlalchemy.orm import aliased

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import DRAFT, SUBMITTED, BaseTurns, Demonstration, Edit, Project
from curator_web.db.models.pair_models import ENDED, Pair
from curator_web.demonstrations.leases import leases
from curator_web.demonstrations.library import copies, library, pairs
from curator_web.demonstrations.library.pairs import Paired
from curator_web.errors import ErrorText, InputError, NotFound
from curator_web.users import Account
from curator_web.users.projects import require_lead

from . import split_links

SHOWN = 500  # the latest
NOBODY = ErrorText("field share: double annotation requires two accounts; create them first (demotape user add)")


def share(db: Database, project: str) -> int:
    """How many percent of a project's demonstrations two people annotate."""
    with db.reading() as session:
        return session.get_one(Project, project).double_share


def set_share(db: Database, percent: int, account: Account) -> int:
    """Have so many percent of the account's project annotated by two people: of what comes, and of drafts that nobody
    has begun. Returns how many of these were chosen now; pairs that there are stay. Raises NotAllowed, InputError."""
    require_lead(account)
    if not 0 <= percent <= 100:
        raise InputError(ErrorText("field share: must be a number from 0 to 100"))
    if account.alone and percent:
        raise InputError(NOBODY)
    with db.writing() as session:
        session.get_one(Project, account.project, with_for_update=True).double_share = percent
        audit.note(session, account.name, "share set", project=account.project, share=percent)
        begun = exists(select(Edit.number).where(Edit.demonstration_id == Demonstration.id))
        paired = exists(select(Pair.copy).where(Pair.original == Demonstration.id))
        drafts = session.scalars(select(Demonstration.id).where(
            Demonstration.project == account.project, Demonstration.status == DRAFT, Demonstration.damage.is_(None),
            ~begun, ~paired))
        ids = [name for name in drafts if copies.chosen(account.project, name, percent)]
        for name in ids:
            copies.make(session, session.get_one(Demonstration, name), session.get_one(BaseTurns, name).content,
                        account.name)
        return len(ids)


def choose(db: Database, ids: list[str], account: Account) -> int:
    """Have these demonstrations annotated by two people, all or none; returns of how many that is new. Raises
    NotAllowed, NotFound, InputError for one that was reviewed already or none."""
    require_lead(account)
    if account.alone:
        raise InputError(NOBODY.replace("share", "ids"))
    with db.writing() as session:
        made = 0
        for row in leases.chosen(session, ids, account):
            if session.get(Pair, row.id):
                continue
            if row.status not in (DRAFT, SUBMITTED):
                raise InputError(ErrorText("demonstration %(id)s is %(status)s; double annotation requires drafts or "
                                           "submitted demonstrations", id=row.id, status=row.status))
            if split_links.is_part(row.id, library.load(session, row.id).edits):
                raise InputError(ErrorText("demonstration %(id)s was split; double annotation requires whole "
                                           "recordings",
                                           id=row.id))
            copies.make(session, row, session.get_one(BaseTurns, row.id).content, account.name)
            made += 1
        return made


def end(db: Database, demonstration_id: str, account: Account) -> None:
    """End a pair that is not compared: the first annotation is worked on as any other, the second one is kept and
    closed. Raises NotAllowed, NotFound, InputError for one that is closed."""
    require_lead(account)
    with db.writing() as session:
        paired = pairs.pair_of(session, demonstration_id, lock=True)
        if paired is None or paired.first.project != account.project:
            raise NotFound(ErrorText("unknown pair %(demonstration_id)r", demonstration_id=demonstration_id[:80]))
        if paired.pair.outcome:
            raise InputError(ErrorText("this pair is already %(outcome)s", outcome=paired.pair.outcome))
        pairs.close(paired, ENDED, account.name, datetime.now(UTC))
        leases.give_back(paired.second)
        paired.second.assigned_to = None
        audit.note(session, account.name, "pair ended", paired.first.id)


def listed(db: Database, account: Account) -> list[Paired]:
    """The pairs of the account's project, the latest first: a lead's are all, who reviews has those to be compared,
    and everybody those in which they annotate."""
    first, second = aliased(Demonstration), aliased(Demonstration)
    query = (select(Pair, first, second).join(first, first.id == Pair.original).join(second, second.id == Pair.copy)
             .where(first.project == account.project).order_by(Pair.made_at.desc(), Pair.original))
    if not account.leads:
        waits = [(first.status == SUBMITTED) & (second.status == SUBMITTED)] if account.reviews else []
        query = query.where(or_(pairs.works(first, account.name), pairs.works(second, account.name), *waits))
    with db.reading() as session:
        return [Paired(*row) for row in session.execute(query.limit(SHOWN))]


def counts(db: Database, project: str) -> tuple[int, int]:
    """How many pairs a project has, and how many of them are to be compared."""
    with db.reading() as session:
        total, waiting = session.execute(_counting(project)).one()
        return total, waiting


@lru_cache(pairs.MAX_CACHED_QUERIES)  # every page's masthead asks it
def _counting(project: str) -> Select[int, int]:
    first, second = aliased(Demonstration), aliased(Demonstration)
    waits = (first.status == SUBMITTED) & (second.status == SUBMITTED) & Pair.outcome.is_(None)
    return (select(func.count(), func.count().filter(waits)).select_from(Pair)
            .join(first, first.id == Pair.original).join(second, second.id == Pair.copy)
            .where(first.project == project))
