"""The key that signs sessions where several machines share only the database: made by whoever comes first."""

import secrets

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from .database import Database
from .models.core import Setting

NAME = "secret-key"


def shared_secret(db: Database) -> bytes:
    """The key that all servers of this database sign with."""
    try:
        with db.writing() as session:
            setting = session.get(Setting, NAME)
            if setting is None:
                setting = Setting(name=NAME, value={"key": secrets.token_hex(32)})
                session.add(setting)
                session.flush()
            return setting.value["key"].encode()
    except IntegrityError:  # another process was first: then its key counts
        return shared_secret(db)


def set_shared_secret(session: Session, key: bytes) -> None:
    """Have all servers of this database sign with a key, from their next start on."""
    session.merge(Setting(name=NAME, value={"key": key.decode()}))
