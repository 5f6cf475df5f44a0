"""Playwright scripts."""
