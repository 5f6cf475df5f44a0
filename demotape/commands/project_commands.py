"""The commands about projects of the review app."""

from pathlib import Path

import click

from .app_data import of_database, open_database
from .provenance import PERSON, SESSION
from .terminal import PATH, console, errors, hint


@click.group()
def project() -> None:
    """Manage projects; each is a data set with its members."""


@project.command("add")
@click.argument("project_id", metavar="ID")
@click.option("--name", default="", help="Display name.  [default: the id]")
@of_database
def project_add(project_id: str, name: str, db: str | None, data: Path) -> None:
    """Create the project ID, without members."""
    from curator_web.users import projects

    projects.add(open_database(db, data), project_id, name)
    hint(f"Project {project_id} created. Add a member with: demotape project member {project_id} NAME --role lead",
         to=errors)


@project.command("list")
@of_database
def project_list(db: str | None, data: Path) -> None:
    """List all projects and their members."""
    from rich.table import Table

    from curator_web.users import projects

    opened = open_database(db, data)
    table = Table("project", "name", "members")
    for project in projects.everything(opened):
        members = projects.members(opened, project.id)
        table.add_row(project.id, project.name, ", ".join(f"{member.who} ({member.role})" for member in members))
    console.print(table)


@project.command("member")
@click.argument("project_id", metavar="ID")
@click.argument("name")
@click.option("--role", required=True, help="annotator, validator or lead; none removes the member.")
@of_database
def project_member(project_id: str, name: str, role: str, db: str | None, data: Path) -> None:
    """Set the role of the user NAME in the project ID."""
    from curator_web.users import projects

    projects.set_member(open_database(db, data), project_id, name, None if role == "none" else role)
    errors.print(f"{name} is {'no member' if role == 'none' else role} of {project_id} now.")


@project.command("set")
@click.argument("project_id", metavar="ID")
@click.option("--consent-prompt", type=click.Choice((SESSION, PERSON)),
              help="When consent and licence are requested for recordings of the project's tasks: before each session, "
                   "or once for each named person.  [default: session]")
@of_database
def project_set(project_id: str, consent_prompt: str | None, db: str | None, data: Path) -> None:
    """Change settings of the project ID; print them."""
    from curator_web.db.models.core import LEAD
    from curator_web.users import BY_COMMAND, Account, project_settings, projects

    opened = open_database(db, data)
    chosen = projects.named(opened, project_id)
    if consent_prompt:
        with opened.writing() as session:
            account = Account(BY_COMMAND, LEAD, project=chosen)
            project_settings.change(session, account, {"consent_prompt": consent_prompt})
    console.print(f"consent-prompt: {project_settings.read(opened, chosen).consent_prompt}")


@project.command("scheme")
@click.argument("project_id", metavar="ID")
@click.argument("file", type=PATH, required=False)
@of_database
def project_scheme(project_id: str, file: Path | None, db: str | None, data: Path) -> None:
    """Set the labelling scheme of the project ID (FILE: YAML or JSON); without FILE, print it."""
    from curator_web.db.models.core import LEAD
    from curator_web.demonstrations.schemes import versions
    from curator_web.users import BY_COMMAND, Account, projects
    from pipeline.labelling.scheme_files import read_scheme_file

    source = read_scheme_file(file) if file else None
    opened = open_database(db, data)
    chosen = projects.named(opened, project_id)
    if source is None:
        newest = next(iter(versions.versions(opened, chosen)), None)
        click.echo(newest.source if newest else "questions: []\n", nl=False)
        return
    saved = versions.save(opened, source, Account(BY_COMMAND, LEAD, project=chosen))
    errors.print(f"Version {saved.number} of the scheme of {chosen}: {len(saved.content['questions'])} questions.")


@project.command("prelabels")
@click.argument("project_id", metavar="ID")
@click.argument("file", type=PATH)
@click.option("--source", required=True, metavar="NAME", help="Name of the model or file, which annotators read.")
@of_database
def project_prelabels(project_id: str, file: Path, source: str, db: str | None, data: Path) -> None:
    """Suggest the answers in FILE (JSON Lines) to annotators of the project ID. An invalid line rejects the file."""
    from curator_web.db.models.core import LEAD
    from curator_web.demonstrations.schemes.prelabels import save_prelabels
    from curator_web.users import BY_COMMAND, Account, projects
    from pipeline.labelling.prelabel_files import read_prelabels

    prelabels, opened = read_prelabels(file), open_database(db, data)
    account = Account(BY_COMMAND, LEAD, project=projects.named(opened, project_id))
    errors.print(f"{save_prelabels(opened, source, prelabels, account):,} pre-labels of {source} saved.")
