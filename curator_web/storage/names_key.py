"""The key under which exports make the stand-ins of names: the same for all exports of one data folder."""

import hmac

from curator_web.db.database import Database
from curator_web.db.shared_secret import shared_secret

from .recordings import RecordingStore

_FOR = b"demotape: stand-ins of names"


def names_key(db: Database, store: RecordingStore) -> str:
    """Made of the app's secret, which it does not tell."""
    return hmac.digest(store.secret() or shared_secret(db), _FOR, "sha256").hex()
