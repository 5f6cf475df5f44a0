"""Running a demonstration in a served archive, and comparing states."""
