"""The API that the extension sends recordings to. Signed in by a token alone (accounts.py)."""

from typing import Any

from flask import request
from flask_smorest import Api
from marshmallow import Schema, fields, validate

from curator_web.access.accounts import account as asking
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.api.review.demonstrations import IN_PROJECT, NO_PROJECT
from curator_web.api.team.projects import ProjectSchema
from curator_web.db.models.core import ROLES, UPLOAD_STATES
from curator_web.errors import NotFound
from curator_web.jobs.upload_service import UploadService, UploadStatus, require_length
from curator_web.users import projects
from schemas.formats.parts import SHA256, Strict

blueprint = Blueprint("uploads", __name__, url_prefix="/api", description="Sending recordings")

_TOKEN = {"description": "Unknown token."}
_SCOPE = {"description": "The token is not for uploads."}


class AccountSchema(Schema):
    """Who is signed in."""

    name = fields.String(required=True)
    role = fields.String(required=True, validate=validate.OneOf(ROLES))
    projects = fields.List(fields.Nested(ProjectSchema), required=True, metadata={
        "description": "those that you are in; recordings go to the first, where none is named"})


class PlanSchema(Strict):
    """How a package will be sent."""

    size = fields.Integer(required=True, strict=True, validate=validate.Range(min=1))
    chunk_size = fields.Integer(required=True, strict=True, validate=validate.Range(min=1),
                                metadata={"description": "bytes of every chunk but the last"})
    chunks = fields.List(fields.String(validate=SHA256), required=True, metadata={"description": "SHA-256 of each"})


class UploadSchema(Schema):
    """How far an upload has come."""

    id = fields.String(required=True)
    state = fields.String(required=True, validate=validate.OneOf(UPLOAD_STATES))
    received = fields.List(fields.Integer(), required=True, metadata={"description": "numbers of the chunks, from 0"})
    demonstration = fields.String(required=True, allow_none=True)
    error = fields.String(required=True, allow_none=True)
    notice = fields.String(required=True, allow_none=True, metadata={
        "description": "what there is to know: that another's recording has this id, so that yours got one of its own"})


@blueprint.get("/account")
@blueprint.response(200, AccountSchema)
@blueprint.alt_response(401, **_TOKEN)
def account() -> dict[str, Any]:
    """Who the token belongs to"""
    caller = asking()
    return {"name": caller.name, "role": caller.role, "projects": projects.memberships(services().db, caller)}


@blueprint.put("/uploads/<upload_id>")
@blueprint.doc(**IN_PROJECT)
@blueprint.alt_response(404, **NO_PROJECT)
@blueprint.arguments(PlanSchema)
@blueprint.response(200, UploadSchema)
@blueprint.alt_response(401, **_TOKEN)
@blueprint.alt_response(403, **_SCOPE)
def plan(plan: dict[str, Any], upload_id: str) -> dict[str, Any]:
    """Begin to send a package, or learn where to go on"""
    return _as_json(_uploads().plan(asking().name, upload_id, plan["size"], plan["chunk_size"], plan["chunks"],
                                    asking().project))


@blueprint.get("/uploads/<upload_id>")
@blueprint.response(200, UploadSchema)
@blueprint.alt_response(401, **_TOKEN)
@blueprint.alt_response(403, **_SCOPE)
def state(upload_id: str) -> dict[str, Any]:
    """How far it has come"""
    return _as_json(_uploads().status(asking().name, upload_id))


@blueprint.put("/uploads/<upload_id>/chunks/<int:number>")
@blueprint.response(204)
@blueprint.alt_response(401, **_TOKEN)
@blueprint.alt_response(403, **_SCOPE)
@blueprint.alt_response(400, description="Its length or SHA-256 is not the declared one.")
@blueprint.alt_response(507, description="The server's disk is nearly full.")
def chunk(upload_id: str, number: int) -> None:
    """Send a chunk, as the body; sending it again changes nothing"""
    user_name = asking().name
    planned = _uploads().awaited(user_name, upload_id, number)
    if planned is None:
        return
    # What is refused is not read.
    require_length(number, planned, request.content_length or 0)
    _uploads().put(user_name, upload_id, number, request.get_data(cache=False))


@blueprint.post("/uploads/<upload_id>/finish")
@blueprint.response(202, UploadSchema)
@blueprint.alt_response(401, **_TOKEN)
@blueprint.alt_response(403, **_SCOPE)
def finish(upload_id: str) -> dict[str, Any]:
    """All chunks are sent: import it"""
    return _as_json(_uploads().finish(asking().name, upload_id))


def register(api: Api) -> None:
    """Serve it."""
    api.register_blueprint(blueprint)


def _uploads() -> UploadService:
    uploads = services().uploads
    if uploads is None:
        raise NotFound("uploads are disabled")
    return uploads


def _as_json(status: UploadStatus) -> dict[str, Any]:
    row = status.row
    return {"id": row.name, "state": status.state, "received": status.received, "demonstration": status.demonstration,
            "error": status.error, "notice": status.notice}
