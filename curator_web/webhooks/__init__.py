"""Webhooks: a project's events, posted and signed to addresses that its leads name (https://www.standardwebhooks.com)."""
