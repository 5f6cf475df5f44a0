"""One importer a module: what it accepts, and how it reads it."""
