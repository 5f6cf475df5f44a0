"""Kinds of actors in a recording."""

from collections.abc import Mapping
from typing import Any

ACTORS = PERSON, AGENT, SCRIPT = ("person", "agent", "script")
UNKNOWN_ACTOR = "unknown"  # the recording does not state who acted


def actor_of(provenance: Mapping[str, Any]) -> str:
    """Return one of ACTORS, or UNKNOWN_ACTOR; a provenance that names an agent but no actor is an agent's."""
    return str(provenance.get("actor") or (AGENT if provenance.get("agent") else UNKNOWN_ACTOR))
