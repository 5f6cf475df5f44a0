"""Real services for tests: databases, object stores, model endpoints, web sites."""
