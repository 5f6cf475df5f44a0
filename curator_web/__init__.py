"""The review app: where people make a recording into a demonstration.

`create_app` builds the Flask app; `curator_web.library` and `curator_web.editing` are the same abilities as plain
functions. The app itself is imported on first use, so that `python -m curator_web.vendor` starts fast.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from .database import Database
    from .storage import RecordingStore

DEFAULT_DATA_DIR = Path("demotape-data")


def default_db_url(data_dir: Path) -> str:
    """The database that is used when none is named: SQLite inside the data folder."""
    return f"sqlite:///{Path(data_dir) / 'demotape.db'}"


def create_app(db_url: str | None = None, data_dir: Path = DEFAULT_DATA_DIR, *, blobs: str | None = None,
               endpoint_url: str | None = None, who: str = "local",
               take: "Callable[[Database, RecordingStore, Path, str], str] | None" = None) -> "Flask":
    """The review app over a database and a data folder; both are made when they do not exist.

    `blobs`: `s3://bucket/prefix` where the recordings lie instead, at `endpoint_url` if that is not Amazon's.
    `who` is the name under which edits are noted, until there are accounts. `take` makes a package of the extension,
    sent by the user who recorded it, a demonstration and returns its id; without it no uploads are taken.
    Raises InputError when the database, the folder or the bucket cannot be opened.
    """
    from .app import build_app
    from .storage import open_store
    return build_app(db_url or default_db_url(data_dir), open_store(data_dir, blobs, endpoint_url), who, take)
