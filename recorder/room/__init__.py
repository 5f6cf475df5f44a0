"""The recorder's end of a live room."""
