"""Programs that run in a separate Python environment with the tools whose files are imported, without demotape."""
