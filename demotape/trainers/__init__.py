"""Recorded tasks in the interfaces of trainers; each module needs an extra."""
