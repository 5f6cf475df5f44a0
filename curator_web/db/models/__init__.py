"""The tables as classes."""
