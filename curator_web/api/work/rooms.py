"""The JSON API of rooms."""

from typing import Any

from marshmallow import Schema, fields, validate

from curator_web.access.accounts import account
from curator_web.access.room_addresses import address_of, link_address
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.api.review.demonstrations import IN_PROJECT, NO_PROJECT
from curator_web.db.columns import ID_LENGTH
from curator_web.rooms import rooms
from schemas.formats.parts import Strict

blueprint = Blueprint("rooms_api", __name__, url_prefix="/api", description="Rooms")

NOT_FOUND = {"description": "Unknown room."}


class NewRoomSchema(Strict):
    """A room to be opened."""

    task = fields.String(load_default="", validate=validate.Length(max=rooms.TASK_LENGTH))
    instructor = fields.String(load_default=None, allow_none=True, validate=validate.Length(1, ID_LENGTH), metadata={
        "description": "member who instructs; without one, a link makes somebody the instructor"})
    pictures = fields.Boolean(load_default=True, metadata={"description": "whether the instructor sees the screen"})


class OpenedRoomSchema(Schema):
    """A room that was opened."""

    id = fields.String(required=True)
    url = fields.String(required=True, metadata={"description": "address of the room"})
    link = fields.String(required=True, allow_none=True, metadata={
        "description": "address that makes whoever follows it the instructor, once; shown only here"})
    expires_at = fields.AwareDateTime(required=True, allow_none=True, metadata={
        "description": "until when the link must be followed"})
    pictures = fields.Boolean(required=True)


class RoomSchema(Schema):
    """A room."""

    id = fields.String(required=True)
    url = fields.Function(lambda room: address_of(room.id), required=True, metadata={
        "type": "string", "description": "address of the room"})
    task = fields.String(required=True)
    task_name = fields.Function(
        lambda room: room.task_id and f"{room.project}/{room.task_id}", required=True,
        metadata={"type": "string", "nullable": True,
                  "description": "of a task of the bank: `task_id` in the provenance of its recordings"})
    pictures = fields.Boolean(required=True)
    opened_by = fields.String(required=True, metadata={"description": "the navigator"})
    instructor = fields.String(required=True, allow_none=True)
    recording = fields.String(required=True, allow_none=True)
    ended_at = fields.AwareDateTime(required=True, allow_none=True)


@blueprint.post("/rooms")
@blueprint.doc(**IN_PROJECT)
@blueprint.alt_response(404, **NO_PROJECT)
@blueprint.arguments(NewRoomSchema)
@blueprint.response(201, OpenedRoomSchema)
def open_room(body: dict[str, Any]):
    """Open a live room whose navigator you are"""
    rooms.require_switched_on(services().rooms.capacity)
    opened = rooms.open_room(services().db, account(), body["task"], body["instructor"], body["pictures"])
    return {"id": opened.room.id, "url": address_of(opened.room.id), "pictures": opened.room.pictures,
            "link": opened.link and link_address(opened.link), "expires_at": opened.expires_at}


@blueprint.get("/rooms/<room_id>")
@blueprint.response(200, RoomSchema)
@blueprint.alt_response(404, **NOT_FOUND)
def room(room_id: str):
    """One room"""
    return rooms.existing(services().db, room_id, account())
