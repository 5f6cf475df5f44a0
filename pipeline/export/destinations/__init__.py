"""Where exports go: a folder or S3."""
