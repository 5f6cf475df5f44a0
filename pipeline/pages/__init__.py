"""Captured pages: read, rendered offline, their targets and accessibility trees."""
