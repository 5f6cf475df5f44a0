"""Judges: models that say whether a recorded task was done, held against what people say of it (docs/judge.md)."""
