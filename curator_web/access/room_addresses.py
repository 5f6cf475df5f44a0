"""Complete addresses of rooms, for people and for recorders."""

from flask import url_for


def address_of(room_id: str) -> str:
    """The address of a room, as `demotape record --room` takes it."""
    return url_for("rooms.show", room_id=room_id, _external=True)


def link_address(link: str) -> str:
    """The address that makes a browser the instructor, once; `link`: the secret in it."""
    return url_for("room_links.show", link=link, _external=True)
