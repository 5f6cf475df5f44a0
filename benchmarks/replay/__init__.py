"""Replay of recorded sessions, offline."""
