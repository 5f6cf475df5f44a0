"""The next task of a project, for who records: from the review app on this machine, or from a server."""

from pathlib import Path
from typing import Any

import click

from schemas import InputError

from .terminal import DATA, PATH, open_app


def of_tasks(command: Any) -> Any:
    """The options that say whose next task is recorded."""
    for option in (
            click.option("--data", type=PATH, default=DATA, show_default=True,
                         help="Data folder of the review app, with --next and without --server."),
            click.option("--token", metavar="TOKEN", envvar="DEMOTAPE_TOKEN", show_envvar=True,
                         help="Your access token, with --server."),
            click.option("--server", metavar="URL", envvar="DEMOTAPE_SERVER", show_envvar=True,
                         help="Address of the review app.  [default: the one on this machine]"),
            click.option("--project", metavar="ID", help="Project of the task.  [default: the only one]"),
            click.option("--next", "following", is_flag=True, help="Record your next task of a project in the review "
                                                                   "app, with its text and start page.")):
        command = option(command)
    return command


def take_task(project: str | None, server: str | None, token: str | None, data: Path) -> dict[str, Any]:
    """The next task: `name`, `text`, `url`, and `answer` where who records is to see it. Raises InputError where there
    is none."""
    if server:
        from demotape.client import Client, Refused

        try:
            return Client(server, token or "", project=project).next_task()
        except Refused as error:
            raise InputError(f"{server}: {error}") from None
    from curator_web.db.models.core import LEAD
    from curator_web.tasks import assignment
    from curator_web.users import LOCAL, Account, has_accounts, projects

    if not data.is_dir():
        raise InputError(f"{data} is not a demotape data folder; pass the --data used with `demotape review`, or "
                         "--server")
    db, _ = open_app(None, data)
    if has_accounts(db):
        raise InputError("this review app has accounts; pass --server, and your token in DEMOTAPE_TOKEN")
    task = assignment.give(db, Account(LOCAL, LEAD, alone=True, project=projects.named(db, project)))
    return {"name": assignment.name_of(task), "text": task.text, "url": task.url, "answer": task.answer}
