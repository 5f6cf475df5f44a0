"""Turns: folded from events, changed by edits."""
