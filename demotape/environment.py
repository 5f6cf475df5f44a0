"""Settings of the review app that stand in the environment, as one of them is a secret."""

import os

from curator_web.web.openid_settings import OpenIDSettings
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
