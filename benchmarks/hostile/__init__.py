"""Hostile packages, recordings, pages, edits and requests."""
