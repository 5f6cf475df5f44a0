"""Allowed addresses of webhooks: public ones, and networks that the operator allows.

Who names an address may not have the server ask what only the server reaches (server-side request forgery). A name is
resolved when something is sent, and what was looked at is what is connected to.
"""

import ipaddress
import socket
from collections.abc import Sequence
from urllib.parse import SplitResult

from curator_web.errors import ErrorText, InputError
from schemas.addresses import split_address

URL_LENGTH = 2000
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052: an IPv4 address in its last 32 bits
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")  # RFC 4291; nothing else of IPv6 is a public host
# In IANA's registries of special-purpose addresses, but not in `is_global` of every Python: relays of 6to4 (RFC 7526,
# whoever is near answers), documentation (RFC 9637), segment routing (RFC 9602).
_NOT_PUBLIC = tuple(map(ipaddress.ip_network, ("192.88.99.0/24", "3fff::/20", "5f00::/16")))


class Unreachable(Exception):
    """Nothing can be sent there; the words are for who made the webhook."""


def read_networks(text: str, name: str) -> tuple[Network, ...]:
    """Networks with commas between, such as `10.1.0.0/16`; raises InputError that names the setting."""
    try:
        return tuple(ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip())
    except ValueError:
        raise InputError(ErrorText("%(name)s: %(text)r: must be networks such as 10.1.0.0/16, separated by "
                                   "commas", name=name,
                                   text=text[:80])) from None


def require_url(url: str) -> str:
    """The address of a webhook as it is kept; raises InputError."""
    url = url.strip()
    if not 0 < len(url) <= URL_LENGTH or not url.isascii() or not url.isprintable() or " " in url:
        raise InputError(ErrorText("field url: must have 1 to %(url_length)s ASCII characters without blanks",
                                   url_length=format(URL_LENGTH, ",")))
    parts = split_address(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(ErrorText("field url: must be an address with http:// or https:// and a host"))
    if parts.username is not None or parts.password is not None:
        raise InputError(ErrorText("field url: must not contain a name or password; verify the sender by the "
                                   "signature"))
    try:
        port_of(parts)
    except ValueError:
        raise InputError(ErrorText("field url: invalid port")) from None
    return url


def port_of(parts: SplitResult) -> int:
    """The port that is meant; raises ValueError."""
    return parts.port or (443 if parts.scheme == "https" else 80)


def resolved(host: str, port: int, allowed: Sequence[Network]) -> list[str]:
    """The addresses of a host; raises Unreachable where one of them is not public and not allowed."""
    try:
        resolved_addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Unreachable("its name cannot be resolved") from None
    addresses = list(dict.fromkeys(str(address[0]) for *_, address in resolved_addresses))
    if not addresses or not all(may_be_reached(address, allowed) for address in addresses):
        raise Unreachable("it resolves to an address that is not public; the administrator of the server can allow "
                          "its network")
    return addresses


def may_be_reached(address: str, allowed: Sequence[Network]) -> bool:
    """Whether something may be sent to an IP address."""
    known = ipaddress.ip_address(address.partition("%")[0])
    meant = _inside(known)
    if any(candidate.version == network.version and candidate in network for candidate in meant for network in allowed):
        return True
    return all(_is_public(candidate) for candidate in meant)


def _is_public(address: _Address) -> bool:
    if not address.is_global or address.is_multicast or address.is_reserved:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address not in _GLOBAL_UNICAST:
        return False
    return not any(address.version == network.version and address in network for network in _NOT_PUBLIC)


def _inside(address: _Address) -> list[_Address]:
    """The address, and those of IPv4 that lie in it: what a gateway makes of it counts, too."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address.ipv4_mapped:
        return [address.ipv4_mapped]
    embedded = [address.sixtofour, *(address.teredo or ())]
    if address in _NAT64:
        return [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)]
    return [address, *(candidate for candidate in embedded if candidate is not None)]
