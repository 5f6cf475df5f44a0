"""Replay: a recorded session is served again offline, a demonstration is run again in it, and proves itself."""
