"""Alignment with rendered meeting videos."""
