"""Projects, people, notifications and webhooks."""
