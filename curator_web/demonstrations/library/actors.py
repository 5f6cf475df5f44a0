"""Who acted in demonstrations: read from their recordings once, then a column of the list's table."""

import time

from sqlalchemy import func, select, update

from curator_web.db.database import Database
from curator_web.db.models.core import Demonstration
from curator_web.errors import DemotapeError
from curator_web.storage.recordings import RecordingStore
from schemas.actors import actor_of

_BATCH = 200  # recordings that are read before what they contain is stored


def read_missing(db: Database, store: RecordingStore, time_limit_s: float | None = None) -> None:
    """Store who acted, for demonstrations of which that is unknown: those of a database older than this column.

    Recordings that cannot be read are omitted. Ends after `time_limit_s`; the next call continues.
    """
    ends_at, last = None if time_limit_s is None else time.monotonic() + time_limit_s, ""
    missing = select(Demonstration.recording).where(Demonstration.actor.is_(None)).distinct()
    while True:
        with db.reading() as session:
            batch = session.scalars(missing.where(Demonstration.recording > last)
                                    .order_by(Demonstration.recording).limit(_BATCH)).all()
        actors: dict[str, list[str]] = {}
        for recording in batch:
            if ends_at is not None and time.monotonic() > ends_at:
                break
            last = recording
            try:
                actor = actor_of(store.open(recording).manifest.get("provenance", {}))
            except DemotapeError:
                continue
            actors.setdefault(actor, []).append(recording)
        if actors:
            with db.writing() as session:
                for actor, recordings in actors.items():
                    session.execute(update(Demonstration).where(Demonstration.recording.in_(recordings))
                                    .values(actor=actor).execution_options(synchronize_session=False))
        if not batch or batch[-1] != last:
            return


def count_missing(db: Database, project: str) -> int:
    """The number of a project's demonstrations of which it is not known yet who acted."""
    with db.reading() as session:
        return session.scalar(select(func.count()).select_from(Demonstration).where(
            Demonstration.project == project, Demonstration.actor.is_(None))) or 0
