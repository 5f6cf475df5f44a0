"""Programs that run in environments of their own, without demotape, with what examples/environments holds."""
