"""The JSON API of webhooks; only for leads of the project."""

from typing import Any

from flask.views import MethodView
from marshmallow import Schema, fields, validate

from curator_web.access.accounts import lead
from curator_web.access.services import services
from curator_web.api.bodies import Blueprint
from curator_web.api.review.demonstrations import IN_PROJECT, NO_PROJECT, NOT_ALLOWED
from curator_web.db.models.webhook_models import DELIVERY_STATES, OFF, ON
from curator_web.webhooks import addresses
from curator_web.webhooks.events import EVENTS
from schemas.formats.parts import Strict

blueprint = Blueprint("webhooks_api", __name__, url_prefix="/api", description="Webhooks")
NOT_FOUND = {"description": "Unknown webhook."}


class NewWebhookSchema(Strict):
    """A webhook to be added."""

    url = fields.String(required=True, validate=validate.Length(1, addresses.URL_LENGTH))
    events = fields.List(fields.String(validate=validate.OneOf(EVENTS)), required=True,
                         validate=validate.Length(1, len(EVENTS)))


class WebhookSchema(Schema):
    """Where events of a project are posted."""

    id = fields.Integer(required=True)
    url = fields.String(required=True)
    events = fields.List(fields.String(), required=True)
    state = fields.String(required=True, validate=validate.OneOf((ON, OFF)))
    made_by = fields.String(required=True)
    made_at = fields.AwareDateTime(required=True)
    failing_since = fields.AwareDateTime(required=True, allow_none=True, metadata={
        "description": "nothing has arrived there since"})


class AddedWebhookSchema(WebhookSchema):
    """A webhook that was added."""

    secret = fields.String(required=True, metadata={"description": "what it signs with; told this once"})


class DeliverySchema(Schema):
    """One event for one webhook."""

    id = fields.Integer(required=True)
    message = fields.String(required=True, metadata={"description": "its webhook-id"})
    event = fields.String(required=True)
    body = fields.Dict(required=True)
    state = fields.String(required=True, validate=validate.OneOf(DELIVERY_STATES))
    tries = fields.Integer(required=True)
    code = fields.Integer(required=True, allow_none=True, metadata={"description": "of the last answer"})
    problem = fields.String(required=True, allow_none=True, metadata={"description": "why there was none"})
    made_at = fields.AwareDateTime(required=True)
    next_at = fields.AwareDateTime(required=True, metadata={"description": "of the next try, while it waits"})
    ended_at = fields.AwareDateTime(required=True, allow_none=True)


@blueprint.route("/webhooks")
class ProjectWebhooks(MethodView):
    """Those of a project."""

    @blueprint.doc(**IN_PROJECT)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    @blueprint.alt_response(404, **NO_PROJECT)
    @blueprint.response(200, WebhookSchema(many=True))
    def get(self):
        """All webhooks of the project; only for leads"""
        return services().webhooks.all_of(lead())

    @blueprint.doc(**IN_PROJECT)
    @blueprint.alt_response(403, **NOT_ALLOWED)
    @blueprint.alt_response(404, **NO_PROJECT)
    @blueprint.arguments(NewWebhookSchema)
    @blueprint.response(201, AddedWebhookSchema)
    def post(self, body: dict[str, Any]):
        """Add a webhook; its secret is told this once. Only for leads"""
        row, secret = services().webhooks.add(lead(), body["url"], body["events"])
        return {**WebhookSchema().dump(row), "made_at": row.made_at, "secret": secret}


@blueprint.delete("/webhooks/<int:webhook_id>")
@blueprint.response(204)
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, **NOT_FOUND)
def remove(webhook_id: int):
    """Remove a webhook and its deliveries; only for leads"""
    services().webhooks.remove(lead(), webhook_id)


@blueprint.get("/webhooks/<int:webhook_id>/deliveries")
@blueprint.response(200, DeliverySchema(many=True))
@blueprint.alt_response(403, **NOT_ALLOWED)
@blueprint.alt_response(404, **NOT_FOUND)
def deliveries(webhook_id: int):
    """What was sent to a webhook or waits, the latest first, 100 at most; only for leads"""
    return services().webhooks.show(lead(), webhook_id)[1]
