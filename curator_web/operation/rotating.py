"""Another session key: what is sealed with the old one is sealed again, what was signed with it ends."""

import secrets
from dataclasses import dataclass

from sqlalchemy import delete

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.core import SignInAttempts, WebSession
from curator_web.storage.recordings import RecordingStore
from curator_web.storage.session_key import session_key, set_session_key
from curator_web.users import BY_COMMAND, second_factor
from curator_web.webhooks import hooks


@dataclass(frozen=True)
class Rotated:
    """What a new key ended: sessions; recovery codes of users; secrets of webhooks that the old key did not open
    either."""

    sessions: int
    recovery_codes: list[str]
    webhooks: list[int]


def rotate_key(db: Database, store: RecordingStore) -> Rotated:
    """Make a new session key. Secrets of second factors and webhooks are sealed under it in one transaction; broken off
    anywhere, it is done again and ends. Raises DatabaseUnavailable.

    The app must not run: it has the old key until it is started again.
    """
    old, new = session_key(db, store), secrets.token_hex(32).encode()
    if store.keeps_secret:
        new = store.propose_secret(new)  # so that nothing is ever sealed under a key that is lost
    with db.writing() as session:
        done = Rotated(len(session.scalars(delete(WebSession).returning(WebSession.id_sha256)).all()),
                       second_factor.reseal(session, old, new), hooks.reseal(session, old, new))
        session.execute(delete(SignInAttempts))  # counted under digests that nothing finds any more
        audit.note(session, BY_COMMAND, "session key renewed", sessions=done.sessions,
                   recovery_codes=done.recovery_codes, webhooks=done.webhooks)
        if not store.keeps_secret:
            set_session_key(session, store, new)
    if store.keeps_secret:
        store.adopt_secret()
    return done
