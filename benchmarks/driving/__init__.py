"""Random drivers and scripts that act on pages, and checks of what was recorded."""
