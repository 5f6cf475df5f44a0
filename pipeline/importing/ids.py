"""Ids of imported recordings, from those at their source."""

import hashlib
import re

MAX_ID_CHARS = 100
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_DIGEST_CHARS = 8


def recording_id(name: str) -> str:
    """A recording's id from the name of an item: itself where it can be one, otherwise with a digest at its end."""
    slug = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-_")
    if slug == name and len(name) <= MAX_ID_CHARS and _ID.fullmatch(name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
    return f"{slug[:MAX_ID_CHARS - _DIGEST_CHARS - 1].strip('-_') or 'imported'}-{digest}"
