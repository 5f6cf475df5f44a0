"""Failures around the review app while clients work."""
