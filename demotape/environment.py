"""Settings of the review app that stand in the environment: a secret, and what only who runs the server decides."""

import os

from curator_web.web.openid_settings import OpenIDSettings
from curator_web.webhooks.addresses import Network, read_networks
from schemas import InputError


def openid() -> OpenIDSettings | None:
    """Where people sign in elsewhere: DEMOTAPE_OPENID_ISSUER, _CLIENT, _SECRET, and _ROLE of people not known here.

    None without an issuer; raises InputError for what cannot be one, or when the libraries for it are missing.
    """
    issuer = os.environ.get("DEMOTAPE_OPENID_ISSUER")
    if not issuer:
        return None
    try:
        import authlib  # noqa: F401
    except ImportError:
        raise InputError("DEMOTAPE_OPENID_ISSUER: its libraries are missing; install them with: "
                         "pip install 'demotape[openid]'") from None
    return OpenIDSettings(issuer, os.environ.get("DEMOTAPE_OPENID_CLIENT", ""),
                          os.environ.get("DEMOTAPE_OPENID_SECRET", ""), os.environ.get("DEMOTAPE_OPENID_ROLE") or None)


def webhook_networks() -> tuple[Network, ...]:
    """Networks that are not public and that webhooks may lead to all the same: DEMOTAPE_WEBHOOK_NETWORKS. Raises
    InputError for what is none."""
    name = "DEMOTAPE_WEBHOOK_NETWORKS"
    return read_networks(os.environ.get(name, ""), name)
