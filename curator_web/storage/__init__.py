"""Where recordings, packages and exports lie: a folder or S3."""
