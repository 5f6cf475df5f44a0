"""A second factor beside the password: codes of an app on the user's phone (TOTP, RFC 6238), and recovery codes.

The secret that the app shares is sealed with a key that does not stand in the database. Of recovery codes, each good
once, only keyed digests are kept.
"""

import hmac
import re
import secrets
from datetime import UTC, datetime

import pyotp
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from curator_web.db import audit, sealing
from curator_web.db.database import Database
from curator_web.db.models.core import SecondFactor
from curator_web.errors import ErrorText, InputError

SEALED = "second factor"
ISSUER = "demotape"  # the app on the phone shows it beside the name
PERIOD = 30  # seconds that a code is for
AROUND = 1  # periods before and after this one whose codes count too: clocks differ, people type slowly
RECOVERY_CODES = 10
_RECOVERY_DIGITS = 16  # digits, as phones show keys for digits only; far too many to guess at ten tries
_CODE = re.compile(r"[0-9]{6}")


class SecondFactors:
    """Those of one database, shared by all server processes."""

    def __init__(self, db: Database, key: bytes):
        """`key`: what seals secrets and digests recovery codes; it does not stand in the same place as they."""
        self._db, self._key = db, key
        self._box = sealing.box(key, SEALED)

    def is_on(self, user_name: str) -> bool:
        """Whether a user has one."""
        return self.since(user_name) is not None

    def since(self, user_name: str) -> datetime | None:
        """Since when a user has one."""
        with self._db.reading() as session:
            row = session.get(SecondFactor, user_name)
            return row.made_at if row else None

    def turn_on(self, user_name: str, secret: str, code: str) -> list[str]:
        """Ask a user for codes from now on; returns the recovery codes, which are shown this once.

        `code`: one of the app that was just told the secret, as a proof. Raises InputError when it is wrong, and when
        the user has a second factor already.
        """
        step = _step_of(secret, code)
        if step is None:
            raise InputError(ErrorText("code: wrong code; use the newest one, and check that the clocks of phone and "
                                       "server agree"))
        codes = [_grouped(f"{secrets.randbelow(10 ** _RECOVERY_DIGITS):0{_RECOVERY_DIGITS}}")
                 for _ in range(RECOVERY_CODES)]
        with self._db.writing() as session:
            if session.get(SecondFactor, user_name, with_for_update=True):
                raise InputError(ErrorText("the second factor is already on; turn it off first"))
            session.add(SecondFactor(who=user_name, secret=self._box.encrypt(secret.encode()).decode(), last_step=step,
                                     recovery=[self._digest(user_name, recovery_code) for recovery_code in codes],
                                     made_at=datetime.now(UTC)))
            audit.note(session, user_name, "second factor on", of=user_name)
        return codes

    def is_right(self, user_name: str, code: str) -> bool:
        """Whether a code is good now. It is used up by that: no code counts twice."""
        with self._db.reading() as session:
            row = session.get(SecondFactor, user_name)
        if row is None:
            return False
        typed = "".join(code.split()).replace("-", "")
        # with another key than it was sealed with no code fits
        step = _step_of(sealing.opened(self._box, row.secret) or "", typed)
        return self._use_step(user_name, step) if step is not None else self._use_recovery_code(user_name, typed)

    def _use_step(self, user_name: str, step: int) -> bool:
        with self._db.writing() as session:
            return bool(session.scalars(update(SecondFactor).where(
                SecondFactor.who == user_name, SecondFactor.last_step < step).values(last_step=step)
                .returning(SecondFactor.who)).all())

    def _use_recovery_code(self, user_name: str, typed: str) -> bool:
        digest = self._digest(user_name, typed)
        with self._db.writing() as session:
            row = session.get(SecondFactor, user_name, with_for_update=True)
            if row is None or digest not in row.recovery:
                return False
            row.recovery = [stored_digest for stored_digest in row.recovery if stored_digest != digest]
            audit.note(session, user_name, "recovery code used", of=user_name, left=len(row.recovery))
            return True

    def _digest(self, user_name: str, code: str) -> str:
        return hmac.digest(self._key, f"recovery:{user_name}:{code.replace('-', '')}".encode("utf-8", "replace"),
                           "sha256").hex()


def turn_off(db: Database, user_name: str, *, by: str) -> None:
    """Ask a user for codes no more; nothing when there is no second factor."""
    with db.writing() as session:
        if session.scalars(delete(SecondFactor).where(SecondFactor.who == user_name).returning(SecondFactor.who)).all():
            audit.note(session, by, "second factor off", of=user_name)


def reseal(session: Session, old: bytes, new: bytes) -> list[str]:
    """Seal all secrets under a new key, inside a transaction that notes it. Recovery codes, of which only digests under
    the old one are kept, end. Returns whose did, or whose secret no key opens."""
    ended = []
    for row in session.scalars(select(SecondFactor).order_by(SecondFactor.who).with_for_update()):
        sealed = sealing.resealed(row.secret, SEALED, old, new)
        if sealed is None or (row.recovery and sealed != row.secret):
            ended.append(row.who)
        if sealed is not None and sealed != row.secret:
            row.secret, row.recovery = sealed, []
    return ended


def new_secret() -> str:
    """A secret for an app on a phone, in base 32."""
    return pyotp.random_base32()


def address_for(user_name: str, secret: str) -> str:
    """What the app reads from a QR code."""
    return pyotp.TOTP(secret, interval=PERIOD).provisioning_uri(name=user_name, issuer_name=ISSUER)


def _step_of(secret: str, code: str) -> int | None:
    """The number of the period whose code this is, of those that count now."""
    if not secret or not _CODE.fullmatch(code):
        return None
    now = int(datetime.now(UTC).timestamp()) // PERIOD
    codes = pyotp.TOTP(secret, interval=PERIOD)
    return next((step for step in range(now + AROUND, now - AROUND - 1, -1)
                 if hmac.compare_digest(codes.at(step * PERIOD), code)), None)


def _grouped(text: str) -> str:
    return "-".join(text[start:start + 4] for start in range(0, len(text), 4))
