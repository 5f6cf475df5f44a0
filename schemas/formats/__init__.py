"""The schemas: what every file and message looks like, field by field."""
