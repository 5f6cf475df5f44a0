"""The options of commands that use the review app's data, and opening what they name.

Only a command that is meant to make a data folder makes one: any other would find an empty app where a path is wrong.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from schemas import InputError

from .new_folders import new_folder
from .terminal import PATH

if TYPE_CHECKING:
    from curator_web.db.database import Database
    from curator_web.storage.recordings import RecordingStore

_Command = TypeVar("_Command", bound=Callable[..., Any])

data_option = click.option("--data", type=PATH, default=Path("demotape-data"), show_default=True,
                           envvar="DEMOTAPE_DATA", show_envvar=True, help="Data folder of the review app.")
db_option = click.option("--db", metavar="URL", envvar="DEMOTAPE_DB", show_envvar=True,
                         help="Database URL.  [default: SQLite in the data folder]")
create_option = click.option("--create", is_flag=True, help="Create the data folder and the database if they do not "
                                                            "exist.")


def of_database(command: _Command) -> _Command:
    """The options that name the review app's database."""
    return db_option(data_option(command))


def of_app(command: _Command) -> _Command:
    """The options that name where the review app's recordings are, besides `of_database`."""
    for option in (
            click.option("--endpoint-url", metavar="URL", envvar="DEMOTAPE_ENDPOINT_URL", show_envvar=True,
                         help="Address of an S3 service other than Amazon's."),
            click.option("--blobs", metavar="S3", envvar="DEMOTAPE_BLOBS", show_envvar=True,
                         help="Storage of the app's recordings: s3://bucket/prefix.  [default: the data folder]")):
        command = option(command)
    return command


def open_app(db: str | None, data: Path, blobs: str | None = None, endpoint_url: str | None = None, *,
             create: bool = False) -> "tuple[Database, RecordingStore]":
    """The review app's database and its store of recordings. Raises InputError when they do not exist, unless `create`
    allows to make them, within `new_data_folder`."""
    from curator_web.storage.opening import open_store

    if not blobs:
        _require_folder(data, create)
    database = open_database(db, data, create=create)
    return database, open_store(data, blobs, endpoint_url)


def open_database(db: str | None, data: Path, *, create: bool = False) -> "Database":
    """As `open_app`, for commands that need the database alone."""
    from curator_web import default_db_url
    from curator_web.db import database

    url = db or default_db_url(data)
    if not database.is_present(url):
        if not create:
            raise InputError(f"{_no_app(data)}" if not db else
                             "--db: the database contains no data of demotape; create them with demotape review or "
                             "demotape import --create, or pass another URL")
        if not db:
            _require_folder(data, create)
    return database.open_database(url)


def new_data_folder(data: Path) -> AbstractContextManager[Callable[[], None]]:
    """For commands that may make a data folder: it is named once it is of use, and removed if they fail before."""
    return new_folder(data, "Data folder")


def _require_folder(data: Path, create: bool) -> None:
    if data.is_dir():
        return
    if not create:
        raise InputError(_no_app(data))
    data.mkdir(parents=True, exist_ok=True, mode=0o700)


def _no_app(data: Path) -> str:
    return (f"{data} is not a demotape data folder; pass the --data used with `demotape review`, or create one with "
            "demotape review or demotape import --create")
