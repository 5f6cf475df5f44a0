"""The commands about who may sign in to the review app."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schemas import InputError

from .terminal import DATA, PATH, console, errors, open_app

if TYPE_CHECKING:
    from curator_web.db.database import Database


def of_database(command: Callable) -> Callable:
    """The options that say where the review app's database is."""
    for option in (click.option("--data", type=PATH, default=DATA, show_default=True,
                                help="Data folder of the review app."),
                   click.option("--db", metavar="URL", help="Database.  [default: SQLite in the data folder]")):
        command = option(command)
    return command


_password_option = click.option("--password-stdin", is_flag=True,
                                help="Read the password from standard input instead of asking.")


@click.group()
def user() -> None:
    """Who may sign in to the review app."""


@user.command("add")
@click.argument("name")
@click.option("--role", required=True, help="annotator, validator or lead.")
@click.option("--project", metavar="ID", help="Have the user in this project.  [default: the only one]")
@_password_option
@of_database
def user_add(name: str, role: str, project: str | None, password_stdin: bool, db: str | None, data: Path) -> None:
    """Make the user NAME with a password for the pages, and print the token for programs; it is shown only once."""
    from curator_web.users import add_user

    token = add_user(database(db, data), name, role, _password(password_stdin), project=project)
    errors.print(f"{name} is {'an' if role == 'annotator' else 'a'} {role} now. The token, shown only this once:")
    console.print(token)


@user.command("password")
@click.argument("name")
@click.option("--keep-tokens", is_flag=True, help="Leave the user's tokens as they are.")
@_password_option
@of_database
def user_password(name: str, keep_tokens: bool, password_stdin: bool, db: str | None, data: Path) -> None:
    """Give the user NAME a new password; the user is signed out everywhere, and the tokens are revoked."""
    from curator_web.users import set_password

    password = _password(password_stdin)
    if password is None:
        raise InputError("the password is missing; give it with --password-stdin")
    set_password(database(db, data), name, password, keep_tokens=keep_tokens)
    errors.print(f"{name} has a new password and is signed out everywhere.")
    errors.print("The tokens stay." if keep_tokens else
                 f"The tokens are revoked; for a new one: demotape user token add {name} TOKEN_NAME")


@user.command("disable")
@click.argument("name")
@of_database
def user_disable(name: str, db: str | None, data: Path) -> None:
    """Let the user NAME in no more, until `demotape user enable NAME`."""
    from curator_web.users import disable

    disable(database(db, data), name)
    errors.print(f"{name} is let in no more.")


@user.command("enable")
@click.argument("name")
@of_database
def user_enable(name: str, db: str | None, data: Path) -> None:
    """Let the disabled user NAME in again."""
    from curator_web.users import enable

    enable(database(db, data), name)
    errors.print(f"{name} is let in again.")


@user.command("remove")
@click.argument("name")
@of_database
def user_remove(name: str, db: str | None, data: Path) -> None:
    """Take the password, sessions and tokens of the user NAME away for good; what was done under the name stays."""
    from curator_web.users import remove

    remove(database(db, data), name)
    errors.print(f"{name} is removed.")


@user.command("role")
@click.argument("name")
@click.argument("role")
@of_database
def user_role(name: str, role: str, db: str | None, data: Path) -> None:
    """Have the user NAME manage accounts and make projects (ROLE lead), or not (annotator, validator)."""
    from curator_web.users import set_role

    set_role(database(db, data), name, role)
    errors.print(f"{name} is {'an' if role == 'annotator' else 'a'} {role} now; what they are in projects stays as it "
                 "is (demotape project member).")


@user.command("rename")
@click.argument("old")
@click.argument("new")
@of_database
def user_rename(old: str, new: str, db: str | None, data: Path) -> None:
    """Have the user OLD be called NEW, with all that they did; the audit log keeps the old name, which nobody gets."""
    from curator_web.users import rename

    codes = rename(database(db, data), old, new)
    errors.print(f"{old} is {new} now, and is signed out everywhere; the tokens stay.")
    if codes:
        errors.print("The recovery codes have ended; the second factor is turned off and on again for new ones.")


@user.command("second-factor-off")
@click.argument("name")
@of_database
def user_second_factor_off(name: str, db: str | None, data: Path) -> None:
    """Let the user NAME, whose phone and recovery codes are lost, in with the password alone."""
    from curator_web.users import BY_COMMAND, second_factor

    second_factor.turn_off(database(db, data), name, by=BY_COMMAND)
    errors.print(f"{name} signs in with the password alone.")


@user.group("token")
def token() -> None:
    """What programs and the extension sign in with."""


@token.command("add")
@click.argument("name")
@click.argument("token_name")
@click.option("--scope", "scopes", multiple=True, default=("upload",), show_default=True,
              help="What it may do: read, write, upload; may be given several times.")
@click.option("--days", type=click.IntRange(min=1), help="How long it lasts.  [default: for good]")
@of_database
def token_add(name: str, token_name: str, scopes: tuple[str, ...], days: int | None, db: str | None,
              data: Path) -> None:
    """Make a token for the user NAME and print it; it is shown only once. TOKEN_NAME tells it from the others."""
    from curator_web.users import BY_COMMAND, tokens

    made = tokens.add_token(database(db, data), name, token_name, scopes, days, by=BY_COMMAND)
    errors.print(f"The token {token_name} of {name}, shown only this once:")
    console.print(made)


@token.command("list")
@click.argument("name")
@of_database
def token_list(name: str, db: str | None, data: Path) -> None:
    """List the tokens of the user NAME."""
    from rich.table import Table

    from curator_web.users import tokens

    table = Table("Name", "May", "Made", "Last used", "Expires", box=None, pad_edge=False)
    for row in tokens.tokens_of(database(db, data), name):
        times = [time.date().isoformat() if time else "never" for time in (row.made_at, row.used_at, row.expires_at)]
        table.add_row(row.name, ", ".join(row.scopes), *times)
    console.print(table)


@token.command("renew")
@click.argument("name")
@click.argument("token_name")
@of_database
def token_renew(name: str, token_name: str, db: str | None, data: Path) -> None:
    """Make another token in place of TOKEN_NAME of the user NAME and print it; the old one ends."""
    from curator_web.users import BY_COMMAND, tokens

    made = tokens.renew(database(db, data), name, token_name, by=BY_COMMAND)
    errors.print(f"The token {token_name} of {name}, shown only this once; the one before has ended:")
    console.print(made)


@token.command("revoke")
@click.argument("name")
@click.argument("token_name")
@of_database
def token_revoke(name: str, token_name: str, db: str | None, data: Path) -> None:
    """Take the token TOKEN_NAME of the user NAME away."""
    from curator_web.users import BY_COMMAND, tokens

    tokens.revoke(database(db, data), name, token_name, by=BY_COMMAND)
    errors.print(f"The token {token_name} of {name} is revoked.")


def database(db: str | None, data: Path) -> "Database":
    return open_app(db, data)[0]


def _password(from_stdin: bool) -> str | None:
    """From standard input or asked for twice; None where nobody can be asked: such a user has only the token."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        return None
    return click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
