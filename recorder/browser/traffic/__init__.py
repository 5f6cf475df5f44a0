"""Network, console and resources of a tab."""
