"""The JSON API: the pages' abilities for programs. Described in OpenAPI at /api/openapi.json.

Signed in by `Authorization: Bearer TOKEN`, or by the browser's session; then a change needs the header X-CSRFToken,
from GET /api/token. A change names the version of the demonstration that it was made on.
"""

from typing import Any

from flask import Flask
from flask.views import MethodView
from flask_smorest import Api
from flask_wtf.csrf import generate_csrf
from marshmallow import Schema, fields, validate

from curator_web.access.accounts import account
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.db.models.core import KEY_LENGTH, ORDERS, STATUSES
from curator_web.demonstrations.library import library
from curator_web.demonstrations.library.replay_proofs import STATES
from curator_web.demonstrations.listing.listing import COUNT_LIMIT, Page, listing, read_filter
from curator_web.demonstrations.workflow import editing, workflow
from pipeline.export import EXPORT_ACTORS, OUTCOMES
from schemas import DemonstrationSchema, EditSchema
from schemas.formats.parts import Strict
from schemas.types.recordings import Demonstration

blueprint = Blueprint("api", __name__, url_prefix="/api", description="Demonstrations and their edits")

NOT_FOUND = {"description": "Unknown demonstration."}
NOT_ALLOWED = {"description": "The account lacks the permission."}
DAMAGED = {"description": "The demonstration is damaged: its data cannot be read. The message contains the reason."}
# What an operation that is about no one demonstration is told in its address.
IN_PROJECT: dict[str, Any] = {"parameters": [
    {"in": "query", "name": "project", "schema": {"type": "string"},
     "description": "the project; needed where you are in several"}]}
NO_PROJECT = {"description": "You are not a member of this project."}
STALE = {"description": "The demonstration was changed in the meantime, or its status does not allow the change."}


class SummarySchema(Schema):
    """One demonstration in a list."""

    id = fields.String(required=True)
    project = fields.String(required=True, attribute="home")
    recording = fields.String(required=True)
    task = fields.String(required=True)
    site = fields.String(required=True)
    status = fields.String(required=True, validate=validate.OneOf(STATUSES))
    version = fields.Integer(required=True, metadata={"description": "grows by one with each change"})
    turns = fields.Integer(required=True)
    dropped = fields.Integer(required=True)
    edited = fields.Integer(required=True)
    checks = fields.Integer(required=True, metadata={"description": "turns that ask for a look"})
    recorded_at = fields.AwareDateTime(required=True)
    imported_at = fields.AwareDateTime(required=True)
    changed_at = fields.AwareDateTime(required=True)
    recorded_by = fields.String(required=True, allow_none=True)
    assigned_to = fields.String(required=True, allow_none=True)
    submitted_by = fields.String(required=True, allow_none=True)
    reviewed_by = fields.String(required=True, allow_none=True)
    lease_who = fields.String(required=True, allow_none=True, metadata={"description": "who has it at work"})
    lease_until = fields.AwareDateTime(required=True, allow_none=True)
    open_comments = fields.Integer(required=True)
    proof = fields.String(required=True, allow_none=True, validate=validate.OneOf(STATES), metadata={
        "description": "what came of running it again; `changed`: it was changed since; null: nobody has"})
    actor = fields.String(required=True, allow_none=True, validate=validate.OneOf(EXPORT_ACTORS), metadata={
        "description": "who or what acted; null: not read yet"})
    outcome = fields.String(required=True, allow_none=True, metadata={
        "description": "the result of its outcome checks; null: undecided"})
    damage = fields.String(required=True, allow_none=True, metadata={
        "description": "why it could not be shown or exported when that was last tried; null when nothing is known"})


class SoughtSchema(Schema):
    """What demonstrations are found by."""

    search = fields.String(metadata={
        "description": "parts of words in task, site or id; beginnings of words in these or in utterances, typed "
                       "texts, names of targets and titles of pages; or /an expression/ for task, site or id"})
    q = fields.String(metadata={"description": "the same as `search`"})
    status = fields.String(validate=validate.OneOf(("", *STATUSES)))
    site = fields.String()
    intent = fields.String()
    proof = fields.String(validate=validate.OneOf(("", *STATES)))
    actor = fields.String(validate=validate.OneOf(("", *EXPORT_ACTORS)), metadata={"description": "who or what acted"})
    outcome = fields.String(validate=validate.OneOf(("", *OUTCOMES)), metadata={
        "description": "the result of its outcome checks"})
    check = fields.String(metadata={"description": "kind of a check that asks for a look"})
    person = fields.String(metadata={"description": "who recorded, edited, was assigned or decided"})
    label = fields.String(metadata={"description": "`name=value`, said of it or of a turn"})
    assigned = fields.String()
    since = fields.String(metadata={"description": "recorded on this day (YYYY-MM-DD) or later"})
    until = fields.String(metadata={"description": "recorded on this day or before"})


class ListQuerySchema(SoughtSchema):
    """Which demonstrations to list."""

    project = fields.String(metadata={"description": "where you are in several: of which"})
    sort = fields.String(validate=validate.OneOf(ORDERS))
    order = fields.String(validate=validate.OneOf(("asc", "desc")))
    after = fields.String(metadata={"description": "`next` or `previous` of another page"})


