"""Personal data and secrets: found in text, taken out of demonstrations."""
