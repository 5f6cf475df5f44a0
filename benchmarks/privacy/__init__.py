"""Personal data and secrets: what is found in texts, exports and recorded sessions."""
