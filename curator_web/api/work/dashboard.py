"""The JSON API of the lead's dashboard."""

from marshmallow import Schema, fields

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.api.review.demonstrations import NOT_ALLOWED
from curator_web.demonstrations.measuring.figures import figures

blueprint = Blueprint("dashboard_api", __name__, url_prefix="/api", description="Dashboard")


class PersonSchema(Schema):
    """What one person did in the last 28 days."""

    name = fields.String(required=True)
    submitted = fields.Integer(required=True)
    decided = fields.Integer(required=True, metadata={"description": "validated or approved"})
    returned = fields.Integer(required=True, metadata={"description": "sent back"})
    minutes = fields.Float(required=True, allow_none=True, metadata={"description": "a demonstration, on average"})


class FiguresSchema(Schema):
    """The dashboard's figures; shares are from 0 to 1."""

    by_status = fields.Dict(keys=fields.String(), values=fields.Integer(), required=True)
    goal = fields.Integer(required=True, allow_none=True)
    people = fields.List(fields.Nested(PersonSchema), required=True)
    minutes = fields.Float(required=True, allow_none=True, metadata={"description": "a demonstration, on average"})
    turns = fields.Integer(required=True)
    dropped = fields.Float(required=True, allow_none=True)
    edited = fields.Float(required=True, allow_none=True)
    second_reviews = fields.Integer(required=True, metadata={
        "description": "decisions by a second person on what a first one submitted"})
    accepted_unchanged = fields.Integer(required=True, metadata={"description": "of these, where nothing was changed"})


@blueprint.get("/dashboard")
@blueprint.response(200, FiguresSchema)
@blueprint.alt_response(403, **NOT_ALLOWED)
def as_json():
    """Throughput, time, what is dropped and changed, second reviews; only for leads"""
    lead()
    return figures(services().db, account().project)
