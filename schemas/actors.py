"""Who or what acts in a recording."""

ACTORS = ("person", "agent", "script")
