"""The commands about tasks of the review app's projects."""

from pathlib import Path

import click

from .app_data import of_database, open_database
from .terminal import PATH, console, errors, printable

_project = click.option("--project", metavar="ID", help="Project of the tasks.  [default: the only one]")


@click.group()
def task() -> None:
    """Manage the tasks of a project."""


@task.command("add")
@click.argument("file", type=PATH)
@_project
@click.option("--propose", is_flag=True, help="Add the tasks as proposals, which must be accepted before they are "
                                              "recorded.")
@of_database
def task_add(file: Path, project: str | None, propose: bool, db: str | None, data: Path) -> None:
    """Add the tasks of FILE (CSV with a header, JSON Lines or a JSON array). An invalid task rejects the file."""
    from curator_web.db.models.task_models import ACCEPTED, PROPOSED
    from curator_web.tasks import bank, files
    from curator_web.users import projects

    tasks, opened = files.read(file), open_database(db, data)
    added = bank.add_all(opened, projects.named(opened, project), tasks, PROPOSED if propose else ACCEPTED)
    similar = sum(bool(task.alike) for task in added)
    errors.print(f"{len(added):,} tasks added; {similar:,} of them are near-duplicates of tasks of the same site.")


@task.command("list")
@_project
@of_database
def task_list(project: str | None, db: str | None, data: Path) -> None:
    """Show the number of required and recorded demonstrations for each kind of task."""
    from rich.table import Table

    from curator_web.tasks.coverage import coverage
    from curator_web.users import projects

    opened = open_database(db, data)
    table = Table("kind", "value", "tasks", "recorded", "wanted")
    for kind, rows in coverage(opened, projects.named(opened, project)).items():
        for row in rows:
            table.add_row(kind, printable(row.value) or "not told", str(row.tasks), str(row.recorded), str(row.wanted))
    console.print(table)
