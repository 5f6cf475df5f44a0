"""Recordings, packages and sessions that tests record or generate."""
