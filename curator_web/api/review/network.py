"""The JSON API: what the browser asked for between two actions, and what pages wrote to the console."""

from typing import Any

from marshmallow import Schema, fields, validate

from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.demonstrations.library import library
from curator_web.demonstrations.library.turn_network import ConsoleLines, TurnRequests, console_lines, turn_requests
from schemas.formats.recording import CONSOLE_KINDS, CONSOLE_LEVELS

from .demonstrations import DAMAGED

blueprint = Blueprint("network_api", __name__, url_prefix="/api", description="Kept network and console")


class QuerySchema(Schema):
    """Which turn."""

    turn = fields.String(required=True, metadata={"description": "id of the turn"})


class RequestSchema(Schema):
    """A request with what came back; no headers, no bodies, nothing of the address but host and path."""

    time = fields.Float(required=True, metadata={"description": "when it was sent, seconds of the recording"})
    duration = fields.Float(required=True, metadata={"description": "until all of the answer was there, seconds"})
    tab = fields.Integer(required=True)
    method = fields.String(required=True)
    host = fields.String(required=True)
    path = fields.String(required=True)
    status = fields.Integer(required=True, metadata={"description": "0 where there was no answer"})
    type = fields.String(required=True, metadata={"description": "media type of the answer"})
    size = fields.Integer(required=True, allow_none=True, metadata={
        "description": "bytes of the answer; null where that is not known"})
    failure = fields.String(required=True, metadata={"description": "why there is no answer; empty when there is one"})


class RequestsSchema(Schema):
    """The first requests from a turn to the next action, in order of time."""

    begin = fields.Float(required=True, metadata={"description": "of the time looked at, seconds of the recording"})
    end = fields.Float(required=True, allow_none=True, metadata={"description": "null: to the end of the recording"})
    requests = fields.List(fields.Nested(RequestSchema), required=True)
    total = fields.Integer(required=True, metadata={"description": "how many there are"})


class LineSchema(Schema):
    """A line of the console; nothing of the script's address but host and path."""

    time = fields.Float(required=True, metadata={"description": "when it was written, seconds of the recording"})
    tab = fields.Integer(required=True)
    kind = fields.String(required=True, validate=validate.OneOf(CONSOLE_KINDS), metadata={
        "description": "a call of `console`, an uncaught error, or what the browser says of the page"})
    level = fields.String(required=True, validate=validate.OneOf(CONSOLE_LEVELS))
    text = fields.String(required=True)
    host = fields.String(required=True, metadata={"description": "of the script; empty where that is not told"})
    path = fields.String(required=True)
    line = fields.Integer(metadata={"description": "in the script, from 1"})
    column = fields.Integer(metadata={"description": "in the script, from 1"})


class WrittenSchema(Schema):
    """The first lines from a turn to the next action, in order of time."""

    begin = fields.Float(required=True, metadata={"description": "of the time looked at, seconds of the recording"})
    end = fields.Float(required=True, allow_none=True, metadata={"description": "null: to the end of the recording"})
    lines = fields.List(fields.Nested(LineSchema), required=True)
    total = fields.Integer(required=True, metadata={"description": "how many there are"})
    errors = fields.Integer(required=True, metadata={"description": "how many of them are errors"})


@blueprint.get("/demonstrations/<demonstration_id>/network")
@blueprint.arguments(QuerySchema, location="query")
@blueprint.response(200, RequestsSchema)
@blueprint.alt_response(404, description="Unknown demonstration or turn, or its network was not recorded.")
@blueprint.alt_response(409, **DAMAGED)
def requests(query: dict[str, Any], demonstration_id: str) -> TurnRequests:
    """The requests from a turn to the next action, where the network was kept"""
    return turn_requests(services().store, library.review(services().db, demonstration_id), query["turn"])


@blueprint.get("/demonstrations/<demonstration_id>/console")
@blueprint.arguments(QuerySchema, location="query")
@blueprint.response(200, WrittenSchema)
@blueprint.alt_response(404, description="Unknown demonstration or turn, or its console was not recorded.")
@blueprint.alt_response(409, **DAMAGED)
def console(query: dict[str, Any], demonstration_id: str) -> ConsoleLines:
    """What pages wrote to the console from a turn to the next action, where that was kept"""
    return console_lines(services().store, library.review(services().db, demonstration_id), query["turn"])
