"""Labelling schemes of projects: their versions, and the answers of people (docs/schemes.md)."""
