"""The review app with users and data."""
