"""What surrounds the pages: failures, languages, health, logs."""
