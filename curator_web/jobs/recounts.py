"""Changing the settings of a project; where another check or intent counts, its lists are counted again by a job."""

from collections.abc import Mapping
from typing import Any

from curator_web.db.database import Database
from curator_web.db.models.job_models import Job
from curator_web.demonstrations.library import recounting
from curator_web.demonstrations.library.recounting import KIND
from curator_web.tasks import expected_end
from curator_web.users import Account, project_settings

from .queue import Jobs, Step

__all__ = ["KIND", "change_settings", "run"]


def change_settings(db: Database, jobs: Jobs, account: Account, changes: Mapping[str, Any]) -> None:
    """Set what is given for the account's project, all of it or nothing: fields of `project_settings.SettingsSchema`,
    and `answers_shown`. Raises NotAllowed, InputError."""
    settings = {name: value for name, value in changes.items() if name != "answers_shown"}
    with db.together() as (session, joined):
        changed = project_settings.change(session, account, settings)
        if "answers_shown" in changes:
            expected_end.show_answers(joined, account, changes["answers_shown"])
        recounted = changed & {*project_settings.COUNTED}
        if recounted:
            recounting.queue_recount(session, account.project, account.name)
    if recounted:
        jobs.wake()


def run(db: Database, job: Job, step: Step) -> dict[str, Any]:
    """The job: what lists show of a project's demonstrations, by what is set when each comes to its turn."""
    return recounting.recount_all(db, job.project, job.arguments["ids"], step)
