"""Settings of the OpenID Connect provider, if one is configured."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from curator_web.db.models.core import ISSUER_LENGTH, ROLES
from curator_web.errors import InputError

from .security import LOOPBACK


@dataclass(frozen=True)
class OpenIDSettings:
    """A provider, and what it knows this app by.

    `new_role`: the role of people who are not known here; without it they are not let in.
    """

    issuer: str
    client_id: str
    client_secret: str
    new_role: str | None = None

    def __post_init__(self) -> None:
        """Raises InputError for an address that cannot be an issuer's, and a role that does not exist."""
        try:
            parts = urlsplit(self.issuer)
        except ValueError:
            parts = urlsplit("")
        safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
        if not safe or not parts.hostname or parts.query or parts.fragment or len(self.issuer) > ISSUER_LENGTH:
            raise InputError(f"OpenID issuer: {self.issuer[:80]!r} must be the https address of the provider")
        if not self.client_id or not self.client_secret:
            raise InputError("OpenID: set the client's id and secret, which the provider issues")
        if self.new_role is not None and self.new_role not in ROLES:
            raise InputError(f"OpenID role: unknown role {self.new_role[:40]!r}; choose one of {', '.join(ROLES)}")

    @property
    def host(self) -> str:
        """The provider's name, for people."""
        return urlsplit(self.issuer).netloc
