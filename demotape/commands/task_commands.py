"""The commands about tasks of the review app's projects."""

from pathlib import Path

import click

from .terminal import PATH, console, errors, printable
from .user_commands import database, of_database

_project = click.option("--project", metavar="ID", help="Those of this project.  [default: the only one]")


@click.group()
def task() -> None:
    """Tasks that people are to record, of a project."""


@task.command("add")
@click.argument("file", type=PATH)
@_project
@click.option("--propose", is_flag=True, help="Have somebody accept each before it is recorded.")
@of_database
def task_add(file: Path, project: str | None, propose: bool, db: str | None, data: Path) -> None:
    """Add the tasks of FILE, which is CSV with a head, JSON Lines or a JSON array; all, or none."""
    from curator_web.db.models.task_models import ACCEPTED, PROPOSED
    from curator_web.tasks import bank, files
    from curator_web.users import projects

    tasks, opened = files.read(file), database(db, data)
    added = bank.add_all(opened, projects.named(opened, project), tasks, PROPOSED if propose else ACCEPTED)
    similar = sum(bool(task.alike) for task in added)
    errors.print(f"{len(added):,} tasks were added; {similar:,} of them are nearly the same as others of their site.")


@task.command("list")
@_project
@of_database
def task_list(project: str | None, db: str | None, data: Path) -> None:
    """How many demonstrations of each kind of task are wanted and there."""
    from rich.table import Table

    from curator_web.tasks.coverage import coverage
    from curator_web.users import projects

    opened = database(db, data)
    table = Table("kind", "value", "tasks", "recorded", "wanted")
    for kind, rows in coverage(opened, projects.named(opened, project)).items():
        for row in rows:
            table.add_row(kind, printable(row.value) or "not told", str(row.tasks), str(row.recorded), str(row.wanted))
    console.print(table)
