"""Notifications: what people are told of that others did, or that the app did for them."""
