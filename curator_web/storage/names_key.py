"""The key under which exports make the stand-ins of names: the same for all exports of one data folder."""

import hmac

from curator_web.db.database import Database

from .recordings import RecordingStore
from .session_key import session_key

_FOR = b"demotape: stand-ins of names"


def names_key(db: Database, store: RecordingStore) -> str:
    """Made of the app's secret, which it does not tell."""
    return hmac.digest(session_key(db, store), _FOR, "sha256").hex()
