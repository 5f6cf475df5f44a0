"""Recorded tasks as environments for agents."""
