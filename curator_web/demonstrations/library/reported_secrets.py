"""Digests of secrets that were typed in any recording: an export searches every demonstration for them."""

from sqlalchemy import select

from curator_web.db.database import Database
from curator_web.db.models.core import Demonstration
from curator_web.errors import DemotapeError
from curator_web.storage.recordings import RecordingStore
from pipeline.export import secret_digests_of
from schemas.types.recordings import SecretDigests


def reported_secrets(db: Database, store: RecordingStore) -> tuple[SecretDigests, ...]:
    """Those of the whole library, whatever the status; a recording that cannot be opened tells none."""
    with db.reading() as session:
        names = session.scalars(select(Demonstration.recording).order_by(Demonstration.recording).distinct()).all()
    by_salt: dict[str, SecretDigests] = {}
    for name in names:
        try:
            by_salt |= {digests["salt"]: digests for digests in secret_digests_of([store.open(name)])}
        except DemotapeError:
            continue  # the export itself says what is wrong with it, if it is of it
    return tuple(by_salt.values())
