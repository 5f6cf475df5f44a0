"""Running the review app: backups, moving what it keeps, another session key."""
