"""The JSON API of labels: what people are asked to say of demonstrations and turns."""

from typing import Any

from flask.views import MethodView
from marshmallow import fields

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.api.review.demonstrations import IN_PROJECT, NO_PROJECT, NOT_ALLOWED
from curator_web.demonstrations.library import labels
from schemas.formats.parts import Strict

blueprint = Blueprint("labels_api", __name__, url_prefix="/api", description="Labels")


class LabelsSchema(Strict):
    """The labels that there are, in order; one is said by an edit (`label`)."""

    labels = fields.List(fields.Nested(labels.LabelSchema), required=True)


@blueprint.route("/labels")
class Labels(MethodView):
    """What can be said."""

    @blueprint.doc(**IN_PROJECT)
    @blueprint.response(200, LabelsSchema)
    @blueprint.alt_response(404, **NO_PROJECT)
    def get(self) -> dict[str, Any]:
        """The labels that there are"""
        return {"labels": labels.definitions(services().db, account().project)}

    @blueprint.doc(**IN_PROJECT)
    @blueprint.alt_response(404, **NO_PROJECT)
    @blueprint.arguments(LabelsSchema)
    @blueprint.response(200, LabelsSchema)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    def put(self, body: dict[str, Any]) -> dict[str, Any]:
        """Have these labels from now on; what was said by others stays said. Only for leads"""
        labels.define(services().db, body["labels"], lead())
        return {"labels": labels.definitions(services().db, account().project)}
