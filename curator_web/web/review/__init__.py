"""The review page and what belongs to one demonstration."""
