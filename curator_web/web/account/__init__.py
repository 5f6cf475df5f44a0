"""Signing in and a person's settings."""
