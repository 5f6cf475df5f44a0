"""The review app with ten times the size of WebLINX."""
