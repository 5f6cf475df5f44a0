"""Who acted and when, as trajectories of agents state it."""

from datetime import datetime
from typing import Any

_ACTORS = ("agent", "person", "script")
_NOT_NAMES = ("", "unknown", "person", "script")
_MAX_NAME_CHARS = 100


def agent_provenance(actor: Any, name: str) -> dict[str, str]:
    """Fields of the provenance (docs/format.md); without those that are not stated or unknown."""
    plain = "".join(sign for sign in name if sign.isalnum() or sign in " .,+:/()-_")[:_MAX_NAME_CHARS]
    known = {"actor": actor} if actor in _ACTORS else {}
    return known | ({"agent": plain} if plain not in _NOT_NAMES else {})


def parse_time(value: Any) -> datetime | None:
    """A time in ISO 8601 with its offset; None for anything else."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return None
    return time if time.tzinfo else None
