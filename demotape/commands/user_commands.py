"""The commands about who may sign in to the review app."""

import sys
from pathlib import Path

import click

from schemas import InputError

from .app_data import create_option, new_data_folder, of_database, open_database
from .terminal import console, errors, hint

_password_option = click.option("--password-stdin", is_flag=True,
                                help="Read the password from standard input instead of prompting.")


@click.group()
def user() -> None:
    """Manage accounts of the review app."""


@user.command("add")
@click.argument("name")
@click.option("--role", required=True, help="annotator, validator or lead.")
@click.option("--project", metavar="ID", help="Project of the user.  [default: the only one]")
@_password_option
@create_option
@of_database
def user_add(name: str, role: str, project: str | None, password_stdin: bool, create: bool, db: str | None,
             data: Path) -> None:
    """Create the account NAME with a password, and print its access token, which is shown only once."""
    from curator_web.users import add_user

    with new_data_folder(data):
        database = open_database(db, data, create=create)
        token = add_user(database, name, role, _password(password_stdin), project=project)
    errors.print(f"Account {name} created with the role {role}. Its access token, shown only once:")
    console.print(token)


@user.command("password")
@click.argument("name")
@click.option("--keep-tokens", is_flag=True, help="Do not revoke the tokens.")
@_password_option
@of_database
def user_password(name: str, keep_tokens: bool, password_stdin: bool, db: str | None, data: Path) -> None:
    """Set a new password for the account NAME, end its sessions and revoke its tokens."""
    from curator_web.users import set_password

    password = _password(password_stdin)
    if password is None:
        raise InputError("no password; pass it with --password-stdin")
    set_password(open_database(db, data), name, password, keep_tokens=keep_tokens)
    errors.print(f"Password of {name} changed; all sessions ended.")
    hint("The tokens remain valid." if keep_tokens else
         f"The tokens are revoked; create a new one with: demotape user token add {name} TOKEN_NAME", to=errors)


@user.command("disable")
@click.argument("name")
@of_database
def user_disable(name: str, db: str | None, data: Path) -> None:
    """Disable the account NAME; `demotape user enable NAME` enables it again."""
    from curator_web.users import disable

    disable(open_database(db, data), name)
    errors.print(f"Account {name} disabled.")


@user.command("enable")
@click.argument("name")
@of_database
def user_enable(name: str, db: str | None, data: Path) -> None:
    """Enable the disabled account NAME."""
    from curator_web.users import enable

    enable(open_database(db, data), name)
    errors.print(f"Account {name} enabled.")


@user.command("remove")
@click.argument("name")
@of_database
def user_remove(name: str, db: str | None, data: Path) -> None:
    """Delete the account NAME with its password, sessions and tokens; its contributions remain under the name."""
    from curator_web.users import remove

    remove(open_database(db, data), name)
    errors.print(f"Account {name} deleted.")


@user.command("role")
@click.argument("name")
@click.argument("role")
@of_database
def user_role(name: str, role: str, db: str | None, data: Path) -> None:
    """Set the role of the account NAME; a lead manages accounts and creates projects."""
    from curator_web.users import set_role

    set_role(open_database(db, data), name, role)
    hint(f"{name} now has the role {role}; roles in projects are unchanged (demotape project member).", to=errors)


@user.command("rename")
@click.argument("old")
@click.argument("new")
@of_database
def user_rename(old: str, new: str, db: str | None, data: Path) -> None:
    """Rename a user; the audit log keeps the old name, which cannot be used again."""
    from curator_web.users import rename

    codes = rename(open_database(db, data), old, new)
    errors.print(f"{old} renamed to {new}; all sessions ended, the tokens remain valid.")
    if codes:
        errors.print("The recovery codes are no longer valid; turn the second factor off and on to get new ones.")


@user.command("second-factor-off")
@click.argument("name")
@of_database
def user_second_factor_off(name: str, db: str | None, data: Path) -> None:
    """Turn the second factor of the account NAME off, for a user who lost the phone and the recovery codes."""
    from curator_web.users import BY_COMMAND, second_factor

    second_factor.turn_off(open_database(db, data), name, by=BY_COMMAND)
    errors.print(f"The second factor of {name} is off.")


@user.group("token")
def token() -> None:
    """Manage access tokens for programs and the extension."""


@token.command("add")
@click.argument("name")
@click.argument("token_name")
@click.option("--scope", "scopes", multiple=True, default=("upload",), show_default=True,
              help="Scope of the token: read, write or upload; repeatable.")
@click.option("--days", type=click.IntRange(min=1), help="Lifetime of the token.  [default: unlimited]")
@of_database
def token_add(name: str, token_name: str, scopes: tuple[str, ...], days: int | None, db: str | None,
              data: Path) -> None:
    """Create an access token for the account NAME and print it; it is shown only once. TOKEN_NAME identifies it."""
    from curator_web.users import BY_COMMAND, tokens

    made = tokens.add_token(open_database(db, data), name, token_name, scopes, days, by=BY_COMMAND)
    errors.print(f"Access token {token_name} of {name}, shown only once:")
    console.print(made)


@token.command("list")
@click.argument("name")
@of_database
def token_list(name: str, db: str | None, data: Path) -> None:
    """List the tokens of the account NAME."""
    from rich.table import Table

    from curator_web.users import tokens

    table = Table("Name", "May", "Made", "Last used", "Expires", box=None, pad_edge=False)
    for row in tokens.tokens_of(open_database(db, data), name):
        times = [time.date().isoformat() if time else "never" for time in (row.made_at, row.used_at, row.expires_at)]
        table.add_row(row.name, ", ".join(row.scopes), *times)
    console.print(table)


@token.command("renew")
@click.argument("name")
@click.argument("token_name")
@of_database
def token_renew(name: str, token_name: str, db: str | None, data: Path) -> None:
    """Replace the token TOKEN_NAME of the account NAME and print the new one."""
    from curator_web.users import BY_COMMAND, tokens

    made = tokens.renew(open_database(db, data), name, token_name, by=BY_COMMAND)
    errors.print(f"Access token {token_name} of {name}, shown only once; the old one is revoked:")
    console.print(made)


@token.command("revoke")
@click.argument("name")
@click.argument("token_name")
@of_database
def token_revoke(name: str, token_name: str, db: str | None, data: Path) -> None:
    """Revoke the token TOKEN_NAME of the account NAME."""
    from curator_web.users import BY_COMMAND, tokens

    tokens.revoke(open_database(db, data), name, token_name, by=BY_COMMAND)
    errors.print(f"Access token {token_name} of {name} revoked.")


def _password(from_stdin: bool) -> str | None:
    """From standard input or asked for twice; None where nobody can be asked: such a user has only the token."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        return None
    return click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
