"""The JSON API of saved filters."""

from typing import Any

from flask.views import MethodView
from marshmallow import Schema, fields, validate

from curator_web.access.accounts import account
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.api.review.demonstrations import IN_PROJECT, NO_PROJECT, NOT_ALLOWED
from curator_web.db.models.filter_models import FILTER_NAME_LENGTH
from curator_web.demonstrations.listing import saved_filters
from curator_web.demonstrations.listing.listing import read_filter
from schemas.formats.parts import Strict

blueprint = Blueprint("filters_api", __name__, url_prefix="/api", description="Saved filters")

CONTENT = {"description": "parameters of GET /api/demonstrations"}


class SavedFilterSchema(Schema):
    """A filter under a name."""

    id = fields.Integer(required=True)
    name = fields.String(required=True)
    who = fields.String(required=True)
    shared = fields.Boolean(required=True, metadata={"description": "for everybody in the project"})
    content = fields.Dict(keys=fields.String(), values=fields.String(), required=True, metadata=CONTENT)


class NewFilterSchema(Strict):
    """A filter to be saved."""

    name = fields.String(required=True, validate=validate.Length(1, FILTER_NAME_LENGTH))
    shared = fields.Boolean(load_default=False)
    content = fields.Dict(keys=fields.String(), values=fields.String(), required=True, metadata=CONTENT)


@blueprint.route("/filters")
class Filters(MethodView):
    """Those of a project."""

    @blueprint.doc(**IN_PROJECT)
    @blueprint.alt_response(404, **NO_PROJECT)
    @blueprint.response(200, SavedFilterSchema(many=True))
    def get(self):
        """Your saved filters, and those that are shared in the project"""
        return saved_filters.saved(services().db, account())

    @blueprint.doc(**IN_PROJECT)
    @blueprint.alt_response(404, **NO_PROJECT)
    @blueprint.arguments(NewFilterSchema)
    @blueprint.response(201, SavedFilterSchema)
    def post(self, body: dict[str, Any]):
        """Save a filter; one of yours that has the name already is changed"""
        return saved_filters.save(services().db, account(), body["name"], read_filter(body["content"]),
                                  body["shared"])


@blueprint.delete("/filters/<int:filter_id>")
@blueprint.response(204)
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, description="Unknown filter.")
def remove(filter_id: int):
    """Forget a filter: one of yours; a lead also a shared one"""
    saved_filters.remove(services().db, account(), filter_id)
