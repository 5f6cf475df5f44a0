"""Kinds of actors in a recording."""

ACTORS = ("person", "agent", "script")
