"""How often one may try to sign in. A try is counted before it is made, so that many at once are no way around.

Counted is by name and by network address. Names and addresses are kept as keyed digests: what somebody typed into the
field for the name may be a password, and names that do not exist are counted as those that do.
"""

import hmac
import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Insert, case, delete, literal, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from curator_web.db.columns import UtcTime
from curator_web.db.database import Database
from curator_web.db.models.core import SignInAttempts
from curator_web.errors import ErrorText, TooManyAttempts

AT_ONE_NAME = 10  # within the time below; as many more in each browser in which that name has signed in before
FROM_ONE_ADDRESS = 50
COUNT_FOR = timedelta(minutes=15)
IPV6_NETWORK = 64  # bits: what one customer of a network is given


@dataclass(frozen=True)
class Reserved:
    """A try that is counted: in which counters, the one for the name last."""

    keys: tuple[str, ...]


class SignInAttemptLimits:
    """The counters of one database, shared by all server processes."""

    def __init__(self, db: Database, key: bytes):
        """`key`: what digests are made with; it does not stand in the same place as the digests."""
        self._db, self._key = db, key

    def reserve(self, name: str, address: str, browser: str | None = None, *, kind: str = "name") -> Reserved:
        """Count a try that is about to be made; raises TooManyAttempts when there were too many within the time.

        `kind`: what is tried for that name; each kind is counted separately.

        `browser`: a mark of a browser in which this name has signed in before. Such a browser is counted by itself
        alone, so that nobody can lock its person out.
        """
        if browser is not None:
            counters = [(self._digest("browser", browser), AT_ONE_NAME)]
        else:
            counters = [(self._digest("address", _network(address)), FROM_ONE_ADDRESS),
                        (self._digest(kind, name), AT_ONE_NAME)]
        now = datetime.now(UTC)
        with self._db.writing() as session:  # undone by the error: only tries that are made are counted
            for key, limit in counters:
                if _counted(session, key, now) > limit:
                    minutes = COUNT_FOR // timedelta(minutes=1)
                    raise TooManyAttempts(ErrorText("too many sign-ins failed; try again in %(minutes)s minutes",
                                                    minutes=minutes))
        return Reserved(tuple(key for key, _ in counters))

    def succeed(self, reserved: Reserved) -> None:
        """The try was right: the name begins again, and the address has this one back."""
        with self._db.writing() as session:
            _give_back(session, reserved.keys[:-1])
            session.execute(delete(SignInAttempts).where(SignInAttempts.key == reserved.keys[-1]))

    def give_back(self, reserved: Reserved) -> None:
        """The try was not made after all."""
        with self._db.writing() as session:
            _give_back(session, reserved.keys)

    def forget_old(self) -> None:
        """Take away the counters whose time is over."""
        with self._db.writing() as session:
            session.execute(delete(SignInAttempts).where(SignInAttempts.since < datetime.now(UTC) - COUNT_FOR))

    def _digest(self, kind: str, text: str) -> str:
        return hmac.digest(self._key, f"{kind}:{text}".encode("utf-8", "replace"), "sha256").hex()


def _counted(session: Session, key: str, now: datetime) -> int:
    """Count one more in one statement, so that of many at once each sees another number."""
    insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    fresh = SignInAttempts.since >= now - COUNT_FOR
    counting: Insert = insert(SignInAttempts).values(key=key, count=1, since=now).on_conflict_do_update(
        index_elements=[SignInAttempts.key],
        set_={"count": case((fresh, SignInAttempts.count + 1), else_=1),
              "since": case((fresh, SignInAttempts.since),
                            else_=literal(now, UtcTime))}).returning(SignInAttempts.count)
    return session.execute(counting).scalar_one()


def _give_back(session: Session, keys: tuple[str, ...]) -> None:
    for key in keys:
        session.execute(update(SignInAttempts).where(SignInAttempts.key == key, SignInAttempts.count > 0)
                        .values(count=SignInAttempts.count - 1))


def _network(address: str) -> str:
    """What counts as one address: of IPv6 the network, as each customer has 2^64 addresses."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address) and not parsed.ipv4_mapped:
        return str(ipaddress.ip_network((parsed, IPV6_NETWORK), strict=False))
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)
