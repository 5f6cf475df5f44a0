"""Change all demonstrations that a filter finds: a few immediately, many as a job."""

from dataclasses import asdict
from typing import Any

from curator_web.db.database import Database
from curator_web.db.models.core import ACTIVE, LEAD, User
from curator_web.db.models.job_models import Job
from curator_web.demonstrations.listing.listing import Filter, exact_filter
from curator_web.demonstrations.workflow import bulk
from curator_web.errors import ErrorText, NotAllowed
from curator_web.users import Account, has_accounts, members

from .queue import Jobs, Step

KIND = "bulk"
AT_ONCE = 100  # demonstrations; what takes longer than a request should is a job


def begin(db: Database, jobs: Jobs, change: bulk.Change, sought: Filter, count: int,
          account: Account) -> bulk.Outcome | int:
    """Change all that is sought, if that is as many as were confirmed; beyond AT_ONCE by a job, whose id is returned.

    Raises InputError, NotAllowed and Conflict; then nothing is changed.
    """
    bulk.require_permitted(db, change, account)
    ids = bulk.confirmed_ids(db, sought, count, account)
    if count <= AT_ONCE:
        return bulk.change_one_by_one(db, change, ids, account)
    arguments = {"change": asdict(change), "found": sought.parameters(), "count": count, "alone": account.alone}
    return jobs.add(KIND, account.name, arguments, project=account.project)


def run(db: Database, job: Job, step: Step) -> dict[str, Any]:
    """The job: what is sought is looked for again, with the rights that who began it has now. Raises as `begin`."""
    change, account = change_of(job), _account(db, job)
    bulk.require_permitted(db, change, account)
    count = job.arguments["count"]
    done = bulk.done_since(db, change, account, job.made_at) if job.tries > 1 else set()
    ids = bulk.confirmed_ids(db, exact_filter(job.arguments["found"]), count, account, done)
    outcome = bulk.change_one_by_one(db, change, ids, account,
                                     lambda tried: step(len(done) + tried, count, change.words))
    outcome.found, outcome.changed = count, outcome.changed + len(done)
    return asdict(outcome)


def change_of(job: Job) -> bulk.Change:
    """What the job does to each."""
    return bulk.Change(**job.arguments["change"])


def _account(db: Database, job: Job) -> Account:
    """Who began the job, as what they are now; raises NotAllowed for who is no member any more."""
    if job.arguments["alone"] and not has_accounts(db):
        return Account(job.who, LEAD, alone=True, project=job.project, manages=True)
    with db.reading() as session:
        user, role = session.get(User, job.who), members.role_of(session, job.who, job.project)
    if user is None or role is None or user.state != ACTIVE:
        raise NotAllowed(ErrorText("%(who)s is no longer a member of this project", who=job.who))
    return Account(user.name, role, project=job.project)
