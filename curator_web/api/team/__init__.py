"""The JSON API of projects and their members."""
