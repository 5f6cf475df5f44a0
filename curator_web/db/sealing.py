"""Secrets that are stored encrypted in the database, each kind with its own key."""

import base64
import hmac

from cryptography.fernet import Fernet, InvalidToken


def box(key: bytes, purpose: str) -> Fernet:
    """What seals secrets of a kind and opens them."""
    return Fernet(base64.urlsafe_b64encode(hmac.digest(key, purpose.encode(), "sha256")))


def opened(box: Fernet, sealed: str) -> str | None:
    """A secret; None where it was sealed with another key."""
    try:
        return box.decrypt(sealed.encode()).decode()
    except InvalidToken:
        return None


def resealed(sealed: str, purpose: str, old: bytes, new: bytes) -> str | None:
    """A secret, sealed under a new key, unless it is so already; None where neither key opens it."""
    target = box(new, purpose)
    if opened(target, sealed) is not None:
        return sealed
    secret = opened(box(old, purpose), sealed)
    return None if secret is None else target.encrypt(secret.encode()).decode()
