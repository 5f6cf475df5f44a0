"""The commands about projects of the review app."""

from pathlib import Path

import click

from .terminal import console, errors
from .user_commands import database, of_database


@click.group()
def project() -> None:
    """Projects: data sets in the making, each with its members."""


@project.command("add")
@click.argument("project_id", metavar="ID")
@click.option("--name", default="", help="What people read.  [default: the id]")
@of_database
def project_add(project_id: str, name: str, db: str | None, data: Path) -> None:
    """Make the project ID; nobody is in it yet."""
    from curator_web.users import projects

    projects.add(database(db, data), project_id, name)
    errors.print(f"{project_id} is made. Take somebody in with: demotape project member {project_id} NAME --role lead")


@project.command("list")
@of_database
def project_list(db: str | None, data: Path) -> None:
    """All projects and who is in them."""
    from rich.table import Table

    from curator_web.users import projects

    opened = database(db, data)
    table = Table("project", "name", "members")
    for project in projects.everything(opened):
        members = projects.members(opened, project.id)
        table.add_row(project.id, project.name, ", ".join(f"{member.who} ({member.role})" for member in members))
    console.print(table)


@project.command("member")
@click.argument("project_id", metavar="ID")
@click.argument("name")
@click.option("--role", required=True, help="annotator, validator or lead; none: no member any more.")
@of_database
def project_member(project_id: str, name: str, role: str, db: str | None, data: Path) -> None:
    """Have the user NAME in the project ID with a role."""
    from curator_web.users import projects

    projects.set_member(database(db, data), project_id, name, None if role == "none" else role)
    errors.print(f"{name} is {'no member' if role == 'none' else role} of {project_id} now.")
