"""The link into a room: it works once, and makes a browser that has no account the room's instructor.

The link is used by a button, not by opening it: chat tools open links to show a preview. The browser gets a pass, in
the cookie of the session, for this room only.
"""

from flask import Blueprint, redirect, render_template, url_for
from flask import session as cookie
from werkzeug import Response

from curator_web.access.services import services
from curator_web.db.models.room_models import Room
from curator_web.errors import ErrorText, NotFound
from curator_web.rooms import rooms

from .rooms import converse, room_page

blueprint = Blueprint("room_links", __name__)
_PASS = "room_pass"


@blueprint.get("/room-links/<link>")
def show(link: str) -> str:
    """What the link leads to, and the button that uses it."""
    return render_template("work/room_link.html", room=rooms.room_of_link(services().db, link), link=link)


@blueprint.post("/room-links/<link>")
def follow(link: str) -> Response:
    """Use the link."""
    cookie[_PASS] = rooms.follow(services().db, link)
    return redirect(url_for(".room"), 303)


@blueprint.get("/instruct")
def room() -> str:
    """The page of an instructor who followed a link."""
    return room_page(_room(), rooms.INSTRUCTOR, url_for(".live"))


@blueprint.get("/instruct/live", websocket=True)
def live() -> Response:
    """The WebSocket of that page."""
    entered = _room()
    rooms.require_open(entered)
    return converse(entered, rooms.INSTRUCTOR, None)


def _room() -> Room:
    granted = cookie.get(_PASS)
    if not isinstance(granted, str):
        raise NotFound(ErrorText("unknown room"))
    return rooms.room_of_pass(services().db, granted)
