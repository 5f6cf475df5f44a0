"""Scorers of elements that need an extra: trees (`ranker`) and sentence-transformers models (`encoder`)."""
