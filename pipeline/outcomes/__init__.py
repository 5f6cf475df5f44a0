"""Outcome checks: whether what a session ended with is what its task asked for."""
