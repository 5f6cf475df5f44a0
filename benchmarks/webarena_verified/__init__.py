"""Scores and tasks beside WebArena-Verified's own evaluators."""
