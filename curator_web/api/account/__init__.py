"""The JSON API of the signed-in account."""
