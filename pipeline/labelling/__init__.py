"""Labelling schemes: the questions of a project, and what counts as an answer (docs/schemes.md)."""
