"""The clock of a video: offsets and drift."""
