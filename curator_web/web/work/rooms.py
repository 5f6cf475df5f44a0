"""Pages of rooms: live sessions of an instructor and a navigator, for members of the project."""

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug import Response

from curator_web.access.accounts import account
from curator_web.access.room_addresses import address_of, link_address
from curator_web.access.services import services
from curator_web.db.models.room_models import Room
from curator_web.db.request_lock import stepping_aside
from curator_web.errors import ErrorText, NotAllowed
from curator_web.rooms import rooms, web_socket
from curator_web.rooms.conversation import Conversation
from curator_web.tasks import assignment
from curator_web.users import projects
from curator_web.web.team.projects import rendered_guidelines

blueprint = Blueprint("rooms", __name__, url_prefix="/rooms")


@blueprint.get("")
def index() -> str:
    """The rooms that somebody may enter, and the form for a new one."""
    return render_template("work/rooms.html", rooms=rooms.listed(services().db, account()),
                           limit=rooms.TASK_LENGTH, switched_on=services().rooms.capacity > 0)


@blueprint.post("")
def open_room() -> str:
    """Open a room; its link is shown this once."""
    rooms.require_switched_on(services().rooms.capacity)
    return _opened(rooms.open_room(services().db, account(), request.form.get("task", ""),
                                   request.form.get("instructor", "").strip() or None,
                                   request.form.get("pictures") == "yes"))


def _opened(opened: rooms.OpenedRoom) -> str:
    return render_template("work/room_opened.html", opened=opened, address=address_of(opened.room.id),
                           link=opened.link and link_address(opened.link))


@blueprint.post("/next")
def open_for_next_task() -> str:
    """Open a room with the next task of the bank."""
    rooms.require_switched_on(services().rooms.capacity)
    task = assignment.give(services().db, account())
    return _opened(rooms.open_room(services().db, account(), task.text, None, pictures=True, task_id=task.id))


@blueprint.get("/<room_id>")
def show(room_id: str) -> str:
    """The page of the instructor, or of an observer."""
    room, role = rooms.enter(services().db, room_id, account())
    return room_page(room, role, url_for(".live", room_id=room_id))


@blueprint.get("/<room_id>/live", websocket=True)
def live(room_id: str) -> Response:
    """The WebSocket of that page."""
    room, role = rooms.enter(services().db, room_id, account())
    rooms.require_open(room)
    return converse(room, role, account().name)


@blueprint.get("/<room_id>/record", websocket=True)
def record(room_id: str) -> Response:
    """The WebSocket of the recorder."""
    room = rooms.existing(services().db, room_id, account())
    rooms.require_navigator(room, account())
    return converse(room, rooms.NAVIGATOR, account().name)


@blueprint.post("/<room_id>/end")
def end(room_id: str) -> Response:
    """End a room: who opened it, and a lead."""
    room = rooms.existing(services().db, room_id, account())
    if room.opened_by != account().name and not account().leads:
        raise NotAllowed(ErrorText("only the user who opened a room and leads can end it"))
    rooms.end(services().db, room_id, account().name)
    services().rooms.close_room(room_id)
    return redirect(url_for(".index"), 303)


def room_page(room: Room, role: str, live_address: str) -> str:
    """The page of a room for one of its viewers; `live_address`: of its WebSocket."""
    version = projects.newest_guidelines(services().db, room.project)
    return render_template("work/room.html", room=room, role=role, over=rooms.is_over(room), live=live_address,
                           guidelines=rendered_guidelines(version))


def converse(room: Room, role: str, name: str | None) -> Response:
    """Serve a WebSocket of a room until it ends. Raises NotAllowed for a page of another site, Busy when there are too
    many connections."""
    web_socket.require_same_origin(request.environ, browser="Authorization" not in request.headers)
    with stepping_aside(), services().rooms.connection(room.id, room.pictures, role, name) as (live_room, participant):
        return web_socket.serve(request.environ, Conversation(services().db, live_room, participant).serve)

