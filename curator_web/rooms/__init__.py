"""Rooms: live sessions of an instructor and a navigator."""