class TurnMatchSchema(Schema):
    """A turn that has words of a search."""

    turn = fields.String(required=True)
    text = fields.String(required=True, metadata={"description": "its text around the first of these words"})


class PageSchema(Schema):
    """One page of the list."""

    rows = fields.List(fields.Nested(SummarySchema), required=True, data_key="demonstrations")
    total = fields.Integer(required=True, allow_none=True, metadata={
        "description": f"when facets or words are sought, counted up to {COUNT_LIMIT + 1} and null on the pages after "
                       "the first"})
    next = fields.String(required=True, metadata={"description": "`after` of the following page, or empty"})
    previous = fields.String(required=True, metadata={"description": "`after` of the page before, or empty"})
    matches = fields.Dict(fields.String(), fields.List(fields.Nested(TurnMatchSchema)), required=True, metadata={
        "description": "by demonstration, the turns that have words of the search"})


class LoggedEditSchema(Schema):
    """One edit of the log."""

    number = fields.Integer(required=True)
    content = fields.Nested(EditSchema, required=True, data_key="edit")
    who = fields.String(required=True)
    made_at = fields.AwareDateTime(required=True)


class NewEditSchema(Strict):
    """An edit, and the version of the demonstration that it was made on."""

    version = fields.Integer(required=True, strict=True)
    edit = fields.Nested(EditSchema, required=True)
    key = fields.String(load_default=None, allow_none=True, validate=validate.Length(1, KEY_LENGTH), metadata={
        "description": "your own name for this edit: sent again under it, it is not made again"})


class NewStatusSchema(Strict):
    """A status, and the version of the demonstration that it was given on."""

    version = fields.Integer(required=True, strict=True)
    status = fields.String(required=True, validate=validate.OneOf(STATUSES))
    reason = fields.String(load_default="", metadata={"description": "needed for `returned` and `invalid`"})


class VersionSchema(Schema):
    """The demonstration's version after a change."""

    version = fields.Integer(required=True)


class MadeEditSchema(VersionSchema):
    """What an edit led to."""

    part = fields.String(metadata={"description": "end_before only: the id of the demonstration that begins there"})


class TokenSchema(Schema):
    """What to send as X-CSRFToken, together with the session cookie of this answer."""

    token = fields.String(required=True)


@blueprint.get("/token")
@blueprint.response(200, TokenSchema)
def token() -> dict[str, Any]:
    """A token for changes"""
    return {"token": generate_csrf()}


@blueprint.get("/demonstrations")
@blueprint.arguments(ListQuerySchema, location="query")
@blueprint.response(200, PageSchema)
@blueprint.alt_response(404, **NO_PROJECT)
def demonstrations(query: dict[str, Any]) -> Page:
    """Demonstrations, the newest first"""
    caller = account()
    return listing(services().db, read_filter(query), caller.project, caller)


@blueprint.get("/demonstrations/<demonstration_id>")
@blueprint.response(200, SummarySchema)
@blueprint.alt_response(404, **NOT_FOUND)
def demonstration(demonstration_id: str):
    """One demonstration without its turns"""
    return library.listed(services().db, demonstration_id)


@blueprint.get("/demonstrations/<demonstration_id>/turns")
@blueprint.response(200, DemonstrationSchema)
@blueprint.alt_response(404, **NOT_FOUND)
@blueprint.alt_response(409, **DAMAGED)
def turns(demonstration_id: str) -> Demonstration:
    """One demonstration as it is now: all edits folded in"""
    return library.current(services().db, demonstration_id)


@blueprint.route("/demonstrations/<demonstration_id>/edits")
class Edits(MethodView):
    """The log of edits."""

    @blueprint.response(200, LoggedEditSchema(many=True))
    @blueprint.alt_response(404, **NOT_FOUND)
    def get(self, demonstration_id: str):
        """All edits in order, with who and when"""
        return editing.edit_log(services().db, demonstration_id)

    @blueprint.arguments(NewEditSchema)
    @blueprint.response(201, MadeEditSchema)
    @blueprint.alt_response(404, **NOT_FOUND)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    @blueprint.alt_response(409, **STALE)
    def post(self, new: dict[str, Any], demonstration_id: str) -> dict[str, Any]:
        """Make an edit, undo or redo"""
        made = workflow.edit(services().db, services().store, demonstration_id, new["edit"], new["version"], account(),
                             new["key"])
        return {"version": made.version} | ({"part": made.part} if made.part else {})


@blueprint.put("/demonstrations/<demonstration_id>/status")
@blueprint.arguments(NewStatusSchema)
@blueprint.response(200, VersionSchema)
@blueprint.alt_response(404, **NOT_FOUND)
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(409, **STALE)
def status(new: dict[str, Any], demonstration_id: str) -> dict[str, Any]:
    """Submit, validate, approve, send back, mark invalid or reopen"""
    return {"version": workflow.change_status(services().db, demonstration_id, new["status"], new["version"],
                                              account(), new["reason"])}


def register(app: Flask) -> Api:
    """Serve the API and its description; returns what further parts of it are registered with."""
    app.config.update(API_TITLE="demotape", API_VERSION="v1", OPENAPI_VERSION="3.0.3", OPENAPI_URL_PREFIX="/api",
                      OPENAPI_JSON_PATH="openapi.json")
    api = Api(app)
    api.register_blueprint(blueprint)
    return api
