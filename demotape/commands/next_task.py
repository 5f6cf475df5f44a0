"""The next task of a project, for who records: from the review app on this machine, or from a server."""

from pathlib import Path
from typing import Any

import click

from schemas import InputError

from .app_data import of_database, open_database


def of_tasks(command: Any) -> Any:
    """The options that say whose next task is recorded."""
    for option in (
            of_database,
            click.option("--token", metavar="TOKEN", envvar="DEMOTAPE_TOKEN", show_envvar=True,
                         help="Your access token, with --server."),
            click.option("--server", metavar="URL", envvar="DEMOTAPE_SERVER", show_envvar=True,
                         help="Address of the review app.  [default: the one on this machine]"),
            click.option("--project", metavar="ID", help="Project of the task.  [default: the only one]"),
            click.option("--next", "following", is_flag=True, help="Record your next task of a project in the review "
                                                                   "app, with its text and start page.")):
        command = option(command)
    return command


def take_task(project: str | None, server: str | None, token: str | None, db: str | None, data: Path
              ) -> dict[str, Any]:
    """The next task: `name`, `text`, `url`, `answer` where who records is to see it, and `consent_prompt`, when
    the project requests consent. Raises InputError where there is none."""
    if server:
        from demotape.client import Client, Refused

        try:
            return Client(server, token or "", project=project).next_task()
        except Refused as error:
            raise InputError(f"{server}: {error}") from None
    from curator_web.db.models.core import LEAD
    from curator_web.tasks import assignment
    from curator_web.users import LOCAL, Account, has_accounts, project_settings, projects

    try:
        database = open_database(db, data)
    except InputError as error:
        raise InputError(f"{error}; or pass --server") from None
    if has_accounts(database):
        raise InputError("this review app has accounts; pass --server, and your token in DEMOTAPE_TOKEN")
    task = assignment.give(database, Account(LOCAL, LEAD, alone=True, project=projects.named(database, project)))
    return {"name": assignment.name_of(task), "text": task.text, "url": task.url, "answer": task.answer,
            "consent_prompt": project_settings.read(database, task.project).consent_prompt}
