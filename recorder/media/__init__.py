"""Painted frames and the video."""
