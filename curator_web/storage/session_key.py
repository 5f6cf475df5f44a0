"""The key that signs sessions and seals secrets: in the data folder, or in the database where machines share that."""

from sqlalchemy.orm import Session

from curator_web.db.database import Database
from curator_web.db.shared_secret import set_shared_secret, shared_secret

from .recordings import RecordingStore


def session_key(db: Database, store: RecordingStore) -> bytes:
    """The key; made where there is none."""
    return store.secret() or shared_secret(db)


def set_session_key(session: Session, store: RecordingStore, key: bytes) -> None:
    """Put a key where `session_key` finds it; servers that run have the old one until they are started again."""
    if store.keeps_secret:
        store.set_secret(key)
    else:
        set_shared_secret(session, key)
