"""Judges in the review app: labels by people, verdicts of models, and their comparison (docs/judge.md)."""
