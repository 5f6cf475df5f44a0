"""Agreement between annotations, differences, and figures."""
